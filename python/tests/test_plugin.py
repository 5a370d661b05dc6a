"""The plugin of pytest, in a pytest of its own."""

import pathlib
import subprocess
import sys

RACE = '''
import numpy as np

RACE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry race(.param .u64 p)
{
    .reg .b32 %r1;
    .reg .b64 %d1;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, VALUE;
    st.global.u32 [%d1], %r1;
    ret;
}
"""

def test_kernel(ptxdbg_clean):
    ptxdbg_clean.run(RACE, grid=2, block=1, args=[np.zeros(1, np.uint32)])
'''

ARGUMENTS = ("-p", "no:cacheprovider", "-o", "addopts=")


def run(pytester, value, *more):
    pytester.makepyfile(test_it=RACE.replace("VALUE", value))
    return pytester.runpytest_subprocess(*ARGUMENTS, *more, *loaded(pytester))


def loaded(pytester):
    """What loads the plugin where the package was not installed."""
    import importlib.metadata

    points = importlib.metadata.entry_points(group="pytest11")
    return () if any(point.name == "ptxdbg" for point in points) else ("-p", "ptxdbg.pytest_plugin")


def test_a_race_fails_and_leaves_a_bundle(pytester):
    result = run(pytester, "%ctaid.x")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*race.global*", "*debug with: ptxdbg *.ptxcap*"])
    bundles = list(pytester.path.glob("*.ptxcap"))
    assert [bundle.read_bytes()[:4] for bundle in bundles] == [b"\x28\xb5\x2f\xfd"]


def test_a_note_fails_if_wanted(pytester):
    # Both blocks write the same.
    run(pytester, "7").assert_outcomes(passed=1)
    run(pytester, "7", "--ptxdbg-strict").assert_outcomes(failed=1)


SWALLOWS = """

def test_swallows(ptxdbg_clean):
    try:
        test_kernel(ptxdbg_clean)
    except Exception:
        pass

def test_has_a_block_of_its_own(ptxdbg_clean):
    try:
        with ptxdbg_clean.catch():
            test_kernel(ptxdbg_clean)
    except ptxdbg_clean.FindingsError:
        pass
"""


def test_what_a_test_catches_fails_where_it_is_strict(pytester):
    pytester.makepyfile(test_it=RACE.replace("VALUE", "%ctaid.x") + SWALLOWS)
    pytester.runpytest_subprocess(*ARGUMENTS, *loaded(pytester)).assert_outcomes(failed=1, passed=2)
    result = pytester.runpytest_subprocess(*ARGUMENTS, "--ptxdbg-strict", *loaded(pytester))
    result.assert_outcomes(failed=1, passed=2, errors=2)
    result.stdout.fnmatch_lines(["*race.global*", "*debug with: ptxdbg *test_swallows.ptxcap*"])


LOCK = """
import pathlib

import numpy as np

def test_lock(ptxdbg_clean):
    locks = pathlib.Path("LOCKS").read_text()
    ptxdbg_clean.run(locks, "lock_no_release", grid=2, block=32, args=[np.zeros(1, np.int32), np.zeros(1, np.float32)])
"""


def test_critical_sections_are_reversed_as_often_as_wanted(pytester):
    locks = pathlib.Path(__file__).parents[2] / "fixtures" / "orders" / "locks.ptx"
    pytester.makepyfile(test_it=LOCK.replace("LOCKS", str(locks)))
    for words, outcome in (((), "failed"), (("--ptxdbg-orders", "0"), "passed"), (("--ptxdbg-orders", "2"), "failed")):
        pytester.runpytest_subprocess(*ARGUMENTS, *words, *loaded(pytester)).assert_outcomes(**{outcome: 1})
    assert pytester.runpytest_subprocess(*ARGUMENTS, "--ptxdbg-orders", "some", *loaded(pytester)).ret == 4


def test_the_bundle_of_a_test_replays_elsewhere(pytester, tmp_path):
    run(pytester, "%ctaid.x").assert_outcomes(failed=1)
    (bundle,) = pytester.path.glob("*.ptxcap")
    moved = bundle.rename(tmp_path / "moved.ptxcap")
    words = [sys.executable, "-m", "ptxdbg", "--batch", "--no-init", moved]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=tmp_path)
    assert done.returncode == 1 and "race.global" in done.stdout, done

"""The plugin of pytest, in a pytest of its own."""

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

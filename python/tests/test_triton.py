"""Triton kernels on NumPy arrays, without a GPU."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")

import ptxdbg.triton  # noqa: E402


@pytest.fixture(autouse=True)
def installed():
    ptxdbg.triton.install()


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask) + tl.load(y + offsets, mask), mask)


@triton.jit
def lost(cell):
    tl.store(cell, tl.load(cell) + 1)


@triton.jit
def matmul(a, b, c, K, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, BLOCK):
        left = tl.load(a + rows[:, None] * K + k + rows[None, :])
        right = tl.load(b + (k + rows[:, None]) * BLOCK + rows[None, :])
        acc += tl.dot(left, right)
    tl.store(c + rows[:, None] * BLOCK + rows[None, :], acc)


@triton.jit
def says(x):
    tl.device_print("x", tl.load(x))


@triton.jit
def asserts(x):
    tl.device_assert(tl.load(x) == 1, "must be one")


def test_a_kernel_runs_on_numpy_arrays():
    n = 1000
    x, y, out = np.arange(n, dtype=np.float32), np.ones(n, np.float32), np.zeros(n, np.float32)
    add[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
    assert (out == x + 1).all()


def test_a_dot_is_the_devices():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((32, 64)).astype(np.float16), rng.standard_normal((64, 32)).astype(np.float16)
    c = np.zeros((32, 32), np.float32)
    matmul[(1,)](a, b, c, 64, BLOCK=32)
    assert np.abs(c - a.astype(np.float32) @ b.astype(np.float32)).max() < 1e-2


def test_what_is_found_names_the_python_line():
    cell = np.zeros(1, np.int32)
    with pytest.raises(ptxdbg.triton.TritonFindingsError, match=r"^test_triton.py:\d+: race.global"):
        lost[(4,)](cell)
    result = ptxdbg.triton.run(lost, (4,), cell)
    assert result.findings[0].id == "race.global"


def test_prints_are_seen(capsys):
    says[(1,)](np.full(1, 7, np.int32))
    assert "7" in capsys.readouterr().out


def test_asserts_raise():
    asserts[(1,)](np.ones(1, np.int32), debug=True)
    with pytest.raises(ptxdbg.triton.TritonFindingsError):
        asserts[(1,)](np.zeros(1, np.int32), debug=True)


def test_torch_tensors_and_autotune():
    torch = pytest.importorskip("torch")

    @triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 512})], key=["n"])
    @triton.jit
    def tuned(x, out, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + offsets, tl.load(x + offsets, offsets < n) * 2, offsets < n)

    x = torch.arange(700, dtype=torch.float32)
    out = torch.zeros_like(x)
    tuned[lambda meta: (triton.cdiv(700, meta["BLOCK"]),)](x, out, 700)
    assert (out == 2 * x).all()


@triton.jit
def off_by_one(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.where(at == 300, 0.0, tl.load(x + at, at < n) + 1)
    tl.store(out + at, value, at < n)


def wrong_element(call, reference, **tolerance):
    with pytest.raises(ptxdbg.triton.MismatchError) as error:
        ptxdbg.triton.check(call, reference, **tolerance)
    return error.value


def test_check_names_the_first_wrong_element_and_the_line_that_wrote_it():
    x, out = np.arange(400, dtype=np.float32).reshape(4, 100), np.zeros((4, 100), np.float32)

    def call():
        off_by_one[(4,)](x, out, 400, BLOCK=128)

    def in_place(x, out):
        out[:] = x + 1

    for reference in ({"out": x + 1}, x + 1, lambda x: x + 1, lambda x: {"out": x + 1}, in_place):
        error = wrong_element(call, reference)
        assert (error.name, error.index, error.value, error.expected, error.wrong) == ("out", (3, 0), 0, 301, 1)
        assert error.writer.block == (2, 0, 0)
        assert "written at test_triton.py:" in str(error) and "tl.store(out + at, value, at < n)" in str(error)
    expected = x + 1
    expected[3, 0] = 0
    ptxdbg.triton.check(call, {"out": expected})
    ptxdbg.triton.check(call, lambda x: x + 1, rtol=0, atol=400)
    with pytest.raises(ValueError, match="the arrays of the kernels are 'x', 'out'"):
        ptxdbg.triton.check(call, {"y": x})
    with pytest.raises(ValueError, match="has 2 arrays, and the kernels write 'out'"):
        ptxdbg.triton.check(call, (x, x))
    with pytest.raises(TypeError, match="takes 'z'"):
        ptxdbg.triton.check(call, lambda z: z)
    with pytest.raises(ValueError, match="the shape"):
        ptxdbg.triton.check(call, {"out": x[0]})
    with pytest.raises(ValueError, match="no kernel"):
        ptxdbg.triton.check(lambda: None, {"out": x})
    with pytest.raises(ValueError, match="the reference has none, and"):
        ptxdbg.triton.check(call, {})
    with pytest.raises(TypeError, match="and not None"):
        ptxdbg.triton.check(lambda: call(), None)
    with pytest.raises(ValueError, match="are not negative"):
        ptxdbg.triton.check(call, {"out": x}, rtol=-1, atol=0)


def test_check_of_what_a_function_returns():
    torch = pytest.importorskip("torch")

    def plus_one(x):
        out = torch.empty_like(x)
        off_by_one[(4,)](x, out, x.numel(), BLOCK=128)
        return out

    for dtype in (torch.float32, torch.bfloat16):
        x = torch.arange(400).to(dtype)
        error = wrong_element(lambda: plus_one(x), x + 1)
        assert (error.name, error.index) == ("the result", (300,)) and "off_by_one" in error.writer.place
    error = wrong_element(lambda: plus_one(x), torch.zeros(400))
    assert error.index == (0,) and error.wrong == 399


def test_kernels_are_compiled_for_the_architecture_that_is_installed():
    x, out = np.ones(8, np.float32), np.zeros(8, np.float32)
    targets = []
    for arch in (80, 90, 80):
        ptxdbg.triton.install(arch=arch)
        compiled = add[(1,)](x, x, out, 8, BLOCK=8)
        targets.append(compiled.metadata.target.arch)
    assert targets == [80, 90, 80]


def test_findings_name_the_parameter():
    assert ptxdbg.triton.run(lost, (4,), np.zeros(1, np.int32)).findings[0].memory == "cell"


def test_a_bundle_holds_the_python_source(tmp_path):
    path = tmp_path / "lost.ptxcap"
    ptxdbg.triton.run(lost, (4,), np.zeros(1, np.int32)).bundle(path)
    words = [sys.executable, "-m", "ptxdbg", "--batch", "--no-init", path]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=tmp_path)
    assert done.returncode == 1 and "race.global: " in done.stdout and "test_triton.py:" in done.stdout, done
    if shutil.which("zstd"):
        members = subprocess.run(["zstd", "-dc", path], capture_output=True).stdout
        assert b"tl.store(cell, tl.load(cell) + 1)" in members and b"lost.ptx" in members


def test_a_bundle_holds_the_tensors(tmp_path):
    path = tmp_path / "doubled.ptxcap"
    ptxdbg.triton.run(doubled_if, (1,), np.arange(32, dtype=np.float32), True, n=32, num_warps=1).bundle(path)
    line = doubled_if.fn.__code__.co_firstlineno + 6
    words = [sys.executable, "-m", "ptxdbg", "--batch", "--no-init", path, "-e", f"break test_triton.py:{line}", "-e", "run", "-e", "print value[5]"]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=tmp_path)
    assert done.stdout.endswith("value[5] = 10\n"), done


def test_what_runs_no_kernel_says_so():
    x = np.zeros(1, np.int32)
    for grid in (np.zeros(1, np.float32), 1.5, "1", None, (1, 1, 1, 1)):
        with pytest.raises((TypeError, ValueError), match="grid"):
            ptxdbg.triton.run(lost, grid, x)
    with pytest.raises(ValueError, match="the grid .*-1"):
        lost[(-1,)](x)
    for kernel in ("lost", None, lost.fn):
        with pytest.raises(TypeError, match="@triton.jit makes"):
            ptxdbg.triton.run(kernel, (1,), x)


@triton.jit
def takes_tuple(out, pair):
    tl.store(out, tl.load(pair[0]) + pair[1])


@triton.jit
def doubled_if(x, flag, n: tl.constexpr):
    at = tl.arange(0, n)
    value = tl.load(x + at)
    if flag:
        value = value * 2
    tl.store(x + at, value)


def test_truth_is_an_argument():
    x = np.ones(32, np.float32)
    doubled_if[(1,)](x, False, 32)
    assert (x == 1).all()
    doubled_if[(1,)](x, True, 32)
    assert (x == 2).all()


@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["n"], restore_value=["x"], reset_to_zero=["total"])
@triton.jit
def counted(x, total, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, at < n, 0)
    tl.store(x + at, value + 1, at < n)
    tl.atomic_add(total, tl.sum(value))


def test_autotuning_restores_and_clears_arrays():
    x, total = np.ones(1000, np.int32), np.full(1, 5, np.int32)
    counted[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, total, 1000)
    assert (x == 2).all() and total[0] == 1000


def test_what_install_takes():
    for arch in (80, "80", "sm_80", "sm80", "compute_80"):
        ptxdbg.triton.install(arch=arch)
        assert triton.runtime.driver.active.get_current_target().arch == 80
    with pytest.raises(ValueError, match="arch is a number such as 90"):
        ptxdbg.triton.install(arch="hopper")
    with pytest.raises(ValueError, match="orders"):
        ptxdbg.triton.install(orders=-1)


def test_arrays_in_tuples():
    out = np.zeros(1, np.float32)
    takes_tuple[(1,)](out, (np.full(1, 3, np.float32), 2.5))
    assert out[0] == 5.5


def test_elements_that_triton_does_not_have_are_refused():
    for array, advice in ((np.zeros(1, np.complex64), "no type for elements of complex64"), (np.zeros(1, ">i4"), "newbyteorder"),
                          (np.zeros(1, [("a", "i4")]), "its fields"), (np.zeros(1, object), "Python objects")):
        with pytest.raises(TypeError, match=f"argument 'cell': .*{advice}"):
            lost[(1,)](array)
        with pytest.raises(TypeError, match="argument 'cell'"):
            lost[(1,)](cell=array)
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="argument 'cell': .*complex64"):
        lost[(1,)](torch.zeros(1, dtype=torch.complex64))


def test_do_bench_counts_instructions():
    from triton import testing

    x, out = np.ones(4096, np.float32), np.zeros(4096, np.float32)
    small, large = (testing.do_bench(lambda: add[(blocks,)](x, x, out, 4096, BLOCK=256)) for blocks in (1, 16))
    assert 0 < small and large == 16 * small
    assert testing.do_bench(lambda: add[(1,)](x, x, out, 4096, BLOCK=256), quantiles=[0.5, 0.2]) == [small, small]
    if hasattr(testing, "do_bench_cudagraph"):
        with pytest.raises(RuntimeError, match="do_bench counts instructions"):
            testing.do_bench_cudagraph(lambda: None)
    # As a script has it that imports it before ptxdbg is installed.
    assert testing.do_bench.__wrapped__(lambda: add[(16,)](x, x, out, 4096, BLOCK=256), warmup=1e-6, rep=1e-6) == pytest.approx(large)


def test_registers_are_those_of_the_binary(tmp_path):
    x = np.ones((32, 32), np.float16)
    kernel = matmul[(1,)](x, x, np.zeros((32, 32), np.float32), 32, BLOCK=32)
    assert 16 <= kernel.n_regs <= 255 and kernel.n_spills == 0
    tool = shutil.which("cuobjdump", path=Path(triton.__file__).parent / "backends" / "nvidia" / "bin")
    if tool is not None:
        file = tmp_path / "matmul.cubin"
        file.write_bytes(kernel.kernel)
        (said,) = re.findall(r"REG:(\d+)", subprocess.run([tool, "-res-usage", file], capture_output=True, text=True).stdout)
        assert kernel.n_regs == int(said)


@triton.jit
def through_table(table, out):
    for index in range(2):
        source = tl.load(table + index).to(tl.pointer_type(tl.float32))
        tl.store(out + index, tl.load(source))


def test_a_table_of_pointers():
    arrays = [np.full(1000, 3, np.float32), np.full(1000, 4, np.float32)]
    table, out = np.array([array.__array_interface__["data"][0] for array in arrays], np.int64), np.zeros(2, np.float32)
    found = ptxdbg.triton.run(through_table, (1,), table, out).findings[-1]
    assert found.id == "memory.out_of_bounds" and "ptxdbg.reachable(array)" in found.fix and found.fix in str(found)
    with ptxdbg.reachable(*arrays):
        through_table[(1,)](table, out)
    assert out.tolist() == [3, 4]


@triton.jit
def beat(flag, count):
    while tl.atomic_add(flag, 0) == 0:
        tl.atomic_add(count, 1)


def test_a_run_keeps_to_what_install_was_told():
    def said(**own):
        return [finding.message for finding in ptxdbg.triton.run(beat, (1,), np.zeros(1, np.int32), np.zeros(1, np.int32), **own).findings]

    ptxdbg.triton.install(step_limit=2000)
    assert len(said()) == 1 and "2000" in said()[0].replace(",", "")
    assert "3000" in said(step_limit=3000, orders=0)[0].replace(",", "")
    driver = triton.runtime.driver.active
    assert driver.options["step_limit"] == 2000


def test_a_script_runs_as_python_runs_it(tmp_path):
    (tmp_path / "beside.py").write_text("VALUE = 7\n")
    (tmp_path / "script.py").write_text("import sys, triton\nfrom beside import VALUE\n"
                                        "print(VALUE, __name__, sys.argv[1:], type(triton.runtime.driver.active).__name__)\n")

    def said(*words, folder):
        return subprocess.run([sys.executable, "-m", "ptxdbg.triton", *words], cwd=folder, capture_output=True, text=True, check=False)

    expected = "7 __main__ ['-x'] Driver\n"
    (tmp_path / "other").mkdir()
    assert said("../script.py", "-x", folder=tmp_path / "other").stdout == expected
    assert said("-m", "script", "-x", folder=tmp_path).stdout == expected
    assert "there is no file nothing.py" in said("nothing.py", folder=tmp_path).stderr
    assert said("--help", folder=tmp_path).stdout.startswith("usage: ")

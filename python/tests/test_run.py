"""Runs on NumPy arrays."""

import array
import ctypes
import gc
import os
import pty
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import ptxdbg
import ptxdbg.cuda
import pytest

SCALE = (Path(__file__).parent / "scale.ptx").read_text()

RACE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry race(.param .u64 p)
{
    .reg .b32 %r1;
    .reg .b64 %d1;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%d1], %r1;
    ret;
}
"""

SPIN = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 p)
{
    .reg .pred %p;
    .reg .b32 %r1;
    .reg .b64 %d1;
    ld.param.u64 %d1, [p];
again:
    ld.volatile.global.u32 %r1, [%d1];
    add.u32 %r1, %r1, 1;
    st.volatile.global.u32 [%d1], %r1;
    bra again;
}
"""


def test_arrays_are_updated_in_place():
    x = np.arange(1000, dtype=np.float32)
    y = np.zeros(1000, np.float32)
    result = ptxdbg.run(SCALE, grid=8, block=128, args=[x, y, 1.5, 1000])
    assert (y == x * np.float32(1.5)).all()
    assert result.findings == []
    assert "every order" in result.certificate
    assert result.thread_instructions > 1000 and result.ticks > 0
    assert "nothing wrong" in repr(result)


def test_views_alias_and_have_the_bounds_of_their_array():
    x = np.arange(64, dtype=np.float32)
    ptxdbg.run(SCALE, block=32, args=[x[32:], x[:32], 2.0, 32])
    assert (x[:32] == 2 * np.arange(32, 64)).all() and (x[32:] == np.arange(32, 64)).all()
    # One past the view lies in the array, one past the array does not.
    assert ptxdbg.run(SCALE, block=32, args=[x[:16], x[32:], 1.0, 17]).findings == []
    found = ptxdbg.run(SCALE, block=64, args=[x[32:], x, 1.0, 33]).findings
    assert [finding.id for finding in found] == ["memory.out_of_bounds"]


def test_findings_have_both_sides():
    cell = np.zeros(1, np.uint32)
    result = ptxdbg.run(RACE, grid=2, block=32, args=[cell], name="race.ptx")
    finding = result.findings[0]
    assert finding.id == "race.global" and finding.severity == "error"
    assert finding.first.place == "race.ptx:11" and finding.second.place == "race.ptx:11"
    assert finding.first.block != finding.second.block
    assert "race.global" in repr(finding) and "race.global" in repr(result)
    assert ptxdbg.run(RACE, grid=2, block=32, args=[cell], checks="none").findings == []


def test_catch_raises_what_is_found():
    cell = np.zeros(1, np.uint32)
    with ptxdbg.catch(), pytest.raises(ptxdbg.FindingsError, match="race.global") as error:
        ptxdbg.run(RACE, grid=2, block=32, args=[cell])
    assert error.value.findings[0].id == "race.global"
    ptxdbg.run(RACE, grid=2, block=32, args=[cell])


@pytest.mark.parametrize(("keyword", "value"), [("grid", -1), ("block", 1 << 32), ("shared", -1), ("shared", 1.5), ("seed", -1),
                                               ("step_limit", -1), ("orders", 1 << 32)])
def test_a_number_that_is_none_is_named(keyword, value):
    x = np.zeros(32, np.float32)
    with pytest.raises((TypeError, ValueError), match=f"{keyword}.*{value}"):
        ptxdbg.run(SCALE, **{"block": 32, keyword: value}, args=[x, x, 1.0, 32])


def test_what_cannot_be_run_says_why():
    cell = np.zeros(1, np.uint32)
    with pytest.raises(ptxdbg.PtxdbgError, match="kernel.ptx:1:1"):
        ptxdbg.run("nonsense", args=[])
    with pytest.raises(ptxdbg.PtxdbgError, match="no kernel 'absent'"):
        ptxdbg.run(RACE, "absent", args=[cell])
    with pytest.raises(TypeError, match="1 parameters, and 2"):
        ptxdbg.run(RACE, args=[cell, 1])
    with pytest.raises(TypeError, match="argument 3 .'n'"):
        ptxdbg.run(SCALE, args=[cell, cell, 1.0, "many"])
    with pytest.raises(OverflowError, match="argument 3"):
        ptxdbg.run(SCALE, args=[cell, cell, 1.0, 1 << 40])
    with pytest.raises(ValueError, match="checks 'some'"):
        ptxdbg.run(RACE, args=[cell], checks="some")
    with pytest.raises(ValueError, match="one to three"):
        ptxdbg.run(RACE, grid=(1, 2, 3, 4), args=[cell])
    assert ptxdbg.run(RACE, args=[None]).findings[0].id == "memory.null"


def test_values_are_those_of_the_parameter():
    x = np.ones(4, np.float32)
    y = np.zeros(4, np.float32)
    for a in (3, 3.0, np.float32(3), np.float64(3), ctypes.c_float(3), b"\0\0\x40\x40"):
        y[:] = 0
        ptxdbg.run(SCALE, block=32, args=[x, y, a, np.int64(4)])
        assert (y == 3).all(), a


def test_other_libraries_arrays():
    class Interface:
        def __init__(self, array):
            self.array = array
            self.__cuda_array_interface__ = dict(array.__array_interface__)

    x = np.ones(4, np.float32)
    y = np.zeros(4, np.float32)
    ptxdbg.run(SCALE, block=32, args=[Interface(x), Interface(y), 2.0, 4])
    assert (y == 2).all()
    torch = pytest.importorskip("torch")
    u = torch.arange(8, dtype=torch.float32)
    v = torch.zeros(8)
    ptxdbg.run(SCALE, block=32, args=[u, v, 2.0, 8])
    assert (v == 2 * u).all()


WIDE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry wide(.param .u64 out, .param .u64 n, .param .f64 a, .param .s32 k, .param .align 2 .b8 h[2])
{
    .reg .b16 %h1;
    .reg .b32 %r1;
    .reg .f32 %f1;
    .reg .b64 %d<3>;
    .reg .f64 %g<4>;
    ld.param.u64 %d1, [out];
    ld.param.u64 %d2, [n];
    ld.param.f64 %g2, [a];
    ld.param.s32 %r1, [k];
    ld.param.b16 %h1, [h];
    cvt.rn.f64.u64 %g3, %d2;
    st.global.f64 [%d1], %g3;
    st.global.f64 [%d1+8], %g2;
    cvt.rn.f64.s32 %g3, %r1;
    st.global.f64 [%d1+16], %g3;
    cvt.f32.f16 %f1, %h1;
    cvt.f64.f32 %g3, %f1;
    st.global.f64 [%d1+24], %g3;
    ret;
}
"""


def test_an_array_without_dimensions_is_its_value_where_a_number_is_wanted():
    out = np.zeros(4)
    ptxdbg.run(WIDE, args=[out, 5, np.array(1.5), np.array(-7), np.array(0.5, np.float16)])
    assert out.tolist() == [5, 1.5, -7, 0.5]
    with pytest.raises(TypeError, match=r"argument 1 .'n'.*x.item\(\) for the value, x.reshape\(1\) for the address"):
        ptxdbg.run(WIDE, args=[out, np.array(5), 1.5, 7, 0.5])
    for index, name in ((2, "a"), (3, "k"), (4, "h")):
        given = [out, 5, 1.5, 7, 0.5]
        given[index] = np.ones(1)
        with pytest.raises(TypeError, match=f"argument {index} .'{name}'.*no address"):
            ptxdbg.run(WIDE, args=given)
    # A float is no value of an integer parameter.
    cell = np.zeros((), np.float32)
    ptxdbg.run(RACE, args=[cell])
    torch = pytest.importorskip("torch")
    ptxdbg.run(WIDE, args=[out, 6, torch.tensor(2.5), torch.tensor(9), torch.tensor(0.25)])
    assert out.tolist() == [6, 2.5, 9, 0.25]
    with pytest.raises(TypeError, match="argument 1 .'n'"):
        ptxdbg.run(WIDE, args=[out, torch.tensor(5), 1.5, 7, 0.5])


def test_halves():
    out = np.zeros(4)
    for half in (0.5, np.float16(0.5), np.float64(0.5), b"\0\x38"):
        out[:] = 0
        ptxdbg.run(WIDE, args=[out, 0, 0, 0, half])
        assert out[3] == 0.5, half
    with pytest.raises(TypeError, match="np.float16"):
        ptxdbg.run(WIDE + "// bf16", args=[out, 0, 0, 0, 0.5])
    with pytest.raises(OverflowError):
        ptxdbg.run(WIDE, args=[out, 0, 0, 0, 1e6])


def test_extents_are_integers_of_any_kind():
    x = np.zeros(4, np.float32)
    for grid in (np.int64(1), np.array([1, 1]), [np.int32(1)], (1, 1, 1)):
        assert ptxdbg.run(SCALE, grid=grid, block=np.uint8(4), args=[x, x, 1.0, 4]).findings == []
    for grid in (1.5, "1", None, (1, 2.0)):
        with pytest.raises(TypeError, match="grid is an integer"):
            ptxdbg.run(SCALE, grid=grid, block=4, args=[x, x, 1.0, 4])


def test_buffers_of_python_are_memory():
    for memory in (bytearray(16), (ctypes.c_float * 4)(), memoryview(bytearray(16))):
        x = np.arange(4, dtype=np.float32)
        assert ptxdbg.run(SCALE, block=4, args=[x, memory, 2.0, 4]).findings == []
        assert np.frombuffer(memory, np.float32).tolist() == [0, 2, 4, 6]
        assert ptxdbg.run(SCALE, block=5, args=[np.zeros(5, np.float32), memory, 2.0, 5]).findings[0].id == "memory.out_of_bounds"


def test_any_buffer_is_memory():
    x, y = array.array("f", range(32)), array.array("f", [0] * 32)
    assert ptxdbg.run(SCALE, block=32, args=[x, y, 2.0, 32]).findings == []
    assert y[31] == 62
    with pytest.raises(TypeError, match="float64"):
        ptxdbg.run(SCALE, block=32, args=[array.array("d", x), y, 2.0, 32])
    with pytest.raises(TypeError, match="gaps"):
        ptxdbg.run(SCALE, block=32, args=[memoryview(bytearray(256))[::2], y, 2.0, 32])


def test_read_only_arrays_are_read_and_not_written():
    x = np.arange(8, dtype=np.float32)
    owner, view, y = x.copy(), x[:], np.zeros(8, np.float32)
    for array in (owner, view):
        array.flags.writeable = False
        assert ptxdbg.run(SCALE, block=8, args=[array, y, 2.0, 8]).findings == []
        assert (y == 2 * np.arange(8)).all()
        y[:] = 0
        with pytest.raises(ValueError, match=r"writes to 'y', a read-only array, at kernel.ptx:26, block .0,0,0. thread .[0-7],0,0."):
            ptxdbg.run(SCALE, block=8, args=[x.copy(), array, 2.0, 8])
        assert (array == np.arange(8)).all()
    # The same memory may be another argument that is writable.
    assert ptxdbg.run(SCALE, block=8, args=[view, x, 2.0, 8]).findings == []
    assert (view == 2 * np.arange(8)).all()
    spread = np.broadcast_to(np.float32(3), (8,))
    ptxdbg.run(SCALE, block=1, args=[spread, y, 2.0, 8])
    assert y[0] == 6
    with pytest.raises(ValueError, match="writes to 'y'"):
        ptxdbg.run(SCALE, block=4, args=[y, memoryview(bytes(16)), 2.0, 4])


def test_messages_name_keywords():
    text = RACE.replace(".visible", ".extern .shared .align 4 .b8 pool[];\n.visible").replace("mov.u32 %r1, %tid.x;", "ld.shared.u32 %r1, [pool];")
    (finding,) = ptxdbg.run(text, args=[np.zeros(1, np.uint32)]).findings
    assert "shared=BYTES" in finding.message and "--" not in str(finding)
    assert all(finding.id != "launch.bounds" for finding in ptxdbg.run(text, args=[np.zeros(1, np.uint32)], shared=4).findings)


def test_elements_that_no_kernel_reads_are_refused():
    x = np.zeros(4, np.float32)
    for array, advice in ((np.array([1, "a"], object), "Python objects"), (np.zeros(4, ">f4"), "newbyteorder"),
                          (np.zeros(4, [("a", "f4"), ("b", object)]), "Python objects"), (np.zeros(4, [("a", ">f4")]), "newbyteorder")):
        with pytest.raises(TypeError, match=f"argument 0 .'x'.*{advice}"):
            ptxdbg.run(SCALE, block=4, args=[array, x, 1.0, 4])
    # Records of numbers are what a kernel reads as structures.
    assert ptxdbg.run(SCALE, block=4, args=[np.zeros(2, [("a", "f4"), ("b", "f4")]), x, 1.0, 4]).findings == []
    torch = pytest.importorskip("torch")
    z = torch.ones(4, dtype=torch.complex64)
    for tensor, advice in ((z.conj(), "resolve_conj"), (z.conj().imag, "resolve_neg"), (torch.eye(2).to_sparse(), "to_dense")):
        with pytest.raises(TypeError, match=advice):
            ptxdbg.run(SCALE, block=4, args=[tensor, x, 1.0, 4])


def test_a_wrong_array_interface_says_what_is_wrong():
    x = np.zeros(4, np.float32)
    right = dict(x.__array_interface__)

    class Interface:
        def __init__(self, **changed):
            self.__array_interface__ = {name: value for name, value in {**right, **changed}.items() if value != "absent"}

    for changed, said in (({"data": None}, "no 'data'"), ({"shape": "absent"}, "no 'shape'"), ({"typestr": "<q9"}, "'<q9', which is no type"),
                          ({"data": (1.5, False)}, "no address"), ({"data": 7}, "no address"), ({"shape": (-1,)}, "shape .-1,."),
                          ({"strides": (4, 4)}, "for 1 dimensions"), ({"typestr": ">f4"}, "newbyteorder"), ({"data": (-8, False)}, "-8"), ({"shape": (1 << 62,)}, "which no memory has")):
        with pytest.raises(TypeError, match=f"argument 0 .*{said}"):
            ptxdbg.run(SCALE, block=4, args=[Interface(**changed), x, 1.0, 4])


def test_a_path_in_place_of_a_text(tmp_path):
    file = tmp_path / "race.ptx"
    file.write_text(RACE)
    for path in (file, str(file)):
        found = ptxdbg.run(path, grid=2, args=[np.zeros(1, np.uint32)]).findings[0]
        assert found.first.place == "race.ptx:11"
    with pytest.raises(FileNotFoundError):
        ptxdbg.run(str(tmp_path / "absent.ptx"), args=[])
    (tmp_path / "race.cubin").write_bytes(b"\x7fELF")
    with pytest.raises(ValueError, match="cuobjdump -ptx"):
        ptxdbg.run(tmp_path / "race.cubin", args=[])
    with pytest.raises(ValueError, match="source="):
        ptxdbg.run("kernel.cu", args=[])


def command(*words):
    """What the command of the package writes."""
    done = subprocess.run([sys.executable, "-m", "ptxdbg", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def test_a_bundle_holds_the_run(tmp_path):
    path = tmp_path / "race.ptxcap"
    # Arrays that NumPy puts side by side.
    others = [np.zeros(3, np.uint32) for _ in range(20)]
    for cell in others[5:8]:
        ptxdbg.run(RACE, grid=2, block=32, args=[cell], name="race.ptx").bundle(path)
        status, out, _ = command("--batch", path)
        assert status == 1 and "race.global: " in out and "race.ptx:11" in out, out
    with ptxdbg.reachable(*others):
        ptxdbg.run(SCALE, block=3, args=[others[3], others[4], 1.0, 3]).bundle(path)
    assert command("--batch", path)[0] == 0
    with pytest.raises(ptxdbg.PtxdbgError, match="absent"):
        ptxdbg.run(RACE, args=[cell]).bundle(tmp_path / "absent" / "race.ptxcap")


def test_many_launches_leak_nothing():
    cell = np.zeros(64, np.float32)
    module = ptxdbg.Module(SCALE)

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1])

    for _ in range(200):
        ptxdbg.run(module, block=32, args=[cell, cell, 1.0, 64])
    gc.collect()
    before = resident()
    for _ in range(10_000):
        ptxdbg.run(module, block=32, args=[cell, cell, 1.0, 64])
    gc.collect()
    assert resident() - before < 2000, "pages"


def test_a_step_limit_ends_a_kernel_that_does_not():
    cell = np.zeros(1, np.uint32)
    result = ptxdbg.run(SPIN, args=[cell], step_limit=1000)
    assert len(result.findings) == 1 and result.findings[0].severity == "error"


def test_ctrl_c_ends_a_kernel_that_does_not_end():
    cell = np.zeros(1, np.uint32)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ptxdbg.run(SPIN, args=[cell])


@pytest.mark.parametrize("where", ["run", "session"])
def test_what_a_signal_handler_raises_passes_through(where):
    """As of a test runner that ends tests after a time."""
    def late(*_):
        raise TimeoutError("late")

    session = ptxdbg.run(RACE, grid=64, block=32, args=[np.zeros(1, np.uint32)]).session()
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(TimeoutError, match="late"):
            if where == "session":
                session.execute("explore 1000000")
            else:
                ptxdbg.run(SPIN, args=[np.zeros(1, np.uint32)])
    finally:
        signal.signal(signal.SIGALRM, before)


def test_the_command_is_in_the_package(tmp_path):
    file = tmp_path / "race.ptx"
    file.write_text(RACE)
    status, out, _ = command("--batch", "--grid", "2", file)
    assert status == 1 and "race.global" in out
    status, _, error = command("--nonsense")
    assert status == 2 and "nonsense" in error


def test_a_lock_that_lacks_a_fence_is_found():
    locks = (Path(__file__).parents[2] / "fixtures" / "orders" / "locks.ptx").read_text()
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.float32)
    for kernel, is_right in (("lock_right", True), ("lock_no_acquire", False), ("lock_narrow_release", False)):
        found = ptxdbg.run(locks, kernel, grid=2, block=32, args=[lock, total]).findings
        assert (found == []) == is_right, kernel
        assert ptxdbg.run(locks, kernel, grid=2, block=32, args=[lock, total], orders=0).findings == []
        with ptxdbg.catch(orders=0):
            ptxdbg.run(locks, kernel, grid=2, block=32, args=[lock, total])


def test_a_session_goes_through_the_run():
    x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    result = ptxdbg.run(SCALE, block=8, args=[x, y, 3.0, 8])
    session = result.session()
    assert "reakpoint 1" in session.execute("break 26")
    session.execute("run\nlane 5")
    assert session.execute("print %f2").split() == ["%f2", "=", "15"]
    with pytest.raises(ptxdbg.PtxdbgError, match="%f9"):
        session.execute("print %f9")
    assert (y == 3 * x).all()


def test_ctrl_c_ends_a_command_of_a_session():
    session = ptxdbg.run(RACE, grid=64, block=32, args=[np.zeros(1, np.uint32)]).session()
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        session.execute("explore 1000000")


def test_debug_without_a_terminal_takes_commands(capsys):
    x = np.ones(8, np.float32)
    result = ptxdbg.run(SCALE, block=8, args=[x, x, 3.0, 8])
    with pytest.raises(ptxdbg.PtxdbgError, match="needs a terminal"):
        result.debug()
    result.debug("break 26", "run", "print %f2")
    assert "(ptxdbg) print %f2\n%f2 = 3" in capsys.readouterr().out


def test_debug_opens_the_debugger_in_a_terminal(tmp_path):
    script = tmp_path / "it.py"
    script.write_text(f"import numpy as np, ptxdbg\nPTX = {RACE!r}\n"
                      "ptxdbg.run(PTX, grid=2, block=32, args=[np.zeros(1, np.uint32)]).debug('info launch', 'quit')\n")
    environment = {**os.environ, "TERM": "dumb", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    near, far = pty.openpty()
    process = subprocess.Popen([sys.executable, script], stdin=far, stdout=far, stderr=far, env=environment, start_new_session=True)
    os.close(far)
    out = b""
    try:
        while data := os.read(near, 1 << 16):
            out += data
    except OSError:  # the other end is closed
        pass
    os.close(near)
    assert process.wait(60) == 0 and b"info launch" in out and b"grid" in out, out


def test_what_wrote_memory_is_known():
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    result = ptxdbg.run(SCALE, grid=2, block=32, args=[x, y, 2.0, 40])
    address = y.__array_interface__["data"][0]
    writers = result.writers([(address + 4 * 35, 4), (address + 4 * 50, 4)])
    assert writers[0].block == (1, 0, 0) and writers[0].thread == (3, 0, 0) and writers[0].place == "kernel.ptx:26"
    assert writers[1] is None


def test_memory_behind_addresses_in_memory():
    follow = SCALE.replace("ld.global.f32 %f2, [%d1];", "mov.f32 %f2, 0f40000000; ld.global.u64 %d4, [%d1];").replace("[%d2]", "[%d4]")
    target, table = np.zeros(4, np.float32), np.zeros(1, np.uint64)
    table[0] = target.__array_interface__["data"][0]
    (found,) = ptxdbg.run(follow, args=[table, None, 2.0, 1]).findings
    assert found.id == "memory.out_of_bounds" and "ptxdbg.reachable(array)" in found.fix and found.fix in str(found)
    with ptxdbg.reachable(target):
        assert ptxdbg.run(follow, args=[table, None, 2.0, 1]).findings == []
        for address in (int(table[0]), ctypes.c_void_p(int(table[0]))):
            assert ptxdbg.run(SCALE, args=[address, address, 1.0, 1]).findings == []
    assert target[0] == 4
    # An address that is an argument is no address from memory.
    assert ptxdbg.run(SCALE, args=[int(table[0]), None, 1.0, 1]).findings[0].fix == ""
    with pytest.raises(TypeError, match="a int is no array"), ptxdbg.reachable(7):
        pass


CUDA = """
#include <cuda_fp16.h>
// Not this: __global__ void scale(int wrong) {}
__global__ void __launch_bounds__(128) scale(float *data, const float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        data[i] *= __half2float(__float2half(factor));
}
"""


def compiles_cuda():
    from ptxdbg import cuda

    if cuda._nvrtc() is None and cuda._nvcc() is None:
        pytest.skip("neither NVRTC nor nvcc is found")
    return cuda


def test_cuda_is_compiled():
    cuda = compiles_cuda()
    x = np.arange(100, dtype=np.float32)
    assert ptxdbg.run(source=CUDA, grid=4, block=32, args=[x, 2.0, 99]).findings == []
    assert (x == 2 * np.arange(100)).all()
    found = ptxdbg.run(source=CUDA, grid=4, block=32, args=[x, 2.0, 100]).findings
    assert [finding.id for finding in found] == ["memory.out_of_bounds"]
    assert found[0].second.source == "kernel.cu:7" and "just past the end of 'data'" in found[0].message
    with pytest.raises(cuda.CompileError, match=r'kernel.cu\(1\): error: identifier "x" is undefined'):
        ptxdbg.run(source="__global__ void f() { x; }")
    assert ptxdbg.run(source=CUDA, block=32, args=[x, 2.0, 9], options=["-arch=compute_80"]).findings == []
    with pytest.raises(TypeError, match="several texts"):
        ptxdbg.run(source=CUDA, block=32, args=[x, 2.0, 9], options="-arch=compute_80")
    with pytest.raises(ValueError, match="no name of a file"):
        cuda.compile(CUDA, name="a/b.cu")


def test_nvcc_compiles_where_nvrtc_is_not(monkeypatch):
    from ptxdbg import cuda

    if cuda._nvcc() is None:
        pytest.skip("no nvcc is found")
    monkeypatch.setattr(cuda, "_nvrtc", lambda: None)
    cuda._compiled.cache_clear()
    x = np.ones(8, np.float32)
    assert ptxdbg.run(source=CUDA, block=8, args=[x, 4.0, 7]).findings == []
    assert (x == 4).all()
    with pytest.raises(cuda.CompileError, match=r'kernel.cu\(1\): error: identifier "x" is undefined'):
        ptxdbg.run(source="__global__ void f() { x; }")
    cuda._compiled.cache_clear()


def test_a_raw_kernel_of_cupy_is_compiled():
    compiles_cuda()

    class RawKernel:
        code, name, options = CUDA, "scale", ("-DUNUSED=1",)

    x = np.ones(8, np.float32)
    assert ptxdbg.run(RawKernel(), block=8, args=[x, 4.0, 7]).findings == []
    assert (x == 4).all()


def test_a_raw_module_of_cupy_has_several_kernels():
    compiles_cuda()

    class RawModule:
        code, options = CUDA + CUDA.replace("scale", "again"), ()

    x = np.ones(8, np.float32)
    assert ptxdbg.run(RawModule(), "again", block=8, args=[x, 4.0, 7]).findings == []
    assert (x == 4).all()
    with pytest.raises(ptxdbg.PtxdbgError, match="scale"):
        ptxdbg.run(RawModule(), block=8, args=[x, 4.0, 7])


def test_an_instance_of_a_template_is_a_kernel(monkeypatch):
    compiles_cuda()
    source = "template <typename T> __global__ void doubled(T *x) { x[threadIdx.x] *= 2; }"
    x, y = np.arange(8, dtype=np.float32), np.arange(8)
    if ptxdbg.cuda._nvrtc() is not None:
        assert ptxdbg.run(source=source, kernel="doubled<float>", block=8, args=[x]).findings == []
        assert ptxdbg.run(source=source, kernel="doubled<long long>", block=8, args=[y]).findings == []
        assert (x == y).all() and y[7] == 14
    monkeypatch.setattr(ptxdbg.cuda, "_nvrtc", lambda: None)
    monkeypatch.setattr(ptxdbg.cuda, "_nvcc", lambda: "nvcc")
    with pytest.raises(ptxdbg.PtxdbgError, match="instance of a template"):
        ptxdbg.run(source=source, kernel="doubled<double>", block=8, args=[x])


def test_without_a_compiler_it_says_what_to_install(monkeypatch):
    from ptxdbg import cuda

    monkeypatch.setattr(cuda, "_nvrtc", lambda: None)
    monkeypatch.setattr(cuda, "_nvcc", lambda: None)
    with pytest.raises(cuda.CompileError, match="pip install nvidia-cuda-nvrtc"):
        ptxdbg.run(source="__global__ void absent() {}")


def test_a_kernel_of_numba():
    cuda = pytest.importorskip("numba.cuda")

    @cuda.jit
    def saxpy(out, x, a):
        i = cuda.grid(1)
        if i < out.size:
            out[i] += a * x[i, 1]

    @cuda.jit
    def race(cell):
        cell[0] += 1

    x, out = np.arange(200, dtype=np.float32).reshape(100, 2), np.ones(100, np.float32)
    try:
        result = ptxdbg.run(saxpy, grid=4, block=32, args=[out, x, 2.0])
    except ptxdbg.PtxdbgError as error:
        assert "pip install" in str(error)
        pytest.skip(str(error))
    assert result.findings == [] and (out == 1 + 2 * x[:, 1]).all()

    @cuda.jit(device=True)
    def next_of(x):
        return x + 1

    @cuda.jit
    def rows(x):
        i, grid = cuda.grid(1), cuda.cg.this_grid()
        for row in range(1, x.shape[0]):
            x[row, i] = next_of(x[row - 1, x.shape[1] - i - 1])
            grid.sync()

    x = np.zeros((4, 128), np.int32)
    result = ptxdbg.run(rows, grid=4, block=32, args=[x], cooperative=True)
    assert result.findings == [] and (x == np.arange(4)[:, None]).all()
    found = ptxdbg.run(race, grid=4, block=32, args=[np.zeros(1, np.int64)]).findings[0]
    assert found.id == "race.global" and found.memory == "cell" and "test_run.py" in found.first.source
    text = cuda.compile_ptx(race.py_func, "void(int64[:])", cc=(9, 0))[0]
    cell = np.zeros(4, np.int64)
    assert ptxdbg.run(text, args=[None, None, 4, 8, cell, 4, 8]).findings == [] and cell[0] == 1


@pytest.mark.skipif(ptxdbg.cuda._nvrtc() is None, reason="NVRTC is not found")
def test_a_kernel_of_numba_with_functions_that_it_has_as_cuda():
    cuda = pytest.importorskip("numba.cuda")
    if not hasattr(getattr(cuda, "fp16", None), "hexp10") or not Path(cuda.__file__).with_name("cpp_function_wrappers.cu").is_file():
        pytest.skip("this Numba has no such functions")

    @cuda.jit
    def quotient(out, x, y):
        i = cuda.grid(1)
        out[i] = cuda.fp16.hdiv(x[i], y[i])

    x, y = np.arange(32, dtype=np.float16), np.full(32, 8, np.float16)
    out = np.zeros(32, np.float16)
    try:
        result = ptxdbg.run(quotient, block=32, args=[out, x, y])
    except ptxdbg.PtxdbgError as error:
        pytest.skip(str(error))
    assert result.findings == [] and (out == x / y).all()


HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
CALLER = HEAD + """
.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry k(.param .u64 p)
{
    .reg .b32 %r1;
    .reg .b64 %d1;
    ld.param.u64 %d1, [p];
    ld.global.u32 %r1, [%d1];
    {
        .param .b32 x, r;
        st.param.b32 [x], %r1;
        call (r), twice, (x);
        ld.param.b32 %r1, [r];
    }
    st.global.u32 [%d1], %r1;
    ret;
}
"""
CALLEE = HEAD + """
.visible .func (.param .b32 r) twice(.param .b32 x)
{
    .reg .b32 %r1;
    ld.param.b32 %r1, [x];
    add.u32 %r1, %r1, %r1;
    st.param.b32 [r], %r1;
    ret;
}
"""


def test_modules_are_linked(tmp_path):
    x = np.array([21], np.int32)
    result = ptxdbg.run([CALLER, CALLEE], args=[x])
    assert x[0] == 42 and result.findings == []
    (tmp_path / "caller.ptx").write_text(CALLER)
    (tmp_path / "callee.ptx").write_text(CALLEE)
    result = ptxdbg.run([tmp_path / "caller.ptx", str(tmp_path / "callee.ptx")], args=[x])
    assert x[0] == 84 and "callee.ptx" in result.session().execute("break callee.ptx:8")
    bundle = tmp_path / "linked.ptxcap"
    result.bundle(bundle)
    command = [sys.executable, "-m", "ptxdbg", "--batch", str(bundle), "-e", "run", "-e", "print p[0]"]
    assert "= 84" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert ptxdbg.Module([CALLER, CALLEE]).kernels == ["k"]
    with pytest.raises(ptxdbg.PtxdbgError, match=r"kernel\.2\.ptx:4:"):
        ptxdbg.Module([CALLEE, ".version 8.0\n.target sm_80\n.address_size 64\nnonsense"])
    with pytest.raises(ptxdbg.PtxdbgError, match="another module begins here"):
        ptxdbg.Module(CALLER + CALLEE)
    for texts, names in (([], "k.ptx"), ([CALLER, CALLEE], ["k.ptx"])):
        with pytest.raises(ValueError, match="texts"):
            ptxdbg.Module(texts, names)


@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="the system does not say how much memory a process has")
def test_many_launches_leave_no_memory():
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    x, y = np.ones(256, np.float32), np.zeros(256, np.float32)

    def launch(count):
        for _ in range(count):
            ptxdbg.run(SCALE, block=32, args=[x, y, 2.0, 32])

    launch(500)
    before = resident()
    launch(10_000)
    # Less than the pages of one launch in a hundred.
    assert resident() - before < 1 << 20


def test_what_is_no_kernel_says_what_is():
    for given in ({}, {"ptx": RACE, "source": CUDA}):
        with pytest.raises(TypeError, match="one of ptx and source"):
            ptxdbg.run(**given)
    with pytest.raises(TypeError, match="a int is no kernel"):
        ptxdbg.run(7)
    with pytest.raises(ValueError, match="CUDA C.., and not PTX: ptxdbg.run.source=text."):
        ptxdbg.run(CUDA)


@pytest.mark.parametrize(("given", "message"), [
    ({"kernel": 7}, "the name of a kernel is a text, and not 7"), ({"name": 7}, "the name of a module is a text, and not 7"),
    ({"checks": None}, "checks is a text, and not None"), ({"schedule": ["random"]}, "schedule is a text, and not"),
    ({"args": None}, "args are the arguments in a list, and not None"), ({"args": 7}, "args are the arguments in a list"),
    ({"variables": [1]}, "variables are a dict of names and contents"),
    ({"args": [None, None, 1j, 1]}, "argument 2 .*: a complex is no value of a parameter")])
def test_what_is_of_another_type_is_named(given, message):
    with pytest.raises(TypeError, match=message):
        ptxdbg.run(SCALE, **{"args": [None, None, 1.0, 1], **given})


def test_texts_are_texts():
    from ptxdbg import cuda

    with pytest.raises(TypeError, match="a module is a text, or a list of texts, and not 7"):
        ptxdbg.Module(7)
    with pytest.raises(ValueError, match="a list of no texts"):
        ptxdbg.Module([])
    with pytest.raises(TypeError, match="the source is a text, and not b'x'"):
        ptxdbg.run(source=b"x")
    with pytest.raises(TypeError, match="an option is a text, and not 3"):
        cuda.compile(CUDA, options=[3])
    with pytest.raises(TypeError, match="orders is an integer"), ptxdbg.catch(orders="2"):
        pass

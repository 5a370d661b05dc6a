"""Runs on NumPy arrays."""

import ctypes
import gc
import shutil
import signal
import subprocess
import threading

import numpy as np
import ptxdbg
import pytest

SCALE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .f32 %f<3>;
    .reg .b64 %d<5>;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [y];
    ld.param.f32 %f1, [a];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p, %r2, %r1;
    @%p bra done;
    mul.wide.u32 %d3, %r2, 4;
    add.s64 %d1, %d1, %d3;
    add.s64 %d2, %d2, %d3;
    ld.global.f32 %f2, [%d1];
    mul.f32 %f2, %f2, %f1;
    st.global.f32 [%d2], %f2;
done:
    ret;
}
"""

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


def test_a_bundle_holds_the_run(tmp_path):
    cell = np.zeros(1, np.uint32)
    path = tmp_path / "race.ptxcap"
    ptxdbg.run(RACE, grid=2, block=32, args=[cell]).bundle(path)
    assert path.read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    debugger = shutil.which("ptxdbg")
    if debugger is None:
        pytest.skip("ptxdbg is not installed: the bundle is not opened")
    replayed = subprocess.run([debugger, "--batch", "--no-init", path], capture_output=True, text=True)
    assert "race.global" in replayed.stdout, replayed


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

"""Contents of variables of the module, and arrays whose elements are not those of the kernel."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import ptxdbg
import pytest

from test_run import RACE, SCALE

#: out[i] = x[i] * coef[i], and the number of threads in two variables: one of them declared as nvcc declares arrays.
COEF = """
.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b8 _ZN3app4coefE[16];
.global .align 4 .u32 threads;
.global .align 8 .f64 unused;
.visible .entry weigh(.param .u64 x, .param .u64 n)
{
    .reg .b32 %r<3>;
    .reg .f32 %f<3>;
    .reg .b64 %d<5>;
    ld.param.u64 %d1, [x];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d1, %d1, %d2;
    mov.u64 %d3, _ZN3app4coefE;
    add.s64 %d3, %d3, %d2;
    ld.const.f32 %f1, [%d3];
    ld.global.f32 %f2, [%d1];
    mul.f32 %f2, %f2, %f1;
    st.global.f32 [%d1], %f2;
    atom.global.add.u32 %r2, [threads], 1;
    ret;
}
"""


def test_variables_are_set_and_arrays_hold_what_is_left(tmp_path):
    x, coef, threads = np.ones(4, np.float32), np.array([1, 2, 3, 4], np.float32), np.full(1, 10, np.uint32)
    result = ptxdbg.run(COEF, block=4, args=[x, 0], variables={"coef": coef, "threads": threads})
    assert list(x) == [1, 2, 3, 4] and threads[0] == 14 and list(coef) == [1, 2, 3, 4]
    session = result.session()
    said = session.execute("print _ZN3app4coefE\nprint threads\nrun\nprint threads").splitlines()
    assert said[:2] == ["_ZN3app4coefE = {1, 2, 3, 4}", "threads = 10"] and said[-1] == "threads = 14"
    result.bundle(tmp_path / "run.ptxcap")
    words = [sys.executable, "-m", "ptxdbg", "--batch", tmp_path / "run.ptxcap", "-e", "run", "-e", "print threads", "-e", "print x"]
    said = subprocess.run(words, capture_output=True, text=True).stdout
    assert "threads = 14" in said and "x = {1, 2, 3, 4}" in said


def test_variables_take_what_parameters_take():
    def weighed(**variables):
        x = np.ones(4, np.float32)
        ptxdbg.run(COEF, block=4, args=[x, 0], variables=variables)
        return list(x)

    assert weighed(coef=[1, 2.5, 3, 4], threads=7) == [1, 2.5, 3, 4]
    assert weighed(coef=[5, 6]) == [5, 6, 0, 0]
    assert weighed(_ZN3app4coefE=np.arange(8, dtype=np.float32)[::2]) == [0, 2, 4, 6]
    assert weighed(coef=np.arange(4, dtype=np.float32).tobytes()) == [0, 1, 2, 3]
    threads = bytearray(4)
    weighed(threads=threads)
    assert threads == b"\4\0\0\0"
    torch = pytest.importorskip("torch")
    threads, coef = torch.tensor(3, dtype=torch.int32), torch.full((2, 4), 2.0)[:, 1:3]
    assert weighed(threads=threads, coef=coef) == [2, 2, 2, 2]
    assert threads.item() == 7


def test_wrong_variables_say_what_is_wrong():
    def refused(kind, said, **variables):
        x = np.ones(4, np.float32)
        with pytest.raises(kind, match=said):
            ptxdbg.run(COEF, block=4, args=[x, 0], variables=variables)
        assert list(x) == [1, 1, 1, 1]

    refused(ValueError, r"no .const or .global variable 'coeff'; variables: coef \(f32\[4\]\), threads \(u32\), unused \(f64\)", coeff=[1])
    refused(ValueError, r"coef \(f32\[4\]\): 20 bytes are given for 16", coef=[1] * 5)
    refused(ValueError, r"one number for 4 elements", coef=1.0)
    refused(TypeError, r"float64.*f32.*x.astype\(np.float32\)", coef=np.ones(2))
    refused(TypeError, "a str is no value", threads="3")
    refused(TypeError, "float for an integer", threads=0.5)
    threads = np.zeros(1, np.uint32)
    threads.flags.writeable = False
    refused(ValueError, "can only be read", threads=threads)
    with pytest.raises(ValueError, match="the module declares no"):
        ptxdbg.run(RACE, args=[np.zeros(1, np.int32)], variables={"x": 1})


def test_findings_are_pickled_and_copied():
    result = ptxdbg.run(RACE, block=64, args=[np.zeros(1, np.int32)])
    (found,) = result.findings
    for same in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), copy.copy(found)):
        assert same is not None and repr(same) == repr(found) and same == found
        assert same.first.place == found.first.place and same.second.lanes == found.second.lanes and same.count == found.count
    assert pickle.loads(pickle.dumps(found.first)) == found.first != found.second
    assert pickle.loads(pickle.dumps(result.findings)) == result.findings
    assert copy.deepcopy(result) is result
    with pytest.raises(ptxdbg.FindingsError) as raised, ptxdbg.catch():
        ptxdbg.run(RACE, block=64, args=[np.zeros(1, np.int32)])
    error = pickle.loads(pickle.dumps(raised.value))
    assert str(error) == str(raised.value) and error.findings == [found]


@pytest.mark.parametrize("value", ["3", None, b"3"])
def test_a_number_is_no_text(value):
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    with pytest.raises((TypeError, ValueError), match="argument 2"):
        ptxdbg.run(SCALE, args=[x, y, value, 4])


def test_elements_of_another_width_are_refused():
    def run(x):
        ptxdbg.run(SCALE, block=4, args=[x, np.zeros(4, np.float32), 2.0, 1])

    for dtype, said in ((np.float64, r"x.astype\(np.float32\).*x.view\(np.float32\)"), (np.int64, "int64.*f32"), (np.float16, "float16.*f32"),
                        (np.complex128, "complex128.*f32")):
        with pytest.raises(TypeError, match=said):
            run(np.zeros(8, dtype))
    for dtype in (np.int32, np.uint8, np.int8, bool, np.complex64, np.dtype([("a", "f8")])):
        run(np.zeros(16, dtype))
    run(np.zeros(8, np.float64).view(np.float32))
    run(bytearray(64))
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"x.to\(torch.float32\)"):
        run(torch.zeros(8, dtype=torch.float64))


def test_arrays_have_their_elements_in_a_session():
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    session = ptxdbg.run(SCALE, block=4, args=[x, y, 2.0, 4]).session()
    assert session.execute("run\nprint x\nprint y").splitlines()[1:] == ["x = {0, 1, 2, 3}", "y = {0, 2, 4, 6}"]


def test_nothing_follows_quit():
    session = ptxdbg.run(RACE, args=[np.zeros(1, np.int32)]).session()
    assert session.execute("quit\necho after") == ""
    with pytest.raises(ptxdbg.PtxdbgError, match="has ended"):
        session.execute("echo after")

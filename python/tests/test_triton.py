"""Triton kernels on NumPy arrays, without a GPU."""

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

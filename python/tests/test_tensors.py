"""Tensors of Triton kernels as arrays, beside what NumPy makes of the same numbers."""

import numpy as np
import pytest

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")

import ptxdbg  # noqa: E402
import ptxdbg.triton  # noqa: E402


@triton.jit
def rows(x, out, n, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for row in range(count):
        inside = at < n
        value = tl.load(x + row * n + at, mask=inside, other=-1.0)
        twice = value * 2
        tl.store(out + row * n + at, twice, mask=inside)


@triton.jit
def product(a, b, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    left = tl.load(a + at[:, None] * BLOCK + at[None, :])
    right = tl.load(b + at[:, None] * BLOCK + at[None, :])
    both = tl.dot(left, right)
    tl.store(out + at[:, None] * BLOCK + at[None, :], both)


def line_of(kernel, text):
    """The line of the file in which a kernel has this text."""
    source, start = kernel.raw_src, kernel.starting_line_number
    return start + next(number for number, line in enumerate(source) if text in line)


@pytest.mark.parametrize("arch", [80, 90])
def test_each_round_of_a_loop(arch):
    ptxdbg.triton.install(arch=arch)
    x = np.arange(900, dtype=np.float32).reshape(3, 300)
    result = ptxdbg.triton.run(rows, (2,), x, np.zeros_like(x), 300, 3, BLOCK=256)
    line = line_of(rows, "value = tl.load")
    for block, row in ((0, 0), (0, 2), (1, 1)):
        expected = np.full(256, -1, np.float32)
        part = x[row, block * 256 :][:256]
        expected[: len(part)] = part
        assert (result.tensor("value", line=line, program=block, iteration=row) == expected).all()
        assert (result.tensor("twice", program=(block, 0), iteration=row) == expected * 2).all()
    assert (result.tensor("at", program=1) == np.arange(256, 512)).all()
    with pytest.raises(ptxdbg.PtxdbgError, match="is executed 3 times .* iteration 3 is wanted"):
        result.tensor("value", line=line, iteration=3)
    with pytest.raises(ValueError, match="the iteration is an integer from 0"):
        result.tensor("value", iteration=-1)
    with pytest.raises(ptxdbg.PtxdbgError, match="the variables are"):
        result.tensor("values")


@pytest.mark.parametrize("arch", [80, 90])
def test_a_matrix_product(arch):
    ptxdbg.triton.install(arch=arch)
    a, b = (np.random.default_rng(seed).integers(-8, 8, (64, 64)).astype(np.float16) for seed in (1, 2))
    result = ptxdbg.triton.run(product, (1,), a, b, np.zeros((64, 64), np.float32), BLOCK=64)
    assert (result.tensor("both") == a.astype(np.float32) @ b.astype(np.float32)).all()
    assert (result.tensor("left") == a).all()

"""Writes split_k.ptx with Triton, and its inputs and expected result in data/ with NumPy.

Triton needs no GPU to compile: python split_k.py
"""

import re

import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

M, N, K = 128, 128, 512


@triton.jit
def split_k(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLITS: tl.constexpr):
    """c += a @ b: every block adds the product of one of SPLITS parts of the inner dimension."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.program_id(2) * BK + tl.arange(0, BK)
    a_tile = a + rows[:, None] * k + inner[None, :]
    b_tile = b + inner[:, None] * n + columns[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, k, BK * SPLITS):
        total = tl.dot(tl.load(a_tile), tl.load(b_tile), total)
        a_tile += BK * SPLITS
        b_tile += BK * SPLITS * n
    tl.atomic_add(c + rows[:, None] * n + columns[None, :], total)


pointers = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "m": "i32", "n": "i32", "k": "i32"}
constants = {"BM": 64, "BN": 64, "BK": 32, "SPLITS": 4}
by_16 = {(index,): [["tt.divisibility", 16]] for index in range(6)}
source = ASTSource(fn=split_k, signature={**pointers, **{name: "constexpr" for name in constants}}, constexprs=constants, attrs=by_16)
kernel = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 4, "num_stages": 3})
text = re.sub(r'(\.file\s+1 ")[^"]*/', r"\1", kernel.asm["ptx"])
text = text[: text.index("\t.section\t.debug")] if "\t.section\t.debug" in text else text
open("split_k.ptx", "w").write(text)
print("shared memory:", kernel.metadata.shared)

# Small integers: every order of the sums is exact.
random = np.random.default_rng(0)
a = random.integers(-4, 5, (M, K)).astype(np.float16)
b = random.integers(-4, 5, (K, N)).astype(np.float16)
np.save("data/split_k.a.npy", a)
np.save("data/split_k.b.npy", b)
np.save("data/split_k.c.npy", (a.astype(np.int64) @ b.astype(np.int64)).astype(np.float32))

"""Kernels of Triton whose variables are measured: see record.py."""

import triton
import triton.language as tl


@triton.jit
def softmax(out, x, n_rows, n_cols, BLOCK: tl.constexpr):
    first = tl.program_id(0)
    step = tl.num_programs(0)
    for row in tl.range(first, n_rows, step):
        offs = tl.arange(0, BLOCK)
        mask = offs < n_cols
        val = tl.load(x + row * n_cols + offs, mask=mask, other=-float("inf"))
        top = tl.max(val, axis=0)
        num = tl.exp(val - top)
        den = tl.sum(num, axis=0)
        res = num / den
        tl.store(out + row * n_cols + offs, res, mask=mask)


@triton.jit
def layer_norm(y, x, w, b, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start = row * stride
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        a = tl.load(x + start + cols, mask=cols < N, other=0.0).to(tl.float32)
        acc += a
    mean = tl.sum(acc, axis=0) / N
    sq = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        c = tl.load(x + start + cols, mask=cols < N, other=0.0).to(tl.float32)
        d = tl.where(cols < N, c - mean, 0.0)
        sq += d * d
    var = tl.sum(sq, axis=0) / N
    rstd = 1 / tl.sqrt(var + eps)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < N
        wt = tl.load(w + cols, mask=mask)
        bs = tl.load(b + cols, mask=mask)
        v = tl.load(x + start + cols, mask=mask, other=0.0).to(tl.float32)
        hat = (v - mean) * rstd
        res = hat * wt + bs
        tl.store(y + start + cols, res, mask=mask)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    pids_m = tl.cdiv(M, BM)
    pids_n = tl.cdiv(N, BN)
    in_group = GROUP * pids_n
    group = pid // in_group
    first_m = group * GROUP
    size_m = tl.minimum(pids_m - first_m, GROUP)
    pid_m = first_m + (pid % in_group) % size_m
    pid_n = (pid % in_group) // size_m
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        at = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        bt = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(at, bt, acc)
    res = acc.to(tl.float16)
    tl.store(c + rm[:, None] * N + rn[None, :], res)


@triton.jit
def split_k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    pid = tl.program_id(0)
    pid_k = tl.program_id(1)
    pids_n = tl.cdiv(N, BN)
    pid_m = pid // pids_n
    pid_n = pid % pids_n
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    rk = pid_k * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK * SPLIT)):
        left = K - k * BK * SPLIT
        ks = k * BK * SPLIT + rk
        at = tl.load(a + rm[:, None] * K + ks[None, :], mask=rk[None, :] < left, other=0.0)
        bt = tl.load(b + ks[:, None] * N + rn[None, :], mask=rk[:, None] < left, other=0.0)
        acc += tl.dot(at, bt)
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, scale, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    pid = tl.program_id(0)
    rm = pid * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rd = tl.arange(0, D)
    q = tl.load(q_ptr + rm[:, None] * D + rd[None, :])
    m_i = tl.zeros([BM], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BM], dtype=tl.float32) + 1.0
    acc = tl.zeros([BM, D], dtype=tl.float32)
    qk_scale = scale * 1.44269504
    for j in range(0, N, BN):
        k = tl.load(k_ptr + (j + rn)[None, :] * D + rd[:, None])
        qk = tl.dot(q, k)
        m_ij = tl.maximum(m_i, tl.max(qk, 1) * qk_scale)
        qk = qk * qk_scale - m_ij[:, None]
        p = tl.math.exp2(qk)
        alpha = tl.math.exp2(m_i - m_ij)
        l_ij = tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptr + (j + rn)[:, None] * D + rd[None, :])
        acc = tl.dot(p.to(tl.float16), v, acc)
        l_i = l_i * alpha + l_ij
        m_i = m_ij
    o = acc / l_i[:, None]
    tl.store(o_ptr + rm[:, None] * D + rd[None, :], o.to(tl.float16))


@triton.jit
def choose(out, x, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    val = tl.load(x + offs, mask=offs < n, other=0.0)
    total = tl.sum(val, 0)
    y = val * 3
    if total > 0:
        y = val * 2
    else:
        y = val - 1
    y = y + 1
    i = 0
    while i < n:
        y = y * 0.5 + 1
        i += 64
    if total > 100:
        other = tl.load(out + offs, mask=offs < n, other=1.0)
        y = y + other
    res = tl.where(y > 0, y, -y)
    tl.store(out + offs, res, mask=offs < n)

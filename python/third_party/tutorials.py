"""The kernels of Triton's ten tutorials, written anew, on the CPU: no finding (a note on threads that write the
same bytes is none), and what torch gives within the tutorials' tolerances.

    python -m pytest python/third_party/tutorials.py

with Triton 3.6 or later and torch; every kernel is compiled for sm_80 and for sm_90.
"""

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")

import ptxdbg  # noqa: E402
import ptxdbg.triton  # noqa: E402
from triton.language.extra import libdevice  # noqa: E402
from triton.tools.tensor_descriptor import TensorDescriptor  # noqa: E402


@pytest.fixture(autouse=True, params=[80, 90], ids=["sm_80", "sm_90"])
def arch(request):
    torch.manual_seed(0)
    ptxdbg.triton.install(arch=request.param)
    return request.param


def near(got, expected, rtol=0.0, atol=1e-2):
    torch.testing.assert_close(got.float(), expected.float(), rtol=rtol, atol=atol)


# 1: vector addition


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)


def test_01_vector_add():
    n = 5000
    x, y, out = torch.rand(n), torch.rand(n), torch.empty(n)
    add[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=1024)
    assert torch.equal(out, x + y)


# 2: fused softmax


@triton.jit
def softmax(out, x, out_stride, x_stride, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        values = tl.load(x + row * x_stride + at, at < columns, -float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * out_stride + at, powers / tl.sum(powers, axis=0), at < columns)


@pytest.mark.parametrize("stages", [2, 4])
def test_02_softmax(stages):
    x = torch.randn(37, 211)
    out = torch.empty_like(x)
    softmax[(6,)](out, x, out.stride(0), x.stride(0), *x.shape, BLOCK=256, STAGES=stages, num_warps=8)
    torch.testing.assert_close(out, torch.softmax(x, dim=1))


# 3: matrix multiplication


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def tile_of(tile, m, n, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    """Row and column of a tile, where GROUP rows of tiles are gone through column by column."""
    columns = tl.cdiv(n, BN)
    group = tile // (GROUP * columns)
    height = min(tl.cdiv(m, BM) - group * GROUP, GROUP)
    inside = tile % (GROUP * columns)
    return group * GROUP + inside % height, inside // height


@triton.jit
def matmul(a, b, c, m, n, k, am, ak, bk, bn, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
           RELU: tl.constexpr):
    row, column = tile_of(tl.program_id(0), m, n, BM, BN, GROUP)
    rows, columns, depth = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    left = a + (rows % m)[:, None] * am + depth[None, :] * ak
    right = b + depth[:, None] * bk + (columns % n)[None, :] * bn
    sums = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        sums = tl.dot(tl.load(left, depth[None, :] < k - start, 0.0), tl.load(right, depth[:, None] < k - start, 0.0), sums)
        left += BK * ak
        right += BK * bk
    if RELU:
        sums = leaky_relu(sums)
    tl.store(c + rows[:, None] * cm + columns[None, :] * cn, sums.to(c.dtype.element_ty), (rows[:, None] < m) & (columns[None, :] < n))


def matmul_of(a, b, relu):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=torch.float16)
    grid = (triton.cdiv(m, 64) * triton.cdiv(n, 64),)
    matmul[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), BM=64, BN=64, BK=32, GROUP=2, RELU=relu, num_stages=3)
    return c


@pytest.mark.parametrize("relu", [False, True])
def test_03_matmul(relu):
    a, b = torch.rand(150, 96).half() - 0.5, torch.rand(96, 130).half() - 0.5
    expected = a.float() @ b.float()
    near(matmul_of(a, b, relu), torch.nn.functional.leaky_relu(expected) if relu else expected)


def test_03_matmul_of_8_bits(arch):
    if arch < 90:
        pytest.skip("8-bit floats are those of sm_89 and later")
    a, b = torch.randn(64, 64).to(torch.float8_e5m2), torch.randn(64, 64).to(torch.float8_e5m2).T
    near(matmul_of(a, b, False), a.float() @ b.float(), atol=0.125)


# 4: dropout from a seed


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keep, tl.load(x + at, at < n) / (1 - p), 0.0), at < n)


def test_04_dropout():
    n = 3000
    x = torch.randn(n)
    out = [torch.empty(n) for _ in range(3)]
    for result, seed in zip(out, (123, 123, 512)):
        dropout[(triton.cdiv(n, 1024),)](x, result, n, 0.5, seed, BLOCK=1024)
    assert torch.equal(out[0], out[1]) and not torch.equal(out[0], out[2])
    kept = out[0] != 0
    assert torch.equal(out[0][kept], x[kept] * 2) and abs(kept.float().mean() - 0.5) < 0.05


# 5: layer normalization, forwards and backwards


@triton.jit
def norm_forward(x, y, weight, bias, means, rstds, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total, at = tl.zeros([BLOCK], tl.float32), tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        total += tl.load(x + row * stride + start + at, start + at < n, 0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        value = tl.load(x + row * stride + start + at, start + at < n, 0.0).to(tl.float32)
        value = tl.where(start + at < n, value - mean, 0.0)
        squares += value * value
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / n + eps)
    tl.store(means + row, mean)
    tl.store(rstds + row, rstd)
    for start in range(0, n, BLOCK):
        inside = start + at < n
        value = tl.load(x + row * stride + start + at, inside, 0.0).to(tl.float32)
        scaled = (value - mean) * rstd * tl.load(weight + start + at, inside) + tl.load(bias + start + at, inside)
        tl.store(y + row * stride + start + at, scaled, inside)


@triton.jit
def norm_backward(dx, dy, dw, db, x, weight, means, rstds, locks, stride, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + row * stride + at, inside, 0.0).to(tl.float32)
    slope = tl.load(dy + row * stride + at, inside, 0.0).to(tl.float32)
    factor = tl.load(weight + at, inside).to(tl.float32)
    mean, rstd = tl.load(means + row), tl.load(rstds + row)
    normal = tl.where(inside, (value - mean) * rstd, 0.0)
    weighted = tl.where(inside, factor * slope, 0.0)
    along = tl.sum(normal * weighted, axis=0) / n
    average = tl.sum(weighted, axis=0) / n
    tl.store(dx + row * stride + at, (weighted - (normal * along + average)) * rstd, inside)
    # Rows of one group add up under its lock; the flag behind the locks says whether there is a sum.
    group = row % GROUP
    part_w, part_b = (slope * normal).to(factor.dtype), slope.to(factor.dtype)
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    has_sum = tl.load(locks + GROUP + group)
    # Triton 3.6 lets one warp set the flag before others have read it.
    tl.debug_barrier()
    if has_sum == 0:
        tl.atomic_xchg(locks + GROUP + group, 1)
    else:
        part_w += tl.load(dw + group * n + at, inside)
        part_b += tl.load(db + group * n + at, inside)
    tl.store(dw + group * n + at, part_w, inside)
    tl.store(db + group * n + at, part_b, inside)
    tl.debug_barrier()
    tl.atomic_xchg(locks + group, 0)


@triton.jit
def norm_sum(parts_w, parts_b, dw, db, m, n, BM: tl.constexpr, BN: tl.constexpr):
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    sum_w, sum_b = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
    for start in range(0, m, BM):
        rows = start + tl.arange(0, BM)
        inside = (rows[:, None] < m) & (columns[None, :] < n)
        at = rows[:, None] * n + columns[None, :]
        sum_w += tl.load(parts_w + at, inside, 0.0)
        sum_b += tl.load(parts_b + at, inside, 0.0)
    tl.store(dw + columns, tl.sum(sum_w, axis=0), columns < n)
    tl.store(db + columns, tl.sum(sum_b, axis=0), columns < n)


def test_05_layer_norm():
    m, n, group = 24, 160, 4
    x = (-2.3 + 0.5 * torch.randn(m, n)).half()
    weight, bias, dy = torch.rand(n).half(), torch.rand(n).half(), (0.1 * torch.randn(m, n)).half()
    y, dx, mean, rstd = torch.empty_like(x), torch.empty_like(x), torch.empty(m), torch.empty(m)
    norm_forward[(m,)](x, y, weight, bias, mean, rstd, n, n, 1e-5, BLOCK=64)
    parts_w, parts_b = torch.zeros(group, n), torch.zeros(group, n)
    locks = torch.zeros(2 * group, dtype=torch.int32)
    norm_backward[(m,)](dx, dy, parts_w, parts_b, x, weight, mean, rstd, locks, n, n, GROUP=group, BLOCK=256)
    dw, db = torch.empty(n), torch.empty(n)
    norm_sum[(triton.cdiv(n, 64),)](parts_w, parts_b, dw, db, group, n, BM=32, BN=64)

    inputs = [tensor.float().requires_grad_() for tensor in (x, weight, bias)]
    expected = torch.nn.functional.layer_norm(inputs[0], (n,), inputs[1], inputs[2], 1e-5)
    expected.backward(dy.float())
    near(y, expected.detach())
    for got, wanted in zip((dx, dw, db), inputs):
        near(got, wanted.grad)


# 6: fused attention, forwards by tensor descriptors and backwards by pointers


@triton.jit
def attention(q, k, v, out, logs, scale, n, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    head, row = tl.program_id(1) * n, tl.program_id(0) * BM
    rows = row + tl.arange(0, BM)
    top, total, acc = tl.full([BM], -float("inf"), tl.float32), tl.zeros([BM], tl.float32), tl.zeros([BM, D], tl.float32)
    query = q.load([head + row, 0])
    # Powers are of 2.
    scale *= 1.44269504
    end = row + BM if CAUSAL else n
    for start in tl.range(0, end, BN):
        scores = tl.dot(query, k.load([head + start, 0]).T) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= start + tl.arange(0, BN)[None, :], scores, -1.0e6)
        higher = tl.maximum(top, tl.max(scores, 1))
        powers = tl.math.exp2(scores - higher[:, None])
        shrink = tl.math.exp2(top - higher)
        total = total * shrink + tl.sum(powers, 1)
        acc = tl.dot(powers.to(tl.float16), v.load([head + start, 0]), acc * shrink[:, None])
        top = higher
    tl.store(logs + head + rows, top + tl.math.log2(total))
    out.store([head + row, 0], (acc / total[:, None]).to(tl.float16))


@triton.jit
def attention_delta(out, dout, delta, D: tl.constexpr, BM: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    at = rows[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(delta + rows, tl.sum(tl.load(out + at).to(tl.float32) * tl.load(dout + at).to(tl.float32), axis=1))


@triton.jit
def attention_backward(q, k, v, dout, dq, dk, dv, logs, delta, scale, n, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                       CAUSAL: tl.constexpr):
    head, block = tl.program_id(1) * n, tl.program_id(0)
    dims = tl.arange(0, D)[None, :]
    # What the keys and values of a block get from all rows.
    columns = block * BN + tl.arange(0, BN)
    keys, values = tl.load(k + (head + columns[:, None]) * D + dims), tl.load(v + (head + columns[:, None]) * D + dims)
    sum_k, sum_v = tl.zeros([BN, D], tl.float32), tl.zeros([BN, D], tl.float32)
    for start in range((block * BN // BM) * BM if CAUSAL else 0, n, BM):
        rows = start + tl.arange(0, BM)
        query, slope = tl.load(q + (head + rows[:, None]) * D + dims), tl.load(dout + (head + rows[:, None]) * D + dims)
        powers = tl.math.exp2(tl.dot(keys, query.T) * (scale * 1.44269504) - tl.load(logs + head + rows)[None, :])
        if CAUSAL:
            powers = tl.where(rows[None, :] >= columns[:, None], powers, 0.0)
        sum_v = tl.dot(powers.to(tl.float16), slope, sum_v)
        steps = powers * (tl.dot(values, slope.T) - tl.load(delta + head + rows)[None, :])
        sum_k = tl.dot(steps.to(tl.float16), query, sum_k)
    tl.store(dv + (head + columns[:, None]) * D + dims, sum_v)
    tl.store(dk + (head + columns[:, None]) * D + dims, sum_k * scale)
    # What the rows of a block get from all keys.
    rows = block * BM + tl.arange(0, BM)
    query, slope = tl.load(q + (head + rows[:, None]) * D + dims), tl.load(dout + (head + rows[:, None]) * D + dims)
    high, inner = tl.load(logs + head + rows)[:, None], tl.load(delta + head + rows)[:, None]
    sum_q = tl.zeros([BM, D], tl.float32)
    for start in range(0, block * BM + BM if CAUSAL else n, BN):
        columns = start + tl.arange(0, BN)
        keys, values = tl.load(k + (head + columns[:, None]) * D + dims), tl.load(v + (head + columns[:, None]) * D + dims)
        powers = tl.math.exp2(tl.dot(query, keys.T) * (scale * 1.44269504) - high)
        if CAUSAL:
            powers = tl.where(rows[:, None] >= columns[None, :], powers, 0.0)
        steps = powers * (tl.dot(slope, values.T) - inner)
        sum_q = tl.dot(steps.to(tl.float16), keys, sum_q)
    tl.store(dq + (head + rows[:, None]) * D + dims, sum_q * scale)


@pytest.mark.parametrize("causal", [False, True])
def test_06_fused_attention(causal):
    heads, n, dim, scale = 2, 128, 64, 0.5
    q, k, v, dout = ((0.5 * torch.randn(heads, n, dim)).half() for _ in range(4))
    out, logs = torch.empty_like(q), torch.empty(heads, n)

    def rows(tensor, block):
        return TensorDescriptor(tensor, [heads * n, dim], [dim, 1], [block, dim])

    attention[(n // 64, heads)](rows(q, 64), rows(k, 32), rows(v, 32), rows(out, 64), logs, scale, n, D=dim, BM=64, BN=32, CAUSAL=causal)
    delta = torch.empty(heads, n)
    attention_delta[(heads * n // 32,)](out, dout, delta, D=dim, BM=32)
    dq, dk, dv = (torch.empty(heads, n, dim) for _ in range(3))
    attention_backward[(n // 32, heads)](q, k, v, dout, dq, dk, dv, logs, delta, scale, n, D=dim, BM=32, BN=32, CAUSAL=causal)

    inputs = [tensor.float().requires_grad_() for tensor in (q, k, v)]
    expected = torch.nn.functional.scaled_dot_product_attention(*inputs, is_causal=causal, scale=scale)
    expected.backward(dout.float())
    near(out, expected.detach())
    for got, wanted in zip((dq, dk, dv), inputs):
        near(got, wanted.grad, atol=2e-2)


# 7: functions of a library


@triton.jit
def arc_sine(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, libdevice.asin(tl.load(x + at, at < n)), at < n)


def test_07_extern_functions():
    n = 3000
    x, y = torch.rand(n), torch.empty(n)
    arc_sine[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
    torch.testing.assert_close(y, torch.asin(x))


# 8: many products of matrices at once, by addresses in memory, and by descriptors made of them


@triton.jit
def grouped(a_table, b_table, c_table, sizes, strides, count, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
            BK: tl.constexpr, TMA: tl.constexpr):
    tile, end = tl.program_id(0), 0
    for number in range(count):
        m, n, k = tl.load(sizes + number * 3), tl.load(sizes + number * 3 + 1), tl.load(sizes + number * 3 + 2)
        columns = tl.cdiv(n, BN)
        begin, end = end, end + tl.cdiv(m, BM) * columns
        if tile < end:
            lda, ldb, ldc = tl.load(strides + number * 3), tl.load(strides + number * 3 + 1), tl.load(strides + number * 3 + 2)
            a = tl.load(a_table + number).to(tl.pointer_type(tl.float16))
            b = tl.load(b_table + number).to(tl.pointer_type(tl.float16))
            c = tl.load(c_table + number).to(tl.pointer_type(tl.float16))
            if TMA:
                a_tiles = tl.make_tensor_descriptor(a, [m, k], [lda, 1], [BM, BK])
                b_tiles = tl.make_tensor_descriptor(b, [n, k], [ldb, 1], [BN, BK])
                c_tiles = tl.make_tensor_descriptor(c, [m, n], [ldc, 1], [BM, BN])
            while tile < end:
                row, column = (tile - begin) // columns * BM, (tile - begin) % columns * BN
                sums = tl.zeros((BM, BN), tl.float32)
                if TMA:
                    for start in range(0, k, BK):
                        sums += tl.dot(a_tiles.load([row, start]), b_tiles.load([column, start]).T)
                    c_tiles.store([row, column], sums.to(tl.float16))
                else:
                    rows, across, depth = row + tl.arange(0, BM), column + tl.arange(0, BN), tl.arange(0, BK)
                    for start in range(0, k, BK):
                        left = tl.load(a + rows[:, None] * lda + start + depth[None, :])
                        right = tl.load(b + (start + depth[:, None]) * ldb + across[None, :])
                        sums += tl.dot(left, right)
                    tl.store(c + rows[:, None] * ldc + across[None, :], sums.to(tl.float16))
                tile += PROGRAMS


@pytest.mark.parametrize("tma", [False, True])
def test_08_grouped_gemm(arch, tma):
    if tma and arch < 90:
        pytest.skip("descriptors are those of sm_90 and later")
    shapes = [(128, 64, 64), (64, 128, 96), (64, 64, 32)]
    lefts, rights = [torch.rand(m, k).half() for m, _, k in shapes], [torch.rand(k, n).half() for _, n, k in shapes]
    given = [right.T.contiguous() for right in rights] if tma else rights
    outs = [torch.empty(m, n, dtype=torch.float16) for m, n, _ in shapes]
    tables = [torch.tensor([tensor.data_ptr() for tensor in group]) for group in (lefts, given, outs)]
    strides = torch.tensor([[tensor.stride(0) for tensor in group] for group in zip(lefts, given, outs)], dtype=torch.int32)
    with ptxdbg.reachable(*lefts, *given, *outs):
        grouped[(3,)](*tables, torch.tensor(shapes, dtype=torch.int32), strides, len(shapes), PROGRAMS=3, BM=64, BN=32, BK=32, TMA=tma)
    for left, right, out in zip(lefts, rights, outs):
        near(out, left.float() @ right.float(), atol=2e-2)


# 9: matrix multiplication by programs that stay


@triton.jit
def persistent(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, PROGRAMS: tl.constexpr,
               HALVES: tl.constexpr):
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, BM) * tl.cdiv(n, BN), PROGRAMS, flatten=True):
        row, column = tile_of(tile, m, n, BM, BN, GROUP)
        sums = tl.zeros((BM, BN), tl.float32)
        for step in range(tl.cdiv(k, BK)):
            sums = tl.dot(a.load([row * BM, step * BK]), b.load([column * BN, step * BK]).T, sums)
        if HALVES:
            left, right = tl.split(tl.permute(tl.reshape(sums, (BM, 2, BN // 2)), (0, 2, 1)))
            c.store([row * BM, column * BN], left.to(tl.float16))
            c.store([row * BM, column * BN + BN // 2], right.to(tl.float16))
        else:
            c.store([row * BM, column * BN], sums.to(tl.float16))


@triton.jit
def persistent_by_device(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
                         PROGRAMS: tl.constexpr):
    a_tiles = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    b_tiles = tl.make_tensor_descriptor(b, [n, k], [k, 1], [BN, BK])
    c_tiles = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, BM) * tl.cdiv(n, BN), PROGRAMS, flatten=False):
        row, column = tile_of(tile, m, n, BM, BN, GROUP)
        sums = tl.zeros((BM, BN), tl.float32)
        for step in range(tl.cdiv(k, BK)):
            sums = tl.dot(a_tiles.load([row * BM, step * BK]), b_tiles.load([column * BN, step * BK]).T, sums)
        c_tiles.store([row * BM, column * BN], sums.to(tl.float16))


@pytest.mark.parametrize("kind", ["host", "halves", "device"])
def test_09_persistent_matmul(kind):
    m, n, k = 192, 160, 96
    a, b, c = torch.randn(m, k).half(), torch.randn(n, k).half(), torch.empty(m, n, dtype=torch.float16)
    sizes = {"BM": 64, "BN": 64, "BK": 32, "GROUP": 2, "PROGRAMS": 4, "num_stages": 3}
    if kind == "device":
        persistent_by_device[(4,)](a, b, c, m, n, k, **sizes)
    else:
        halves = kind == "halves"
        tiles = [TensorDescriptor.from_tensor(tensor, block)
                 for tensor, block in ((a, [64, 32]), (b, [64, 32]), (c, [64, 32 if halves else 64]))]
        persistent[(4,)](*tiles, m, n, k, HALVES=halves, **sizes)
    near(c, a.float() @ b.float().T, atol=3e-2)


# 10: matrix multiplication of blocks with scales


@triton.jit
def block_scaled(a, a_scale, b, b_scale, c, m, n, k, KIND: tl.constexpr, PACKED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                 BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), tl.float32)
    rows, columns, groups = row + tl.arange(0, BM), column + tl.arange(0, BN), tl.arange(0, BK // 32)
    for start in tl.range(0, k, BK):
        left_scale = tl.load(a_scale + rows[:, None] * (k // 32) + start // 32 + groups[None, :])
        right_scale = tl.load(b_scale + columns[:, None] * (k // 32) + start // 32 + groups[None, :])
        left, right = a.load([row, start // PACKED]), b.load([column, start // PACKED])
        sums = tl.dot_scaled(left, left_scale, KIND, right.T, right_scale, KIND, sums)
    tl.store(c + rows[:, None] * n + columns[None, :], sums)


#: The magnitudes of the floats of 4 bits, by their lower three.
E2M1 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


def unpacked(bytes_):
    """The values of two floats of 4 bits a byte, that of the lower half first."""
    halves = torch.stack([bytes_ & 15, bytes_ >> 4], dim=-1).flatten(-2).long()
    return torch.where(halves >= 8, -1.0, 1.0) * E2M1[halves & 7]


@pytest.mark.parametrize("kind", ["e4m3", "e5m2", "e2m1"])
def test_10_block_scaled_matmul(arch, kind):
    if kind == "e4m3" and arch < 89:
        pytest.skip("Triton has these floats for sm_89 and later")
    m, n, k, packed = 128, 64, 128, 2 if kind == "e2m1" else 1
    if packed == 2:
        left, right = (torch.randint(256, (extent, k // 2), dtype=torch.uint8) for extent in (m, n))
        plain = unpacked(left), unpacked(right)
    else:
        dtype = torch.float8_e4m3fn if kind == "e4m3" else torch.float8_e5m2
        left, right = (torch.randn(extent, k).to(dtype) for extent in (m, n))
        plain = left.float(), right.float()
    # Exponents of powers of 2, for 32 elements each.
    scales = [torch.randint(124, 130, (extent, k // 32), dtype=torch.uint8) for extent in (m, n)]
    scaled = [values * (2.0 ** (scale.float() - 127)).repeat_interleave(32, 1) for values, scale in zip(plain, scales)]
    out = torch.empty(m, n)
    block = 64 // packed
    tiles = [TensorDescriptor.from_tensor(tensor, [64, block]) for tensor in (left, right)]
    block_scaled[(m // 64, n // 64)](tiles[0], scales[0], tiles[1], scales[1], out, m, n, k, KIND=kind, PACKED=packed, BM=64, BN=64, BK=64)
    torch.testing.assert_close(out, scaled[0] @ scaled[1].T, rtol=1e-3, atol=1e-3)


def test_all_ten_are_there():
    assert len({name[5:7] for name in globals() if name.startswith("test_") and name[5:7].isdecimal()}) == 10

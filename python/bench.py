"""What a launch costs beside its instructions: python python/bench.py, with the package as it ships (a release build)."""

import importlib.util
import pathlib
import statistics
import time

import numpy as np
import ptxdbg

PTX = (pathlib.Path(__file__).parent / "tests" / "scale.ptx").read_text()


def median(call, times):
    """The median time of a call, in microseconds: a mean has what other processes of the machine do in it."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1e6


def main():
    x, y = np.ones(256, np.float32), np.zeros(256, np.float32)
    module = ptxdbg.Module(PTX)
    for what, ptx in (("Module", module), ("text", PTX)):
        for checks in ("all", "none"):
            cost = median(lambda: ptxdbg.run(ptx, block=32, args=[x, y, 2.0, 32], checks=checks), 5000)
            print(f"a launch of one warp, {what}, checks {checks}: {cost:.0f} us, {cost / 1000:.2f} s a thousand")
    print(f"reading the module: {median(lambda: ptxdbg.Module(PTX), 250):.0f} us")
    large = np.zeros(1 << 20, np.float32)
    cost = median(lambda: ptxdbg.run(module, block=32, args=[large, large, 2.0, 32]), 5000)
    print(f"a launch of one warp on 4 MiB, of which it touches a page: {cost:.0f} us")
    if importlib.util.find_spec("triton") is not None:
        bench_triton(x)


def bench_triton(x):
    import triton
    import triton.language as tl
    from ptxdbg.triton import install

    def kernel(x, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, at < n) + 1, at < n)

    install()
    kernel.__globals__["tl"] = tl
    jitted = triton.jit(kernel)
    cost = median(lambda: jitted[(1,)](x, 32, BLOCK=32, num_warps=1), 1500)
    print(f"a launch of one warp of Triton: {cost:.0f} us")


if __name__ == "__main__":
    main()

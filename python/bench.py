"""What a launch costs beside its instructions: python python/bench.py, with the package as it ships (a release build)."""

import importlib.util
import pathlib
import time

import numpy as np
import ptxdbg

PTX = (pathlib.Path(__file__).parent / "tests" / "scale.ptx").read_text()


def best(call, times, rounds=5):
    """The least time of a call, in microseconds."""
    least = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(times):
            call()
        least = min(least, time.perf_counter() - start)
    return least / times * 1e6


def main():
    x, y = np.ones(256, np.float32), np.zeros(256, np.float32)
    module = ptxdbg.Module(PTX)
    for what, ptx in (("Module", module), ("text", PTX)):
        for checks in ("all", "none"):
            cost = best(lambda: ptxdbg.run(ptx, block=32, args=[x, y, 2.0, 32], checks=checks), 1000)
            print(f"a launch of one warp, {what}, checks {checks}: {cost:.0f} us, {cost / 1000:.2f} s a thousand")
    print(f"reading the module: {best(lambda: ptxdbg.Module(PTX), 50):.0f} us")
    large = np.zeros(1 << 20, np.float32)
    cost = best(lambda: ptxdbg.run(module, block=32, args=[large, large, 2.0, 32]), 1000)
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
    cost = best(lambda: jitted[(1,)](x, 32, BLOCK=32, num_warps=1), 300)
    print(f"a launch of one warp of Triton: {cost:.0f} us")


if __name__ == "__main__":
    main()

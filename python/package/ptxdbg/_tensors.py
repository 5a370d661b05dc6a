"""Tensors of Triton kernels as arrays."""

import numpy as np

#: The types of elements that NumPy has, by their names in PTX.
_TYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "s64": np.int64, "s32": np.int32, "s16": np.int16, "s8": np.int8,
          "u8": np.uint8, "b64": np.uint64, "e4m3": np.uint8, "e5m2": np.uint8, "pred": np.bool_}


def tensor(result, name, line=None, program=None, iteration=None):
    """See :meth:`ptxdbg.Result.tensor`."""
    from . import _natural as natural

    block = (program,) if isinstance(program, int) else tuple(program or (0,))
    if len(block) > 3:
        raise ValueError(f"a program has at most 3 numbers, not {len(block)}")
    block = [natural(number, "a number of the program", 32) for number in block]
    line = None if line is None else natural(line, "the line", 32)
    iteration = natural(iteration or 0, "the iteration", 64)
    ty, shape, bits = result.session()._tensor(name, line, [*block, 0, 0][:3], iteration)
    missing = bits.count(None)
    if missing:
        from . import PtxdbgError

        raise PtxdbgError(f"{missing} of the {len(bits)} elements of '{name}' are in no register there")
    if ty == "bf16":
        # NumPy has no such type: the same numbers are numbers of float32.
        return (np.array(bits, np.uint32) << 16).view(np.float32).reshape(shape)
    dtype = np.dtype(_TYPES[ty])
    if dtype == np.bool_:
        return np.array(bits, dtype).reshape(shape)
    return np.array(bits, np.uint64).astype(f"u{dtype.itemsize}").view(dtype).reshape(shape)

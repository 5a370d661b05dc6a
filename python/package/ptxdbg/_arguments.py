"""What a Python value is as a kernel's parameter: bytes, and the memory that an address among them leads to."""

from __future__ import annotations

import ctypes
import struct

import numpy as np

_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}


def collect(params, args):
    """The bytes of all parameters, the memory that they lead to as addresses, lengths and names, and what must stay alive meanwhile."""
    if len(params) != len(args):
        raise TypeError(f"the kernel has {len(params)} parameters, and {len(args)} arguments are given")
    values, ranges, alive = [], [], []
    for index, ((name, kind, size), arg) in enumerate(zip(params, args)):
        try:
            memory = _memory(arg, alive)
            if memory is not None:
                address, start, length = memory
                ranges.append((start, length, name))
                values.append(_integer(address, size))
            else:
                values.append(_value(arg, kind, size))
        except (TypeError, ValueError, OverflowError, struct.error) as error:
            raise type(error)(f"argument {index} ('{name}', .{kind}, {size} bytes): {error}") from None
    return values, ranges, alive


def memory_of(arg, alive):
    """Start and length of the allocation that an array is a view of."""
    memory = _memory(arg, alive)
    if memory is None:
        raise TypeError(f"a {type(arg).__name__} is no array")
    return memory[1:]


def _integer(value, size):
    if not -(1 << (8 * size - 1)) <= value < 1 << (8 * size):
        raise OverflowError(f"{value} does not fit")
    return (value % (1 << (8 * size))).to_bytes(size, "little")


def _value(arg, kind, size):
    """A value that is passed as such."""
    if arg is None:
        return bytes(size)
    if isinstance(arg, (bytes, bytearray, memoryview)):
        return _exact(bytes(arg), size)
    if isinstance(arg, (ctypes.Structure, ctypes.Array, ctypes._SimpleCData)):
        return _exact(bytes(arg), size)
    if isinstance(arg, np.void):
        return _exact(arg.tobytes(), size)
    if isinstance(arg, np.generic) and arg.dtype.itemsize == size and (arg.dtype.kind == "f") == (kind in _FLOATS):
        return arg.tobytes()
    if isinstance(arg, np.generic):
        arg = arg.item()
    if kind in _FLOATS:
        return struct.pack(_FLOATS[kind], float(arg))
    if isinstance(arg, float):
        # Bits of a register that holds a float: compilers declare such parameters as .b32 as well.
        if kind.startswith("b") and size in (4, 8):
            return struct.pack("<f" if size == 4 else "<d", arg)
        raise TypeError("a float for an integer parameter")
    if isinstance(arg, (bool, int)):
        return _integer(int(arg), size)
    raise TypeError(f"a {type(arg).__name__} is no value of a parameter")


def _exact(given, size):
    if len(given) != size:
        raise ValueError(f"{len(given)} bytes are given")
    return given


def _memory(arg, alive):
    """The address of an array, and start and length of the allocation that it is a view of; None of what is no array."""
    if isinstance(arg, np.generic):
        return None
    if isinstance(arg, np.ndarray):
        return _array(arg, alive)
    if hasattr(arg, "untyped_storage") and hasattr(arg, "data_ptr"):
        if arg.device.type != "cpu":
            raise TypeError(f"a tensor on {arg.device}: kernels run on CPU tensors")
        storage = arg.untyped_storage()
        alive.append(arg)
        return arg.data_ptr(), storage.data_ptr(), storage.nbytes()
    for interface in ("__cuda_array_interface__", "__array_interface__"):
        described = getattr(arg, interface, None)
        if isinstance(described, dict):
            return _described(described, arg, alive)
    if hasattr(arg, "__dlpack__"):
        return _array(np.from_dlpack(arg), alive)
    return None


def _array(array, alive):
    alive.append(array)
    if not array.flags.writeable and array.flags.owndata:
        raise ValueError("a read-only array: a kernel may write to it")
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    low, high = np.lib.array_utils.byte_bounds(owner) if hasattr(np.lib, "array_utils") else np.byte_bounds(owner)
    return array.__array_interface__["data"][0], low, high - low


def _described(described, arg, alive):
    address, length = described["data"][0], np.dtype(described["typestr"]).itemsize
    strides = described.get("strides")
    if strides is None:
        for extent in described["shape"]:
            length *= extent
    else:
        if any(stride < 0 for stride in strides):
            raise ValueError("an array with negative strides")
        length += sum((extent - 1) * stride for extent, stride in zip(described["shape"], strides))
    alive.append(arg)
    return address, address, length

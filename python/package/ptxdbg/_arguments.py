"""What a Python value is as a kernel's parameter: bytes, and the memory that an address among them leads to."""

from __future__ import annotations

import array
import ctypes
import functools
import math
import operator
import struct

import numpy as np

_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}

#: NumPy's and torch's names of the types of elements.
_ELEMENTS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "bool": "u8",
             **{f"int{8 * size}": f"s{8 * size}" for size in (1, 2, 4, 8)}, **{f"uint{8 * size}": f"u{8 * size}" for size in (1, 2, 4, 8)}}
_NAMES = {element: name for name, element in _ELEMENTS.items() if name != "bool"}

#: Types of parameters that may be addresses, where they have 8 bytes.
_ADDRESSES = ("u64", "b64")


def collect(params, args, text="", elements=None):
    """The bytes of all parameters, the memory that they lead to as addresses, lengths, names, whether it may be written and the type of its
    elements, and what must stay alive meanwhile. ``text`` is that of the module, in which the format of a half shows; ``elements`` are
    those that each parameter leads to, as far as the kernel shows them."""
    if len(params) != len(args):
        raise TypeError(f"the kernel has {len(params)} parameters, and {len(args)} arguments are given")
    values, ranges, alive = [], [], []
    for index, ((name, kind, size), arg) in enumerate(zip(params, args)):
        try:
            is_address = kind in _ADDRESSES and size == 8
            memory = _memory(arg, alive)
            if memory is None and is_address:
                memory = _buffer(arg, alive)
            if memory is not None and _is_address(arg, kind, is_address):
                address, start, length, is_writable = memory
                if elements is not None:
                    checked_elements(arg, elements[index])
                ranges.append((start, length, name, is_writable, element_of(arg)))
                values.append(_integer(address, size))
            else:
                if arg is None and not is_address:
                    raise TypeError("None is a null pointer, and the parameter is no address")
                values.append(_value(arg if memory is None else _zero_dim(arg, size), kind, size, text))
        except (TypeError, ValueError, OverflowError, struct.error) as error:
            raise type(error)(f"argument {index} ('{name}', .{kind}, {size} bytes): {error}") from None
    return values, ranges, alive


def is_array(arg):
    """Whether a value has memory of its own, which a kernel can be given the address of."""
    return _memory(arg, []) is not None or _is_buffer(arg)


def _is_buffer(arg):
    """Whether a value is memory without a shape. Bytes and C's numbers and structures are values."""
    if isinstance(arg, (bytes, np.generic, ctypes.Structure, ctypes.Union, ctypes._SimpleCData)):
        return False
    try:
        memoryview(arg)
    except TypeError:
        return False
    return True


def _dtype(arg):
    """The type of the elements of an array; None of memory that has none."""
    if hasattr(arg, "dtype"):
        return arg.dtype
    for interface in ("__cuda_array_interface__", "__array_interface__"):
        described = getattr(arg, interface, None)
        if isinstance(described, dict):
            return np.dtype(described["typestr"])
    if isinstance(arg, array.array):
        return np.dtype(arg.typecode)
    return np.from_dlpack(arg).dtype if hasattr(arg, "__dlpack__") else None


@functools.lru_cache(maxsize=256)
def _numbers(dtype):
    """What the elements of a type are: its name in PTX, whether they are floats, their bytes, and the library's name; None of structures."""
    word = str(dtype).rpartition(".")[2]
    if word in ("complex64", "complex128"):
        size = int(word[7:]) // 16
        return None, True, size, word
    element = _ELEMENTS.get(word)
    return element and (element, "f" in element, int(element.lstrip("bfsu")) // 8, word)


def element_of(arg):
    """The type of an array's elements in PTX; None where PTX has none."""
    known = _numbers(_dtype(arg))
    return known and known[0]


def checked_elements(arg, wanted):
    """Raises where a kernel takes the elements of an array for those of another width. ``wanted`` is their type in the kernel and whether
    it moves several of them at once; None where the kernel does not show it. Elements of one byte are memory of any kind."""
    own = wanted and _numbers(_dtype(arg))
    if not own:
        return
    (_, is_float, size, word), (element, has_vectors) = own, wanted
    width = int(element.lstrip("bfsu")) // 8
    if size == width or 1 in (size, width):
        return
    if size < width and (has_vectors or is_float != ("f" in element)):
        # Several narrow elements that are moved at once.
        return
    name = _NAMES.get(element, f"uint{8 * width}")
    is_tensor = hasattr(arg, "untyped_storage")
    convert = f"x.to(torch.{name})" if is_tensor else f"x.astype(np.{name})" if name != "bfloat16" else "x.astype(ml_dtypes.bfloat16)"
    view = f"x.view(torch.{name})" if is_tensor else f"x.view(np.{name})" if name != "bfloat16" else "x.view(ml_dtypes.bfloat16)"
    raise TypeError(f"an array of {word}, and the kernel computes with elements of {element}: pass {convert}, or {view} for the same bytes")


def as_bytes(arg):
    """The bytes of the elements of an array in order, and what writes as many bytes back to it; None of one that may only be read."""
    if hasattr(arg, "untyped_storage"):
        return _tensor_bytes(arg)
    if isinstance(arg, np.ndarray):
        own = arg
    elif _memory(arg, []) is None:
        own = np.frombuffer(arg, np.uint8)
    elif hasattr(arg, "__dlpack__") and not isinstance(getattr(arg, "__cuda_array_interface__", None), dict):
        own = np.from_dlpack(arg)
    else:
        own = np.asarray(_Described(arg))

    def write(made):
        own[...] = np.frombuffer(made, own.dtype, own.size).reshape(own.shape)

    return own.tobytes(), write if own.flags.writeable else None


def _tensor_bytes(tensor):
    import torch

    whole = tensor.detach().contiguous().reshape(-1).view(torch.uint8)

    def write(made):
        with torch.no_grad():
            tensor.copy_(torch.frombuffer(bytearray(made), dtype=tensor.dtype, count=tensor.numel()).reshape(tensor.shape))

    return whole.numpy().tobytes(), write


class _Described:
    """Memory of the host that is described as that of a device."""

    def __init__(self, arg):
        described = getattr(arg, "__cuda_array_interface__", None)
        described = described if isinstance(described, dict) else arg.__array_interface__
        self.__array_interface__ = {**described, "version": 3}


def memory_of(arg, alive):
    """Start and length of the allocation that an array is a view of, and whether it may be written."""
    memory = _memory(arg, alive)
    if memory is None:
        memory = _buffer(arg, alive)
    if memory is None:
        raise TypeError(f"a {type(arg).__name__} is no array")
    return memory[1:]


def _is_address(arg, kind, may_be):
    """Whether an array is meant as its address: one without dimensions stands for its value where the parameter is a number."""
    shape = getattr(arg, "shape", None)
    if shape is None or len(shape) > 0:
        if not may_be:
            raise TypeError("an array for a parameter that is no address: its value is wanted (an element of the array, or the bytes of "
                            "all of it as array.tobytes())")
        return True
    if not may_be:
        return False
    # A number of 8 bytes is declared as an address is.
    found = _zero_dim(arg, 8).dtype.kind
    if found in ("iubf" if kind == "b64" else "iub"):
        raise TypeError("an array without dimensions may be meant as its value or as its address: pass x.item() for the value, "
                        "x.reshape(1) for the address")
    return True


def _zero_dim(arg, size):
    """The value of an array without dimensions, with its type."""
    if isinstance(arg, np.ndarray):
        return arg[()]
    if str(getattr(arg, "dtype", "")) == "torch.bfloat16" and size == 2:
        return struct.pack("<f", arg.item())[2:]
    kinds = {"torch.float16": np.float16, "torch.float32": np.float32, "torch.float64": np.float64}
    if not hasattr(arg, "item"):
        return np.asarray(arg)[()]
    value = arg.item()
    return np.dtype(kinds.get(str(getattr(arg, "dtype", "")), type(value))).type(value)


def _integer(value, size):
    if not -(1 << (8 * size - 1)) <= value < 1 << (8 * size):
        raise OverflowError(f"{value} does not fit")
    return (value % (1 << (8 * size))).to_bytes(size, "little")


def _value(arg, kind, size, text):
    """A value that is passed as such."""
    if arg is None:
        return bytes(size)
    if isinstance(arg, (bytes, bytearray, memoryview)):
        return _exact(bytes(arg), size)
    if isinstance(arg, (ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)):
        return _exact(bytes(arg), size)
    if isinstance(arg, np.void):
        return _exact(arg.tobytes(), size)
    is_half = size == 2 and kind.startswith("b")
    if isinstance(arg, np.generic) and arg.dtype.itemsize == size and ((arg.dtype.kind == "f") == (kind in _FLOATS) or is_half):
        return arg.tobytes()
    if isinstance(arg, np.generic):
        arg = arg.item()
    if isinstance(arg, str):
        raise TypeError(f"the text {arg!r} is no value of a parameter")
    if kind in _FLOATS:
        try:
            number = float(arg)
        except TypeError:
            raise TypeError(f"a {type(arg).__name__} is no value of a parameter") from None
        return struct.pack(_FLOATS[kind], number)
    if isinstance(arg, float):
        # Bits of a register that holds a float: compilers declare such parameters as .b32 as well.
        if kind.startswith("b") and size in (4, 8):
            return struct.pack("<f" if size == 4 else "<d", arg)
        if is_half:
            return _half(arg, text)
        raise TypeError("a float for an integer parameter")
    if isinstance(arg, (bool, int)):
        return _integer(int(arg), size)
    raise TypeError(f"a {type(arg).__name__} is no value of a parameter")


def number_bytes(value, element):
    """The bytes of a number as an element."""
    size = int(element.lstrip("bfsu")) // 8
    if element == "bf16":
        return struct.pack("<f", float(value))[2:]
    return _value(value, element, size, ".f16")


def _half(value, text):
    """A float of 2 bytes, which PTX declares by its size alone: that of C's __half, where the module has those and no bf16."""
    if ".f16" not in text or "bf16" in text or "bfloat16" in text:
        raise TypeError("a float for a parameter of 2 bytes, in a module that does not show whether it is a half or a bfloat16: pass "
                        "np.float16(x), or the bytes of a bfloat16")
    return struct.pack("<e", value)


def _exact(given, size):
    if len(given) != size:
        raise ValueError(f"{len(given)} bytes are given")
    return given


def _memory(arg, alive):
    """The address of an array, start and length of the allocation that it is a view of, and whether it may be written; None of what is no
    array."""
    if isinstance(arg, np.generic):
        return None
    if isinstance(arg, np.ndarray):
        return _array(arg, alive)
    if hasattr(arg, "untyped_storage") and hasattr(arg, "data_ptr"):
        return _tensor(arg, alive)
    for interface in ("__cuda_array_interface__", "__array_interface__"):
        described = getattr(arg, interface, None)
        if isinstance(described, dict):
            return _described(described, interface, arg, alive)
    if hasattr(arg, "__dlpack__"):
        return _array(_of_dlpack(arg), alive)
    return None


def _of_dlpack(arg):
    try:
        return np.from_dlpack(arg)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(f"a {type(arg).__name__} that NumPy cannot read by DLPack, which memory of a device is not: {error}") from None


def _buffer(arg, alive):
    """The same of memory that has no shape. Bytes are a value."""
    if not _is_buffer(arg):
        return None
    if not memoryview(arg).c_contiguous:
        raise TypeError(f"a {type(arg).__name__} with gaps between its elements: np.asarray() of it is an array with strides")
    return _array(np.frombuffer(arg, np.uint8), alive)


def checked_type(dtype):
    """Raises where the elements are no numbers that a device has."""
    if dtype.hasobject:
        raise TypeError("an array of Python objects, which no kernel can read: array.astype(np.float32), or another type of numbers")
    if not dtype.isnative:
        raise TypeError(f"an array of {dtype}, whose bytes come in the order of another machine: "
                        "array.astype(array.dtype.newbyteorder('='))")


def _tensor(tensor, alive):
    if tensor.device.type != "cpu":
        raise TypeError(f"a tensor on {tensor.device}: kernels run on CPU tensors")
    for bit in ("conj", "neg"):
        if getattr(tensor, f"is_{bit}")():
            raise TypeError(f"a tensor that is another one's {bit} view, whose memory holds other values: tensor.resolve_{bit}()")
    if str(tensor.layout) != "torch.strided":
        raise TypeError(f"a tensor of layout {tensor.layout}, which has no memory of its own shape: tensor.to_dense()")
    storage = tensor.untyped_storage()
    alive.append(tensor)
    return tensor.data_ptr(), storage.data_ptr(), storage.nbytes(), True


def _array(given, alive):
    checked_type(given.dtype)
    alive.append(given)
    owner = given
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    low, high = np.lib.array_utils.byte_bounds(owner) if hasattr(np.lib, "array_utils") else np.byte_bounds(owner)
    return given.__array_interface__["data"][0], low, high - low, bool(given.flags.writeable)


def _described(described, interface, arg, alive):
    def wrong(what):
        return TypeError(f"its {interface} {what}")

    for key in ("data", "typestr", "shape"):
        if described.get(key) is None:
            raise wrong(f"has no '{key}'")
    shape, strides = described["shape"], described.get("strides")
    try:
        dtype = np.dtype(described["typestr"])
    except TypeError:
        raise wrong(f"has the typestr {described['typestr']!r}, which is no type") from None
    checked_type(dtype)
    try:
        address, is_read_only = described["data"]
        address = operator.index(address or 0)
    except (TypeError, ValueError):
        raise wrong(f"has the data {described['data']!r}, which are no address and whether it is read-only") from None
    if not isinstance(shape, tuple) or not all(isinstance(extent, int) and extent >= 0 for extent in shape):
        raise wrong(f"has the shape {shape!r}, which is no tuple of extents")
    if strides is not None and (not isinstance(strides, tuple) or len(strides) != len(shape)):
        raise wrong(f"has the strides {strides!r} for {len(shape)} dimensions")
    alive.append(arg)
    length = dtype.itemsize
    if 0 in shape:
        length = 0
    elif strides is None:
        length *= math.prod(shape)
    elif any(stride < 0 for stride in strides):
        raise ValueError("an array with negative strides")
    else:
        length += sum((extent - 1) * stride for extent, stride in zip(shape, strides))
    if not 0 <= address <= (1 << 64) - length:
        raise wrong(f"has {length} bytes from address {address} on, which no memory has")
    return address, address, length, not is_read_only

"""Kernels of Numba as PTX, and their arguments as its calling convention has them."""

from __future__ import annotations

import contextlib
import functools
import inspect
from pathlib import Path

import numpy as np

from ._ptxdbg import PtxdbgError


def lowered(kernel, args, name):
    """The PTX of a kernel for these arguments, of several modules where it calls CUDA C++ of Numba's own, its name, and the name and the value of each parameter of the PTX."""
    import numba
    from numba import cuda

    args = [_host_array(arg) for arg in args]
    types = tuple(numba.typeof(arg) for arg in args)
    try:
        with _device():
            text = _compiled(kernel, types, cuda.compile_ptx)
    except Exception as error:
        if "nvvm" not in str(error).lower() and "Failure finding" not in str(error):
            raise
        raise PtxdbgError(f"Numba finds no compiler ({str(error).strip()}): 'pip install numba-cuda[cu13]' brings one, which needs no GPU") from error
    own = inspect.signature(kernel.py_func).parameters
    flat = [(name, value) for name, arg in zip(own, args) for value in _flat(arg)]
    return text, name or f"{kernel.py_func.__name__}.ptx", flat


class _Device:
    """What Numba asks the present device when it compiles functions that a kernel calls."""

    compute_capability = (9, 0)


@contextlib.contextmanager
def _device():
    """Lets Numba compile for a device that is not there."""
    from numba.cuda import dispatcher

    own = getattr(dispatcher, "get_current_device", None)
    if own is None:
        yield
        return
    dispatcher.get_current_device = _Device
    try:
        yield
    finally:
        dispatcher.get_current_device = own


@functools.lru_cache(maxsize=64)
def _compiled(kernel, types, compile_ptx):
    options = {key: value for key, value in getattr(kernel, "targetoptions", {}).items() if key in ("debug", "opt", "fastmath") and value}
    text = compile_ptx(kernel.py_func, types, lineinfo=not options.get("debug"), cc=(9, 0), **options)[0]
    return (text, *_wrappers()) if "__numba_wrapper_" in text else text


@functools.cache
def _wrappers():
    """The functions of half precision that Numba has as CUDA C++, which its linker compiles; none where a version has them otherwise."""
    from numba import cuda

    from .cuda import compile as compiled

    path = Path(cuda.__file__).with_name("cpp_function_wrappers.cu")
    return [compiled(path.read_text(), options=["-rdc=true"], name=path.name).text] if path.is_file() else []


def _host_array(arg):
    """Torch CPU tensors and what offers DLPack are arrays to Numba."""
    if isinstance(arg, (np.ndarray, np.generic)) or not hasattr(arg, "__dlpack__"):
        return arg
    return np.from_dlpack(arg)


def _flat(arg):
    """The parameters that one argument is."""
    if isinstance(arg, np.ndarray):
        # Who manages the memory, and of what it is a view: nothing in a kernel asks.
        return [None, None, arg.size, arg.itemsize, arg, *arg.shape, *arg.strides]
    if isinstance(arg, (tuple, list)):
        return [value for item in arg for value in _flat(item)]
    if isinstance(arg, (bool, int, float, np.bool_, np.number)) and not isinstance(arg, np.complexfloating):
        return [arg]
    raise TypeError(f"a {type(arg).__name__} is passed to a kernel of Numba otherwise than ptxdbg knows: arrays, numbers and tuples are taken")

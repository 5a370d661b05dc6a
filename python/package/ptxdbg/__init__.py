"""Run and debug NVIDIA PTX kernels without a GPU: bit for bit as the hardware would, with their races found.

>>> result = ptxdbg.run(ptx, grid=4, block=128, args=[x, y, 1000])

runs the kernel on the arrays in place; ``result.findings`` says what is wrong with it.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import os
import re
import reprlib
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from ._arguments import collect, element_of, memory_of
from ._ptxdbg import Finding, Module, PtxdbgError, Result, Session, Side, Writer
from ._ptxdbg import run as _run
from ._variables import given_variables

__all__ = ["Finding", "FindingsError", "Module", "PtxdbgError", "Result", "Session", "Side", "Writer", "catch", "reachable", "run"]


class FindingsError(Exception):
    """A kernel has mistakes: raised by runs inside of :func:`catch`."""

    def __init__(self, result):
        self.result = result
        self.findings = [finding for finding in result.findings if finding.severity != "note"]
        super().__init__("\n".join(repr(finding) for finding in self.findings))

    def __reduce__(self):
        # Of the result only the findings go to another process.
        return _restored, (type(self), self.args, self.findings)


def _restored(kind, args, findings):
    """A :class:`FindingsError` as it was pickled: without its result."""
    error = kind.__new__(kind, *args)
    error.args, error.findings, error.result = args, findings, None
    return error


_catching = threading.local()


@contextlib.contextmanager
def catch(notes=False, orders=None):
    """Runs in this block raise :class:`FindingsError` where a kernel has a mistake; with ``notes`` also where it has a note. ``orders``
    is that of runs that do not say it. The block's value is a list with the first result for which that was raised."""
    before = vars(_catching).copy()
    given = {} if orders is None else {"orders": _natural(orders, "orders", 32)}
    vars(_catching).update(given, level="note" if notes else "warning", caught=[])
    try:
        yield _catching.caught
    finally:
        if "caught" in before and not before["caught"]:
            before["caught"].extend(_catching.caught)
        vars(_catching).clear()
        vars(_catching).update(before)


@contextlib.contextmanager
def reachable(*arrays, **named):
    """Kernels that run in this block may use these arrays, whose addresses they find in memory: a table of pointers, a linked list. An
    array that is an argument is reachable without it. ``named`` arrays have their name in findings."""
    alive = []
    ranges = []
    for name, array in [("reachable", array) for array in arrays] + list(named.items()):
        start, length, is_writable = memory_of(array, alive)
        ranges.append((start, length, name, is_writable, element_of(array)))
    before = getattr(_catching, "ranges", [])
    _catching.ranges = before + ranges
    try:
        yield
    finally:
        _catching.ranges = before


def _reachable():
    return getattr(_catching, "ranges", [])


def _three(extents, what):
    """Three extents of one to three."""
    try:
        given = (operator.index(extents),)
    except TypeError:
        try:
            given = tuple(operator.index(extent) for extent in extents)
        except TypeError:
            raise TypeError(f"{what} is an integer, or one to three of them, and not {reprlib.repr(extents)}") from None
    if not 1 <= len(given) <= 3:
        raise ValueError(f"{what} has one to three extents, not {len(given)}")
    return [*(_natural(extent, f"an extent of the {what}", 32) for extent in given), *[1] * (3 - len(given))]


def _natural(value, what, bits):
    """An integer that is not negative, of so many bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is an integer, and not {value!r}") from None
    if not 0 <= number < 1 << bits:
        raise ValueError(f"{what} is an integer from 0 to 2**{bits} - 1, and not {number}")
    return number


def _text(value, what):
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a text, and not {value!r}")
    return value


def _limits(checks, schedule, seed, step_limit, orders):
    """The checkers, the schedule, the seed, the limit of steps and the orders of a run."""
    return {"checks": _text(checks, "checks"), "schedule": _text(schedule, "schedule"), "seed": _natural(seed, "the seed", 64), "orders": _natural(_orders(orders), "orders", 32),
            "step_limit": None if step_limit is None else _natural(step_limit, "step_limit", 64)}


def _orders(orders):
    """How many more runs critical sections may take that are run the other way round."""
    return orders if orders is not None else getattr(_catching, "orders", 1)


def _is_caught(result):
    """Whether findings of this run are raised; notes that it was."""
    level = getattr(_catching, "level", None)
    is_caught = level is not None and any(level == "note" or finding.severity != "note" for finding in result.findings)
    if is_caught and not _catching.caught:
        _catching.caught.append(result)
    return is_caught


#: Modules by text and name: a text that is run often is read once.
_read = functools.lru_cache(maxsize=64)(Module)


def _is_path(text):
    """Whether a text names a file in place of being PTX, which has many lines and words."""
    return "\n" not in text and re.search(r"\.(ptx|cubin|fatbin|cu|so|o|ptxcap)$", text) is not None


def _text_of(path):
    """The PTX of a file."""
    if path.suffix == ".cu":
        raise ValueError(f"{path} is CUDA C++: source=Path({str(path)!r}).read_text()")
    if path.suffix != ".ptx":
        raise ValueError(f"{path} is no text of PTX: 'ptxdbg {path}' opens it, and cuobjdump -ptx writes the PTX that is in it")
    try:
        return path.read_text()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text: {error}") from None


def _text_and_name(ptx):
    """The PTX of a text or of a path, and what it is called in messages."""
    if isinstance(ptx, os.PathLike) or _is_path(ptx):
        path = Path(ptx)
        return _text_of(path), path.name
    return ptx, "kernel.ptx"


def _opened(ptx, kernel, source, options, name, args):
    """The module, the kernel and the arguments of what :func:`run` is given, and their names where the PTX has others."""
    if (ptx is None) == (source is None):
        raise TypeError("one of ptx and source: PTX, or CUDA C++ with the keyword source")
    for value, what in ((kernel, "the name of a kernel"), (name, "the name of a module"), (source, "the source")):
        if value is not None:
            _text(value, what)
    if isinstance(ptx, Module):
        return ptx, kernel, args, None
    if isinstance(ptx, (str, os.PathLike)):
        text, own = _text_and_name(ptx)
        if "__global__" in text and ".entry" not in text:
            raise ValueError("the text is CUDA C++, and not PTX: ptxdbg.run(source=text) compiles it")
        return _read(text, name or own), kernel, args, None
    if isinstance(ptx, (list, tuple)) and ptx and all(isinstance(part, (str, os.PathLike)) for part in ptx):
        texts, names = zip(*map(_text_and_name, ptx))
        has_names = name is None and len(set(names)) == len(names)
        return _read(texts, names if has_names else name or names[0]), kernel, args, None
    if source is None and hasattr(ptx, "py_func"):
        from ._numba import lowered

        text, name, named = lowered(ptx, args, name)
        return _read(text, name), None, [value for _, value in named], [own for own, _ in named]
    if source is None and isinstance(getattr(ptx, "code", None), str):
        # A RawKernel of CuPy, or a RawModule, which has no name.
        source, kernel, options = ptx.code, kernel or getattr(ptx, "name", None), (*ptx.options, *_headers_of(ptx), *options)
    if source is None:
        raise TypeError(f"a {type(ptx).__name__} is no kernel: PTX as text or Module, a list of texts, a kernel of Numba or a RawKernel of CuPy is")
    from .cuda import compile as compiled
    from .cuda import parameter_names

    module = compiled(source, options=options, name=name or "kernel.cu", instances=[kernel] if kernel and "<" in kernel else ())
    return module, kernel, args, parameter_names(source, module.params(kernel)[0])


def _headers_of(kernel):
    """The option for the headers of the library that a kernel is of: CuPy's are in its package."""
    package = sys.modules.get(type(kernel).__module__.partition(".")[0])
    folder = Path(getattr(package, "__file__", None) or "").parent / "_core" / "include"
    return [f"-I{folder}"] if folder.is_dir() else []


def run(ptx=None, kernel=None, *, source=None, grid=1, block=1, args=(), shared=0, cluster=None, cooperative=False, checks="all",
        schedule="in-order", seed=0, step_limit=None, orders=None, options=(), name=None, variables=None):
    """Runs a kernel and returns what it came to.

    ``ptx`` is a text, the path of one, a list of several that are linked, or a :class:`Module`, a kernel of Numba, or a RawKernel or RawModule of CuPy; or ``source`` is CUDA
    C++, which is compiled with ``options`` (:func:`ptxdbg.cuda.compile`), and ``kernel`` may be an instance of a template, `scale<float>`.

    ``args`` are the parameters in order: NumPy arrays, torch CPU tensors and what offers DLPack or an array interface are passed by
    address, and updated in place, as are ``bytearray``, ``array.array`` and other buffers, and ctypes arrays; views of one array alias as they do on a device,
    and a kernel that writes to a read-only array is refused. Numbers are converted to the type of the parameter, arrays without dimensions
    too where it cannot be an address; ``bytes`` and ctypes structures are taken as they are. Ctrl-C ends the run.

    ``variables`` are contents of ``__device__`` and ``__constant__`` variables, by their names in the source or in the module: an array,
    whose elements may be the first ones alone, numbers in a list, a number, or ``bytes``. Arrays hold what the kernel leaves there.

    As many more runs as ``orders``, 1 without it, are made at most for critical sections of one lock that came in one order only, which
    are run the other way round; they cost nothing where there are none.
    """
    # A test that fails in here is shown where it calls it.
    __tracebackhide__ = True
    if isinstance(args, (str, bytes)) or not isinstance(args, Iterable):
        raise TypeError(f"args are the arguments in a list, and not {args!r}")
    module, kernel, args, names = _opened(ptx, kernel, source, options, name, list(args))
    full_name, params = module.params(kernel)
    if names and len(names) == len(params):
        params = [(own, kind, size) for own, (_, kind, size) in zip(names, params)]
    values, ranges, _alive = collect(params, args, module.text, module.elements(full_name))
    given, after = given_variables(module, variables or {})
    result = _run(module, full_name, _three(grid, "grid"), _three(block, "block"), values, ranges + _reachable(),
                  cluster=None if cluster is None else _three(cluster, "cluster"), shared=_natural(shared, "shared", 32),
                  cooperative=bool(cooperative), variables=given, **_limits(checks, schedule, seed, step_limit, orders))
    for write, made in zip(after, result._variables):
        if write is not None:
            write(made)
    if _is_caught(result):
        raise FindingsError(result)
    return result


if os.environ.get("PTXDBG_TRITON") == "1":
    from .triton import install as _install

    _install()

"""What kernels leave in arrays, compared with a reference; what wrote the first element that is wrong."""

from __future__ import annotations

import inspect
import linecache
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

#: rtol and atol by type, those of torch.testing.assert_close.
_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}


class MismatchError(AssertionError):
    """Kernels leave something else in an array than the reference has. ``name`` and ``index`` are those of the first wrong element,
    ``value`` is what it is and ``expected`` what it should be; ``wrong`` elements of ``size`` differ. ``writer`` is the thread that wrote it,
    ``result`` that of the kernel that did, or of the last one."""

    def __init__(self, text, **fields):
        super().__init__(text)
        self.__dict__.update(fields)


MismatchError.__module__ = "ptxdbg.triton"


class Recorder:
    """The kernels that run, and their arrays as they were before."""

    def __init__(self):
        self.results, self._files = [], set()
        # By name: the array, and a copy from before the first kernel that takes it.
        self.arrays = {}

    def before(self, named):
        for name, array in named:
            base = getattr(array, "base", None)
            if not isinstance(array, np.ndarray) and not hasattr(array, "data_ptr") and base is not None:
                # A descriptor of a tensor.
                array = base
            if isinstance(array, np.ndarray):
                self.arrays.setdefault(name, (array, array.copy()))
            elif _is_array(array):
                self.arrays.setdefault(name, (array, array.clone()))

    def after(self, result, file):
        self.results.append(result)
        self._files.add(file)

    def line(self, place):
        """The text of a source line, `count.py:10`, of the files that kernels are in."""
        name, _, line = place.rpartition(":")
        file = next((file for file in self._files if file and Path(file).name == name), None)
        return linecache.getline(file, int(line)).strip() if file is not None and line.isdecimal() else ""

    def written(self):
        """The arrays that kernels wrote to, with their names."""
        named = [(name, array) for name, (array, _) in self.arrays.items() if _plain(array).size]
        ranges = [_span(array) for _, array in named]
        writers = zip(*(result.writers(ranges) for result in self.results))
        return [one for one, found in zip(named, writers) if any(writer is not None for writer in found)]

    def writer(self, address, size):
        """The last thread that wrote there, and the result of its kernel; None and the last result where no kernel did."""
        for result in reversed(self.results):
            found = result.writers([(address, size)])[0]
            if found is not None:
                return found, result
        return None, self.results[-1]


def compare(recorder, returned, reference, rtol, atol):
    """Raises :class:`MismatchError` where an array is not as the reference says."""
    __tracebackhide__ = True
    for name, array, expected in _pairs(recorder, returned, reference):
        got, expected = _plain(array), _plain(expected)
        if got.shape != expected.shape:
            raise ValueError(f"'{name}' has the shape {got.shape}, and the reference {expected.shape}")
        wrong, tolerance = _wrong(array, got, expected, rtol, atol)
        if wrong.any():
            raise _mismatch(recorder, (name, array), got, expected, (wrong, tolerance))


def _pairs(recorder, returned, reference):
    """Names, arrays and what is expected of them."""
    arrays = {name: array for name, (array, _) in recorder.arrays.items()}
    if callable(reference):
        wanted = inspect.signature(reference).parameters.values()
        absent = [one.name for one in wanted if one.name not in arrays and one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
        if absent:
            raise TypeError(f"the reference takes '{absent[0]}', and the arrays of the kernels are {_listed(arrays)}")
        copies = {one.name: _copy(recorder.arrays[one.name][1]) for one in wanted if one.name in arrays}
        reference = reference(**copies)
        if reference is None:
            reference = {name: copy for name, copy in copies.items() if _differs(copy, recorder.arrays[name][1])}
            if not reference:
                raise ValueError("the reference returns nothing and changes no array: nothing is compared")
    if isinstance(reference, Mapping):
        absent = {name: None for name in reference if name not in arrays}
        if absent or not reference:
            raise ValueError(f"the reference has {_listed(absent)}, and the arrays of the kernels are {_listed(arrays)}")
        return [(name, arrays[name], expected) for name, expected in reference.items()]
    if reference is None or isinstance(reference, str):
        raise TypeError(f"the reference is arrays, by the names of parameters for instance, and not {reference!r}")
    expected = list(reference) if isinstance(reference, (tuple, list)) else [reference]
    outputs = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    # A launch as such returns the compiled kernel.
    is_returned = bool(outputs) and all(_is_array(output) for output in outputs)
    if is_returned:
        named = [("the result" if len(outputs) == 1 else f"result {number}", array) for number, array in enumerate(outputs)]
    else:
        named = recorder.written()
    if len(named) != len(expected):
        have = f"the call returns {len(named)} arrays" if is_returned else f"the kernels write {_listed(dict(named))}"
        raise ValueError(f"the reference has {len(expected)} arrays, and {have}: give it as a dict with the names of parameters")
    return [(name, array, value) for (name, array), value in zip(named, expected)]


def _is_array(value):
    return isinstance(value, np.ndarray) or (hasattr(value, "data_ptr") and hasattr(value, "clone"))


def _listed(arrays):
    return ", ".join(f"'{name}'" for name in arrays) or "none"


def _copy(array):
    return array.copy() if isinstance(array, np.ndarray) else array.clone()


def _differs(array, before):
    return _plain(array).tobytes() != _plain(before).tobytes()


def _plain(array):
    """An array of NumPy."""
    if not hasattr(array, "data_ptr"):
        return np.asarray(array)
    array = array.detach().cpu()
    # NumPy has no type for those of 8 and 16 bits that are not IEEE's.
    if array.dtype.is_floating_point and str(array.dtype) not in ("torch.float16", "torch.float32", "torch.float64"):
        array = array.float()
    return array.numpy()


def _wrong(array, got, expected, rtol, atol):
    """Which elements are wrong, and within what they may differ."""
    if rtol is None:
        rtol, atol = _TOLERANCES.get(str(array.dtype).removeprefix("torch."), (0.0, 0.0))
    if got.dtype.kind in "biu" and expected.dtype.kind in "biu" and not rtol and not atol:
        return got != expected, (rtol, atol)
    wide = np.complex128 if "c" in (got.dtype.kind, expected.dtype.kind) else np.float64
    return ~np.isclose(got.astype(wide), expected.astype(wide), rtol=rtol, atol=atol, equal_nan=True), (rtol, atol)


def _mismatch(recorder, named, got, expected, compared):
    (name, array), (wrong, (rtol, atol)) = named, compared
    index = tuple(int(at) for at in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    writer, result = recorder.writer(*_element(array, index))
    subscript = f"[{', '.join(map(str, index))}]" if index else ""
    lines = [f"{name}{subscript} is {got[index]}, and the reference has {expected[index]}",
             f"  {int(wrong.sum()):,} of {wrong.size:,} elements differ by more than {atol:g} + {rtol:g} of the reference"]
    if writer is None:
        lines.append("  no kernel wrote it")
    else:
        place, source = re.fullmatch(r"(.*?)(?: \((.*)\))?", writer.place).groups()
        text = recorder.line(source) if source else ""
        lines.append(f"  written at {source or place}{': ' * bool(text)}{text}")
        where = f"{place}, " * bool(source)
        lines.append(f"  by {where}block {writer.block}, thread {writer.thread}, t={writer.tick:,}")
    fields = {"name": name, "index": index, "value": got[index], "expected": expected[index], "wrong": int(wrong.sum())}
    return MismatchError("\n".join(lines), **fields, size=wrong.size, writer=writer, result=result)


def _span(array):
    """The address and the bytes of all of an array."""
    last, size = _element(array, tuple(extent - 1 for extent in array.shape))
    first = _element(array, (0,) * len(array.shape))[0]
    return min(first, last), abs(last - first) + size


def _element(array, index):
    """The address and the bytes of an element."""
    if isinstance(array, np.ndarray):
        return array.__array_interface__["data"][0] + sum(at * stride for at, stride in zip(index, array.strides)), array.itemsize
    size = array.element_size()
    return array.data_ptr() + size * sum(at * stride for at, stride in zip(index, array.stride())), size

"""Contents of ``__device__`` and ``__constant__`` variables: what is given for them before a run, and what arrays hold after it."""

from __future__ import annotations

import ctypes
import numbers
from collections.abc import Mapping

import numpy as np

from ._arguments import as_bytes, checked_elements, element_of, is_array, number_bytes


def given_variables(module, given):
    """For each variable that is given a value its name, the type of its elements, its bytes and whether the value may be written; and what
    must be done with the bytes that it holds after the run."""
    if not isinstance(given, Mapping):
        raise TypeError(f"variables are a dict of names and contents, and not {given!r}")
    known = module.variables() if given else []
    words, after = [], []
    for name, value in given.items():
        found = [one for one in known if name in (one[0], one[1])]
        found = [one for one in found if one[0] == name] or found
        if len(found) != 1:
            raise ValueError(_unknown(name, found, known))
        full, _, element, size, _ = found[0]
        try:
            made, own, keep = _contents(value, element, size)
        except (TypeError, ValueError, OverflowError) as error:
            raise type(error)(f"variable {_described(found[0])}: {error}") from None
        words.append((full, own or element, made, keep is not None))
        after.append(keep)
    return words, after


def _unknown(name, found, known):
    if found:
        return f"several variables are called '{name}': {', '.join(one[0] for one in found)}"
    if not known:
        return f"there is no variable '{name}': the module declares no .const or .global variable"
    return f"there is no .const or .global variable '{name}'; variables: {', '.join(_described(one) for one in known)}"


def _described(variable):
    _, short, element, size, width = variable
    if element is None:
        return f"{short} ({size} bytes)"
    return f"{short} ({element})" if size == width else f"{short} ({element}[{size // width}])"


def _unchanged(_):
    """Takes what the run leaves where the value is no array."""


def _contents(value, element, size):
    """The bytes of a value, the type of its elements where it has one, and what takes the bytes that the run leaves; None of an array that
    may only be read."""
    if isinstance(value, (bytes, np.void, ctypes.Structure, ctypes.Union, ctypes._SimpleCData)):
        return _fitting(bytes(value), size), None, _unchanged
    if is_array(value):
        checked_elements(value, element and (element, False))
        made, write = as_bytes(value)
        _fitting(made, size)
        return made, element_of(value), write
    if isinstance(value, (list, tuple)):
        if element is None:
            raise TypeError("it is declared by the byte, and the code does not show which elements it has: pass an array")
        return _fitting(b"".join(number_bytes(item, element) for item in value), size), None, _unchanged
    if element is None or not isinstance(value, (numbers.Number, np.generic)):
        raise TypeError(f"a {type(value).__name__} is no value of it: an array is, numbers in a list, and bytes")
    made = number_bytes(value, element)
    if len(made) != size:
        count = size // len(made)
        raise ValueError(f"one number for {count} elements: all of them are [{value}] * {count}, the first alone is [{value}]")
    return made, None, _unchanged


def _fitting(made, size):
    if len(made) > size:
        raise ValueError(f"{len(made)} bytes are given for {size}")
    return made

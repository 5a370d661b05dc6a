"""A plugin of pytest: where there is a GPU of compute capability 9.0, each Triton kernel that runs here runs there as well, on a copy of the
same memory, and all bytes that both leave are compared.

    PYTHONPATH=python/third_party python -m pytest -p gpu_bits python/third_party/tutorials.py -k sm_90

The test report ends with a table, a row for each kernel: launches, those that are equal, bytes, and bytes that differ. Kernels whose
result depends on the order of their programs may differ; all others are errors, which fail the run.
"""

import collections
import ctypes
import functools

import pytest
import torch
import triton
from triton.runtime import driver, jit

import ptxdbg.triton

#: Kernels that add floats under a lock: the order of their programs is another one on each run.
IN_ANY_ORDER = {"norm_backward"}

_rows = collections.defaultdict(collections.Counter)
_native = None


def _storages(value):
    """The tensors that an argument leads to."""
    if isinstance(value, torch.Tensor):
        return [value]
    base = getattr(value, "base", None)
    return [base] if isinstance(base, torch.Tensor) else []


class Twins:
    """Copies of the memory of tensors on the GPU."""

    def __init__(self, tensors):
        self._by_start = {}
        for start, length, *_ in ptxdbg._reachable():
            host = torch.frombuffer(bytearray(ctypes.string_at(start, length)), dtype=torch.uint8)
            self._by_start[start] = (None, host.cuda())
        for tensor in tensors:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in self._by_start:
                self._by_start[storage.data_ptr()] = (storage, _bytes(storage).cuda())
        for start, (storage, twin) in list(self._by_start.items()):
            if storage is not None:
                self._relocate(storage, twin)

    def _relocate(self, storage, twin):
        """A table of addresses holds those of the twins."""
        if storage.nbytes() % 8 or not storage.nbytes():
            return
        words = _bytes(storage).view(torch.int64)
        if all(word in self._by_start for word in words.tolist()):
            twin.copy_(torch.tensor([self._by_start[word][1].data_ptr() for word in words.tolist()]).view(torch.uint8))
            self._by_start[storage.data_ptr()] = (None, twin)

    def of(self, value):
        """The argument with the twins in place of its tensors."""
        if isinstance(value, torch.Tensor):
            _, twin = self._by_start[value.untyped_storage().data_ptr()]
            empty = torch.empty(0, dtype=value.dtype, device="cuda")
            return empty.set_(twin.untyped_storage(), value.storage_offset(), value.shape, value.stride())
        if _storages(value):
            fields = {name: getattr(value, name) for name in ("shape", "strides", "block_shape", "padding") if hasattr(value, name)}
            return type(value)(self.of(value.base), **fields)
        return value

    def compared(self):
        """How many bytes there are, and how many of them differ."""
        pairs = [(_bytes(storage), twin.cpu()) for storage, twin in self._by_start.values() if storage is not None]
        reachable = [(start, twin.cpu()) for start, (storage, twin) in self._by_start.items() if storage is None]
        known = {start for start, *_ in ptxdbg._reachable()}
        pairs += [(torch.frombuffer(bytearray(ctypes.string_at(start, twin.numel())), dtype=torch.uint8), twin)
                  for start, twin in reachable if start in known]
        return sum(twin.numel() for _, twin in pairs), sum(int((host != twin).sum()) for host, twin in pairs)


def _bytes(storage):
    return torch.empty(0, dtype=torch.uint8).set_(storage)


def _both(own):
    """Runs a kernel on the GPU, then here, and compares."""
    @functools.wraps(own)
    def run(self, *args, **kwargs):
        here = driver.active
        if not hasattr(here, "executed") or here.get_current_target().arch != 90 or kwargs.get("warmup"):
            return own(self, *args, **kwargs)
        tensors = [tensor for value in (*args, *kwargs.values()) for tensor in _storages(value)]
        twins = Twins(tensors)
        driver.set_active(_native)
        triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
        try:
            own(self, *map(twins.of, args), **{name: twins.of(value) for name, value in kwargs.items()})
            torch.cuda.synchronize()
        finally:
            driver.set_active(here)
        made = own(self, *args, **kwargs)
        count, wrong = twins.compared()
        _rows[self.fn.__name__].update(launches=1, equal=wrong == 0, bytes=count, differ=wrong)
        return made

    return run


def pytest_configure(config):
    global _native
    _native = driver.active
    ptxdbg.triton.install()
    jit.JITFunction.run = _both(jit.JITFunction.run)
    jit.JITFunction.run._of_ptxdbg = True


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"bits of {torch.cuda.get_device_name()}: kernel, launches, equal, bytes, bytes that differ")
    for name, row in _rows.items():
        note = " (in any order)" if name in IN_ANY_ORDER else ""
        terminalreporter.write_line(f"{name:24} {row['launches']:4} {row['equal']:4} {row['bytes']:9} {row['differ']:9}{note}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if any(row["differ"] for name, row in _rows.items() if name not in IN_ANY_ORDER):
        session.exitstatus = 1

"""Triton kernels without a GPU.

>>> import ptxdbg.triton
>>> ptxdbg.triton.install()

makes ptxdbg the driver of Triton: ``kernel[grid](x, y, n)`` compiles as for a device and runs the PTX here, on NumPy arrays and torch CPU
tensors. What is wrong with the kernel is raised at the call, the line of the Python source first. ``python -m ptxdbg.triton FILE`` does so
for a script, and PTXDBG_TRITON=1 for every process that imports ptxdbg.
"""

from __future__ import annotations

import functools
import inspect
import re
import struct
import sys
from pathlib import Path

import numpy as np

from . import FindingsError, Module, _is_caught, _limits, _orders, _reachable, _three
from ._arguments import _memory, checked_type, element_of
from ._compare import MismatchError, Recorder, compare
from ._ptxdbg import run as _run
from ._ptxdbg import tensor_map as _tensor_map

__all__ = ["MismatchError", "TritonFindingsError", "check", "install", "last", "run"]

_WARP = 32
_INTEGERS = {"i1": 1, "u1": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8}
_FLOATS = {"fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d"}

#: The result of the last kernel that ran.
last = None

#: What notes the kernels that run, inside of :func:`check`.
_recorder = None


class TritonFindingsError(FindingsError):
    """A kernel has mistakes; the message begins with the line of the Python source."""

    def __init__(self, result, kernel):
        super().__init__(result)
        first = (self.findings or result.findings)[0]
        side = first.second or first.first
        place = side.source if side is not None and side.source else kernel
        self.args = (f"{place}: {first.id}: {first.message}\n{self.args[0]}",)


class _Array:
    """A NumPy array as Triton wants a tensor to be."""

    def __init__(self, array):
        checked_type(array.dtype)
        self.array = array
        self.dtype = array.dtype
        self.shape = array.shape

    def data_ptr(self):
        return self.array.__array_interface__["data"][0]

    def element_size(self):
        return self.array.itemsize

    def stride(self, dimension=None):
        strides = tuple(stride // self.array.itemsize for stride in self.array.strides)
        return strides if dimension is None else strides[dimension]

    # What autotuning does to arrays between its runs.

    def clone(self):
        return _Array(self.array.copy())

    def copy_(self, other):
        self.array[...] = other.array

    def zero_(self):
        self.array.fill(0)


class _Function:
    """A kernel that was loaded: the launcher finds its PTX."""

    def __init__(self, name):
        self.name = name


def _attribute(binary, number):
    """The largest value that `.nv.info` of what ptxas made gives a function for an attribute: 0x2f of registers, 0x11 of the bytes of a
    stack frame; 0 where there is none."""
    if binary[:4] != b"\x7fELF":
        return 0
    (sections,), (size, count, names) = struct.unpack_from("<Q", binary, 0x28), struct.unpack_from("<3H", binary, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", binary, sections + index * size) for index in range(count)]
    of_names, found = headers[names][4], 0
    for name, _, _, _, start, length in headers:
        if not binary.startswith(b".nv.info\0", of_names + name):
            continue
        at = start
        while at + 4 <= start + length:
            form, attribute, value = struct.unpack_from("<BBH", binary, at)
            # Only the fourth form has a value of its own length: here a symbol and a number.
            if (form, attribute, value) == (4, number, 8):
                found = max(found, struct.unpack_from("<I", binary, at + 8)[0])
            at += 4 + (value if form == 4 else 0)
    return found


class _Event:
    """A point in time of a device: instructions of threads, a nanosecond each, as autotuning counts them."""

    def __init__(self, driver, enable_timing=True, **_):
        self._driver, self._at = driver, 0

    def record(self, stream=None):
        self._at = self._driver.executed

    def elapsed_time(self, end):
        # What launches nothing takes some time too.
        return max(end._at - self._at, 1) * 1e-6

    def synchronize(self):
        pass

    def query(self):
        return True


class _Device:
    """What measuring asks of a device."""

    def __init__(self, driver):
        self.Event = functools.partial(_Event, driver)

    def synchronize(self, device=None):
        pass

    def current_device(self):
        return 0

    def __getattr__(self, name):
        import torch

        return getattr(torch.cpu, name)


class _Utils:
    """What Triton asks of a driver's library."""

    def __init__(self, arch):
        self._arch = arch

    def load_binary(self, name, kernel, shared, device):
        # The most that a thread can have, where the binary does not say.
        registers, frame = _attribute(kernel, 0x2F) or 255, _attribute(kernel, 0x11)
        function = _Function(name)
        # With a module Triton keeps the launcher for the launches that follow.
        return function, function, registers, frame // 4, 1024

    def unload_module(self, module):
        pass

    def get_device_properties(self, device):
        shared = {80: 163, 86: 99, 89: 99}.get(self._arch, 227) << 10
        return {"max_shared_mem": shared, "max_num_regs": 65536, "multiprocessor_count": 132, "warpSize": _WARP,
                "sm_clock_rate": 1_980_000, "mem_clock_rate": 2_619_000, "mem_bus_width": 5120}

    def fill_tma_descriptor(self, address, swizzle, size, element, tile, shape, strides, padding):
        steps = [size * stride for stride in strides[:-1]]
        return bytes(_tensor_map(address, element, list(shape), steps, list(tile), swizzle, padding))

    def set_printf_fifo_size(self, size):
        pass


def _flat(names, types, args):
    """Names, types and values of a signature with tuples, one after the other; constants have no value in the kernel."""
    for name, kind, arg in zip(names, types, args):
        if isinstance(kind, (tuple, list)):
            yield from _flat([f"{name}[{index}]" for index in range(len(kind))], kind, arg)
        elif kind != "constexpr":
            yield name, kind, arg


def _pointer(name, arg, ranges, alive):
    """The address of a tensor, whose allocation is added to ``ranges``."""
    if arg is None:
        return 0
    if isinstance(arg, int):
        return arg
    array = arg.array if isinstance(arg, _Array) else arg
    found = _memory(array, alive)
    if found is None:
        # A tensor that is read as one of another type.
        return _pointer(name, arg.base, ranges, alive)
    start, length, is_writable = found[1:]
    ranges.append((start, length, name, is_writable, element_of(array)))
    return found[0]


def _scalar(kind, arg):
    """The bytes of a number of a Triton type."""
    if kind in _FLOATS:
        return struct.pack(_FLOATS[kind], float(arg))
    if kind == "bf16":
        return struct.pack("<f", float(arg))[2:]
    size = _INTEGERS[kind]
    return (int(arg) % (1 << 8 * size)).to_bytes(size, "little")


def _descriptor(kind, arg, meta, utils):
    """What a host tensor descriptor is as parameters."""
    shape, strides = list(arg.shape), list(arg.strides)
    tail = [("i32", extent) for extent in shape] + [("i64", stride) for stride in strides]
    if meta is None:
        element = re.match(r"tensordesc<([^[>]*)", kind).group(1)
        head = [("*" + element, arg.base)] + [("i64", extent) for extent in shape] + [("i64", stride) for stride in strides]
        # Later versions say how floats are rounded.
        rounds = [("i1", arg.round_f32_to_tf32)] if hasattr(arg, "round_f32_to_tf32") else []
        return head + [("i1", arg.padding == "nan")] + rounds + tail
    # The device numbers types otherwise than the host.
    number = {8: 10, 9: 8, 10: 9}.get(meta["elem_type"], meta["elem_type"])
    number = 11 if getattr(arg, "round_f32_to_tf32", False) else number
    inner = shape[:-1] + [shape[-1] * 2] if meta["fp4_padded"] else shape
    padding = 1 if arg.padding == "nan" else 0
    base = arg.base.data_ptr() if hasattr(arg.base, "data_ptr") else _Array(arg.base).data_ptr()
    made = utils.fill_tma_descriptor(base, meta["swizzle"], meta["elem_size"], number, meta["block_size"], inner, strides, padding)
    return [("nvTmaDesc", (made, arg.base))] + tail


class _Launcher:
    """Launches one compiled kernel."""

    def __init__(self, driver, src, metadata):
        self._driver = driver
        self._names = list(src.signature)
        self._source = getattr(getattr(getattr(src, "fn", None), "fn", None), "__code__", None)
        self._signature = list(src.signature.values())
        self._metadata = metadata
        self._module = None

    def _active(self):
        """The driver that is installed now: Triton keeps launchers of kernels that another one has loaded."""
        from triton.runtime import driver

        return driver.active if hasattr(driver.active, "executed") else self._driver

    def _ptx(self):
        if self._module is None:
            from triton.runtime.cache import get_cache_manager

            name = self._metadata.name
            # Triton cuts the names of files.
            stem = name[:150]
            manager = get_cache_manager(self._metadata.hash)
            files = manager.get_group(f"{stem}.json") or {}
            path = files.get(f"{stem}.ptx") or manager.get_file(f"{stem}.ptx")
            if path is None:
                raise RuntimeError(f"the PTX of {name} is not in Triton's cache")
            ttgir = Path(path).with_suffix(".ttgir")
            self._module = Module(Path(path).read_text(), f"{name}.ptx", ttgir.read_text() if ttgir.is_file() else None)
        return self._module

    def _params(self, args, params):
        """The bytes of all parameters, the memory that they lead to, and what must stay alive."""
        metas = list(getattr(self._metadata, "tensordesc_meta", None) or [])
        typed = []
        for name, kind, arg in _flat(self._names, self._signature, args):
            if kind.startswith("tensordesc"):
                parts = _descriptor(kind, arg, metas.pop(0) if metas else None, self._driver.utils)
                typed.extend((name, *part) for part in parts)
            else:
                typed.append((name, kind, arg))
        values, ranges, alive = [], [], []
        for (name, kind, arg), (_, _, size) in zip(typed, params):
            if kind == "nvTmaDesc":
                made, base = arg
                _pointer(name, base, ranges, alive)
                values.append(made)
            elif kind.startswith("*"):
                values.append(_pointer(name, arg, ranges, alive).to_bytes(size, "little"))
            else:
                values.append(_scalar(kind, arg).ljust(size, b"\0"))
        return values, ranges, alive

    def __call__(self, grid_x, grid_y, grid_z, stream, function, packed_metadata, launch_metadata, enter_hook, exit_hook, *args):
        global last
        # A test that fails is shown where it calls the kernel.
        __tracebackhide__ = True
        grid_x, grid_y, grid_z = _three((grid_x, grid_y, grid_z), "grid")
        if grid_x * grid_y * grid_z == 0:
            return
        meta, module, driver = self._metadata, self._ptx(), self._active()
        _, params = module.params(meta.name)
        values, ranges, alive = self._params(args, params)
        ctas = getattr(meta, "num_ctas", 1)
        for size in (meta.global_scratch_size, meta.profile_scratch_size)[: len(params) - len(values)]:
            # Tensor maps lie there, which are aligned to 128 bytes.
            scratch = np.zeros(grid_x * grid_y * grid_z * ctas * size + 128, np.uint8)
            address = -(-scratch.__array_interface__["data"][0] // 128) * 128
            alive.append(scratch)
            if size:
                ranges.append((address, scratch.size - 128, "scratch", True, None))
            values.append((address if size else 0).to_bytes(8, "little"))
        cluster = tuple(getattr(meta, "cluster_dims", None) or (ctas, 1, 1)) if ctas > 1 else None
        if _recorder is not None:
            _recorder.before(zip(self._names, (arg.array if isinstance(arg, _Array) else arg for arg in args)))
        if enter_hook is not None:
            enter_hook(launch_metadata)
        options = dict(driver.options)
        options["orders"] = _orders(options["orders"])
        result = _run(module, meta.name, [grid_x * ctas, grid_y, grid_z], [_WARP * meta.num_warps, 1, 1], values, ranges + _reachable(),
                      cluster=cluster and list(cluster), shared=meta.shared,
                      cooperative=bool(getattr(meta, "launch_cooperative_grid", False)), **options)
        if exit_hook is not None:
            exit_hook(launch_metadata)
        last = result
        if _recorder is not None:
            _recorder.after(result, self._source.co_filename if self._source is not None else None)
        driver.executed += result.thread_instructions
        if result.printed:
            sys.stdout.write(result.printed.decode(errors="replace"))
        if _is_caught(result) or any(finding.severity != "note" for finding in result.findings):
            raise TritonFindingsError(result, meta.name)


def _driver(arch, options):
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase

    class Driver(DriverBase):
        """Triton's active driver while ptxdbg is installed."""

        def __init__(self):
            super().__init__()
            self.utils = _Utils(arch)
            self.launcher_cls = functools.partial(_Launcher, self)
            self.options = options
            # Instructions of threads so far, which stand for time.
            self.executed = 0

        @classmethod
        def is_active(cls):
            return True

        def map_python_to_cpp_type(self, ty):
            return ty

        def get_current_target(self):
            return GPUTarget("cuda", arch, _WARP)

        def get_current_device(self):
            # Triton keeps what it has compiled by device.
            return arch

        def set_current_device(self, device):
            pass

        def get_current_stream(self, device=None):
            return 0

        def get_device_capability(self, device=None):
            return arch // 10, arch % 10

        def get_active_torch_device(self):
            import torch

            return torch.device("cpu")

        def get_device_interface(self):
            return _Device(self)

        def get_empty_cache_for_benchmark(self):
            return np.zeros(1, np.int32)

        def clear_cache(self, cache):
            pass

        def get_benchmarker(self):
            def benchmark(call, *, quantiles=None, return_mode="mean", **_):
                before = self.executed
                call()
                # A time that orders configurations: a nanosecond an instruction.
                elapsed = (self.executed - before) * 1e-6
                return [elapsed] * (len(quantiles) if quantiles else 1) if quantiles or return_mode == "all" else elapsed

            return benchmark

    return Driver()


def _wrapped(name, arg):
    """An argument as Triton takes it: NumPy arrays as tensors, those in tuples too."""
    if isinstance(arg, tuple):
        items = [_wrapped(name, item) for item in arg]
        return type(arg)(*items) if hasattr(arg, "_fields") else type(arg)(items)
    is_array = isinstance(arg, np.ndarray)
    if not is_array and not (hasattr(arg, "data_ptr") and hasattr(arg, "dtype")):
        return arg
    word = str(arg.dtype).rpartition(".")[2]
    try:
        made = _Array(arg) if is_array else arg
    except TypeError as error:
        raise TypeError(f"argument '{name}': {error}") from None
    if word not in _known_types():
        advice = "its fields as arrays of their own" if is_array and arg.dtype.names else "x.view() as another type of as many bytes"
        raise TypeError(f"argument '{name}': Triton has no type for elements of {word}: pass {advice}")
    return made


@functools.cache
def _known_types():
    """The types of elements that Triton has."""
    from triton._utils import type_canonicalisation_dict

    return frozenset(type_canonicalisation_dict)


def _counts(testing):
    """Lets `triton.testing` count instructions while ptxdbg is the driver: every run has as many, so one is enough."""
    import triton

    own = testing.do_bench

    @functools.wraps(own)
    def do_bench(fn, *args, **kwargs):
        driver = triton.runtime.driver.active
        if not hasattr(driver, "executed"):
            return own(fn, *args, **kwargs)
        given = inspect.signature(own).bind(fn, *args, **kwargs).arguments
        return driver.get_benchmarker()(fn, **{name: given[name] for name in ("quantiles", "return_mode") if name in given})

    testing.do_bench = do_bench
    for name in ("do_bench_cudagraph", "do_bench_proton", "do_bench_cudagraph_proton"):
        if hasattr(testing, name):
            setattr(testing, name, _refusing(name, getattr(testing, name)))


def _refusing(name, own):
    """What measures a device only, which says so while ptxdbg is the driver."""
    @functools.wraps(own)
    def measure(*args, **kwargs):
        import triton

        if hasattr(triton.runtime.driver.active, "executed"):
            raise RuntimeError(f"triton.testing.{name} measures a device, and ptxdbg runs kernels without one: triton.testing.do_bench "
                               "counts instructions in place of time")
        return own(*args, **kwargs)

    return measure


def _tunes(autotuner):
    """Lets an autotuner restore and clear NumPy arrays."""
    own = autotuner.run

    @functools.wraps(own)
    def run(self, *args, **kwargs):
        # Without one of the two no array is touched.
        names = {*(self.restore_value or ()), *(self.reset_to_zero or ())}
        given = [_wrapped(name, arg) if name in names else arg for name, arg in zip(self.arg_names, args)]
        return own(self, *given, *args[len(given) :], **{name: _wrapped(name, arg) if name in names else arg for name, arg in kwargs.items()})

    autotuner.run = run


def _arch_number(arch):
    """An architecture as Triton has it: 90 for itself, "sm_90" and "sm_90a"."""
    found = re.fullmatch(r"(?:sm_?|compute_)?(\d{2,3})[af]?", str(arch))
    if found is None:
        raise ValueError(f"arch is a number such as 90, or 'sm_90', and not {arch!r}")
    return int(found.group(1))


def install(arch=90, *, checks="all", schedule="in-order", seed=0, step_limit=None, orders=None):
    """Makes ptxdbg the driver of Triton in this process; kernels are compiled for ``sm_<arch>``, and run as :func:`ptxdbg.run` says."""
    import triton
    from triton import testing
    from triton.runtime import autotuner, jit

    arch = _arch_number(arch)
    _limits(checks, schedule, seed, step_limit, orders)
    options = {"checks": checks, "schedule": schedule, "seed": seed, "step_limit": step_limit, "orders": orders}
    driver = _driver(arch, options)
    driver.told = {"arch": arch, **options}
    triton.runtime.driver.set_active(driver)
    if getattr(jit.JITFunction.run, "_of_ptxdbg", False):
        return
    own = jit.JITFunction.run

    @functools.wraps(own)
    def run_arrays(self, *args, **kwargs):
        __tracebackhide__ = True
        given = [_wrapped(name, arg) for name, arg in zip(self.arg_names, args)]
        return own(self, *given, *args[len(given) :], **{name: _wrapped(name, arg) for name, arg in kwargs.items()})

    run_arrays._of_ptxdbg = True
    jit.JITFunction.run = run_arrays
    _counts(testing)
    _tunes(autotuner.Autotuner)


def run(kernel, grid, *args, **meta):
    """Runs a Triton kernel as ``kernel[grid](*args, **meta)`` does once ptxdbg is installed, and leaves the driver as it was. Returns the
    result, whatever is wrong with the kernel. What :func:`install` was told holds here too; ``step_limit`` and ``orders`` are for this run
    alone, except for a kernel that has a parameter of that name."""
    import triton

    __tracebackhide__ = True
    if not hasattr(kernel, "arg_names") or isinstance(kernel, type):
        raise TypeError(f"a kernel of Triton is wanted, which @triton.jit makes of a function, and not {kernel!r}")
    if not callable(grid):
        grid = tuple(_three(grid, "grid"))
    config = triton.runtime.driver
    before = config._active
    told = dict(before.told) if hasattr(before, "told") else {}
    for name in ("step_limit", "orders"):
        if name in meta and name not in getattr(kernel, "arg_names", ()):
            told[name] = meta.pop(name)
    install(**told)
    try:
        kernel[grid](*args, **meta)
    except TritonFindingsError as error:
        return error.result
    finally:
        config._active = before
    return last


def check(call, reference, *, rtol=None, atol=None):
    """Calls ``call``, which launches kernels, and compares what they leave with a reference.

    >>> check(lambda: add[grid](x, y, out, n, BLOCK=256), lambda x, y: {"out": x + y})

    ``reference`` is what is expected: arrays by the names of the kernel's parameters; or where ``call`` returns arrays, as many; or one
    for each array that the kernels write to. Or it is a function that returns this. It is called with copies of the arrays as they were
    before, those that its own parameters name; where it returns nothing, those are compared that it has changed.

    An element may differ by ``atol`` and by ``rtol`` of the expected magnitude; without them by what ``torch.testing.assert_close`` takes
    for the type. :class:`MismatchError` names the first wrong element, and the line that wrote it. Returns what ``call`` does.
    """
    global _recorder
    if (rtol is None) != (atol is None):
        raise ValueError("rtol and atol go together")
    if rtol is not None and not (rtol >= 0 and atol >= 0):
        raise ValueError(f"rtol and atol are not negative, and not {rtol!r} and {atol!r}")
    before, _recorder = _recorder, Recorder()
    try:
        returned, recorder = call(), _recorder
    finally:
        _recorder = before
    if not recorder.results:
        raise ValueError("the call has run no kernel here: is ptxdbg.triton installed, and the grid not empty?")
    __tracebackhide__ = True
    compare(recorder, returned, reference, rtol, atol)
    return returned


def _main():
    import runpy

    usage = "usage: python -m ptxdbg.triton FILE [ARGUMENT ..], or -m MODULE in place of FILE"
    words = sys.argv[1:]
    if words[:1] in (["-h"], ["--help"]):
        print(usage)
        return
    is_module = words[:1] == ["-m"]
    if len(words) < 1 + is_module:
        raise SystemExit(usage)
    if not is_module and not Path(words[0]).exists():
        raise SystemExit(f"python -m ptxdbg.triton: there is no file {words[0]}\n{usage}")
    # The module that runs as a script is another one than that which kernels use.
    import ptxdbg.triton

    ptxdbg.triton.install()
    sys.argv = words[is_module:]
    if is_module:
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        # As for a script that Python itself runs: it imports what lies beside it.
        sys.path[0] = str(Path(words[0]).resolve().parent)
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    _main()

"""A driver in place of NVIDIA's for Numba, on which its own tests of compiled kernels run without a device:

    CUDA_HOME=FOLDER PYTHONPATH=python/third_party pytest -p numba_driver --pyargs numba.cuda.tests.cudapy

Numba compiles a kernel with NVVM as for sm_90 (CUDA_HOME has it), and the launch of the PTX is a run of ptxdbg. Memory of the device is
memory of this process. What this driver does not have, as memory of other processes, answers CUDA_ERROR_NOT_SUPPORTED; registers and
local memory, which ptxas decides, are 0. At the end stands which tests have kernels with findings, and the reason where REASONS has it.
"""

import atexit
import bisect
import ctypes
import itertools
import os
import pathlib
import re
import shutil
import tempfile
import time

import numpy as np
import ptxdbg
import pytest
from ptxdbg._ptxdbg import run

SUCCESS, INVALID_VALUE, INVALID_IMAGE, FILE_NOT_FOUND, NOT_FOUND, NOT_SUPPORTED = 0, 1, 200, 301, 500, 801
#: What a device answers after a kernel that was stopped, by the finding.
STOPPED = {"memory.out_of_bounds": 700, "memory.misaligned": 716, "trap.assert": 710}
LAUNCH_FAILED = 719
BETWEEN = b"\n\x01\n"
TARGET = re.compile(r"^\s*\.version\s+([0-9.]+)(.*?)\.target\s+sm_[5-8]\d", re.MULTILINE | re.DOTALL)
#: The first version of PTX that has sm_90.
VERSION = (7, 8)

#: Tests whose kernels are wrong themselves, and pass on a device as the memory after an array is allocated there too.
REASONS = {
    "test_struct_model_type_arr": "np.array((10,)) is an array of one element, and the kernel writes ten",
}

#: Attributes of a device by the number that the driver's API gives them, as the CUDA programming guide has them for an H100: threads of a
#: block and its extents, those of the grid, bytes of shared memory, lanes, registers, alignment of textures, multiprocessors, unified
#: addresses, compute capability, cooperative launches.
ATTRIBUTES = {1: 1024, 2: 1024, 3: 1024, 4: 64, 5: 2**31 - 1, 6: 65535, 7: 65535, 8: 49152, 10: 32, 12: 65536, 14: 512, 16: 132, 41: 1,
              75: 9, 76: 0, 95: 1}

#: The allocations of the device, by address: the array that holds one, and its bytes.
allocations = {}
handles = itertools.count(1)
links, modules, functions, events = {}, {}, {}, {}
#: The findings of the test that runs, and of all.
found, of_tests = [], {}


def number(value):
    """What an argument of ctypes stands for."""
    value = getattr(value, "value", value)
    return 0 if value is None else int(value)


def put(reference, value):
    """Writes through a pointer that is passed."""
    reference._obj.value = value
    return SUCCESS


def allocate(size):
    memory = np.zeros(size + 512, np.uint8)
    address = -(-memory.__array_interface__["data"][0] // 512) * 512
    allocations[address] = (memory, size)
    return address


def allocation(address):
    """The address and the bytes of the allocation that an address lies in; None where it lies in none."""
    starts = sorted(allocations)
    at = bisect.bisect_right(starts, address) - 1
    if at < 0 or address >= starts[at] + max(allocations[starts[at]][1], 1):
        return None
    return starts[at], allocations[starts[at]][1]


def retargeted(text):
    """PTX for the device: the driver compiles it so before it links it, whatever older target a text names."""
    def head(found):
        version = max(tuple(map(int, found.group(1).split("."))), VERSION)
        return f".version {version[0]}.{version[1]}{found.group(2)}.target sm_90"

    return TARGET.sub(head, text, count=1)


class Loaded:
    """A module, and its variables that Numba has asked for."""

    def __init__(self, texts):
        self.module = ptxdbg.Module(texts, "kernel.ptx")
        self.variables = {}

    def variable(self, name):
        if name not in self.variables:
            sizes = {full: size for full, _, _, size, _ in self.module.variables()}
            if name not in sizes:
                return None
            self.variables[name] = (allocate(sizes[name]), sizes[name])
        return self.variables[name]

    def launch(self, kernel, grid, block, shared, params, cooperative):
        name, declared = self.module.params(kernel)
        values = [ctypes.string_at(params[index], size) for index, (_, _, size) in enumerate(declared)]
        ranges = [(start, size, "device", True, None) for start, (_, size) in allocations.items() if size]
        given = [(own, None, ctypes.string_at(*place), True) for own, place in self.variables.items()]
        # Blocks that wait for the grid leave their turn to others sooner where the order is random.
        schedule = "random" if cooperative else "in-order"
        result = run(self.module, name, grid, block, values, ranges, shared=shared, cooperative=cooperative, variables=given, schedule=schedule)
        for place, made in zip(self.variables.values(), result._variables):
            ctypes.memmove(place[0], made, len(made))
        if result.printed:
            os.write(1, result.printed)
        wrong = [finding for finding in result.findings if finding.severity != "note"]
        found.extend(wrong)
        stopped = [finding for finding in wrong if finding.id in STOPPED]
        return STOPPED[stopped[-1].id] if stopped else SUCCESS


def memory_functions():
    def get_info(free, total):
        put(free, 64 << 30)
        return put(total, 80 << 30)

    def copy(to, source, size, *_):
        ctypes.memmove(number(to), number(source), number(size))
        return SUCCESS

    def fill(to, byte, size, *_):
        ctypes.memset(number(to), number(byte), number(size))
        return SUCCESS

    def free(address):
        return SUCCESS if allocations.pop(number(address), None) else INVALID_VALUE

    def address_range(start, size, address):
        there = allocation(number(address))
        if there is None:
            return INVALID_VALUE
        put(start, there[0])
        return put(size, there[1])

    def attribute(data, which, address):
        # The address that the device has for memory is that of the host.
        return put(data, number(address)) if which == 3 else NOT_SUPPORTED

    def register(address, size, flags):
        allocations[number(address)] = (None, number(size))
        return SUCCESS

    def new(pointer, size, *_):
        return put(pointer, allocate(number(size)))

    made = {"cuMemGetInfo": get_info, "cuMemAlloc": new, "cuMemAllocManaged": new, "cuMemHostAlloc": new, "cuMemFree": free,
            "cuMemFreeHost": free, "cuMemHostRegister": register, "cuMemHostUnregister": free, "cuMemGetAddressRange": address_range,
            "cuPointerGetAttribute": attribute, "cuMemHostGetDevicePointer": lambda to, host, _: put(to, number(host))}
    for name in ("HtoD", "DtoH", "DtoD"):
        made[f"cuMemcpy{name}"] = made[f"cuMemcpy{name}Async"] = copy
    made["cuMemsetD8"] = made["cuMemsetD8Async"] = fill
    return made


def device_functions():
    contexts = []

    def retain(context, device):
        return put(context, 1)

    def push(context):
        contexts.append(number(context))
        return SUCCESS

    def pop(context):
        return put(context, contexts.pop()) if contexts else 201

    def name(text, size, device):
        text.value = b"ptxdbg"
        return SUCCESS

    def attribute(value, which, device):
        return put(value, ATTRIBUTES.get(number(which), 0))

    def uuid(value, device):
        return SUCCESS

    def nothing(*_):
        return SUCCESS

    return {"cuInit": nothing, "cuDriverGetVersion": lambda version: put(version, 12090), "cuDeviceGetCount": lambda count: put(count, 1),
            "cuDeviceGet": lambda device, index: put(device, number(index)), "cuDeviceGetName": name, "cuDeviceGetAttribute": attribute,
            "cuDeviceGetUuid": uuid, "cuDevicePrimaryCtxRetain": retain, "cuDevicePrimaryCtxRelease": nothing,
            "cuDevicePrimaryCtxReset": nothing, "cuCtxGetCurrent": lambda context: put(context, contexts[-1] if contexts else None),
            "cuCtxGetDevice": lambda device: put(device, 0), "cuCtxPushCurrent": push, "cuCtxPopCurrent": pop, "cuCtxSynchronize": nothing,
            "cuProfilerStart": nothing, "cuProfilerStop": nothing}


def stream_functions():
    def new(handle, _):
        return put(handle, next(handles))

    def record(event, _):
        events[number(event)] = time.perf_counter()
        return SUCCESS

    def elapsed(milliseconds, start, end):
        return put(milliseconds, 1e3 * (events[number(end)] - events[number(start)]))

    def callback(stream, call, data, _):
        call(stream, 0, data)
        return SUCCESS

    def nothing(*_):
        return SUCCESS

    made = {"cuStreamCreate": new, "cuEventCreate": new, "cuEventRecord": record, "cuEventElapsedTime": elapsed,
            "cuStreamAddCallback": callback}
    for name in ("cuStreamDestroy", "cuStreamSynchronize", "cuStreamWaitEvent", "cuEventDestroy", "cuEventQuery", "cuEventSynchronize"):
        made[name] = nothing
    return made


def module_functions():
    def create(count, keys, values, state):
        handle = next(handles)
        links[handle] = []
        return put(state, handle)

    def add(state, kind, data, size, *_):
        text = data.value if hasattr(data, "value") else data
        links[number(state)].append(text[: number(size)].rstrip(b"\0"))
        return SUCCESS

    def add_file(state, kind, path, *_):
        try:
            with open(path.value, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return FILE_NOT_FOUND
        if path.value.endswith(b".ptx"):
            links[number(state)].append(data)
            return SUCCESS
        # What this library has is part of ptxdbg.
        return SUCCESS if b"cudadevrt" in path.value else NOT_SUPPORTED

    def complete(state, image, size):
        texts = links[number(state)]
        # It is read as a text that ends with a zero; between several is what no PTX has.
        links[-number(state)] = kept = ctypes.create_string_buffer(BETWEEN.join(texts))
        put(image, ctypes.addressof(kept))
        return put(size, len(kept))

    def load(handle, image, *_):
        text = image if isinstance(image, bytes) else ctypes.string_at(number(image))
        try:
            texts = text.rstrip(b"\0").decode().split(BETWEEN.decode())
            loaded = Loaded([retargeted(text) for text in texts] if len(texts) > 1 else texts)
        except ptxdbg.PtxdbgError as error:
            print(f"ptxdbg: {error}")
            return INVALID_IMAGE
        made = next(handles)
        modules[made] = loaded
        return put(handle, made)

    def function(handle, module, name):
        loaded = modules[number(module)]
        if name.decode() not in loaded.module.kernels:
            return NOT_FOUND
        made = next(handles)
        functions[made] = (loaded, name.decode())
        return put(handle, made)

    def variable(pointer, size, module, name):
        place = modules[number(module)].variable(name.decode())
        if place is None:
            return NOT_FOUND
        put(pointer, place[0])
        return put(size, place[1])

    def nothing(*_):
        return SUCCESS

    return {"cuLinkCreate": create, "cuLinkAddData": add, "cuLinkAddFile": add_file, "cuLinkComplete": complete, "cuLinkDestroy": nothing,
            "cuModuleLoadDataEx": load, "cuModuleUnload": nothing, "cuModuleGetFunction": function, "cuModuleGetGlobal": variable}


def launch_functions():
    def launch(function, gx, gy, gz, bx, by, bz, shared, stream, params, extra=None, cooperative=False):
        loaded, name = functions[number(function)]
        if gx * gy * gz == 0 or bx * by * bz == 0:
            return INVALID_VALUE
        if bx * by * bz > 1024:
            return INVALID_VALUE
        return loaded.launch(name, [gx, gy, gz], [bx, by, bz], number(shared), params, cooperative)

    def together(*args):
        return launch(*args, cooperative=True)

    def attribute(value, which, function):
        return put(value, 1024 if number(which) == 0 else 0)

    def occupancy(count, function, threads, *_):
        return put(count, max(1, 2048 // number(threads)))

    def potential_block(grid, block, function, shared_of, shared, limit, *_):
        put(grid, ATTRIBUTES[16])
        return put(block, min(number(limit) or 1024, 1024))

    return {"cuLaunchKernel": launch, "cuLaunchCooperativeKernel": together, "cuFuncGetAttribute": attribute,
            "cuOccupancyMaxPotentialBlockSize": potential_block, "cuOccupancyMaxPotentialBlockSizeWithFlags": potential_block,
            "cuFuncSetCacheConfig": lambda *_: SUCCESS, "cuOccupancyMaxActiveBlocksPerMultiprocessor": occupancy,
            "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags": occupancy}


class Library:
    """The functions of the driver; what it lacks answers that it is not supported."""

    def __init__(self):
        self.__dict__.update({**memory_functions(), **device_functions(), **stream_functions(), **module_functions(), **launch_functions()})

    def __getattr__(self, name):
        if not name.startswith("cu") or name.endswith(("_v2", "_ptds", "_ptsz")):
            raise AttributeError(name)

        def absent(*_):
            return NOT_SUPPORTED

        return absent


def install():
    """Makes it the driver of Numba."""
    from numba.cuda.cudadrv import driver

    own = driver.driver
    own.lib, own.is_initialized, own.initialization_error = Library(), False, None
    own._initialize_extras = lambda: None


def install_in_children():
    """Makes it the driver of Numba in each process that a test starts as well."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="numba_driver"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "sitecustomize.py").write_text("import numba_driver\n\nnumba_driver.install()\n")
    own = [str(folder), str(pathlib.Path(__file__).parent)]
    os.environ["PYTHONPATH"] = os.pathsep.join([*own, *filter(None, [os.environ.get("PYTHONPATH")])])


def pytest_configure(config):
    install()
    install_in_children()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    found.clear()
    yield
    if found:
        of_tests[item.nodeid] = list(found)


def pytest_terminal_summary(terminalreporter):
    if of_tests:
        terminalreporter.section("findings of ptxdbg")
    for test, findings in of_tests.items():
        reason = REASONS.get(test.rpartition("::")[2])
        found_ids = ", ".join(sorted({finding.id for finding in findings}))
        terminalreporter.write_line(f"{test}: {found_ids}{f' ({reason})' if reason else ''}")

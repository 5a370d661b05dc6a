"""CUDA C++ to PTX, by NVRTC or nvcc, whichever is found; neither needs a GPU."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from ._ptxdbg import Module, PtxdbgError

__all__ = ["CompileError", "compile"]

#: For what kernels are compiled without other options.
_ARCH = "compute_90"


class CompileError(PtxdbgError):
    """CUDA C++ that does not compile, or nothing that compiles it."""


def compile(source, *, options=(), name="kernel.cu", instances=()):
    """The :class:`ptxdbg.Module` of a CUDA C++ text.

    It is compiled for compute_90 with line numbers, or as ``options`` say, which are those of NVRTC and nvcc alike: ``("-arch=compute_80",
    "-DN=4")``. A text is compiled once. NVRTC is found in the wheel ``nvidia-cuda-nvrtc``, where a torch for CUDA has it too, or in a CUDA
    toolkit; nvcc on the PATH, in CUDA_HOME or in its wheel. ``instances`` are those of templates that the module is to have,
    ``["scale<float>"]``; they need NVRTC.
    """
    if not name or "/" in name or name in (".", ".."):
        raise ValueError(f"'{name}' is no name of a file")
    if isinstance(options, str):
        raise TypeError(f"options are several texts: ['{options}']")
    if isinstance(instances, str):
        raise TypeError(f"instances are several texts: ['{instances}']")
    for text, what in [(source, "the source"), *((option, "an option") for option in options), *((one, "an instance") for one in instances)]:
        if not isinstance(text, str):
            raise TypeError(f"{what} is a text, and not {text!r}")
    return _compiled(source, tuple(options), name, tuple(instances))


@functools.lru_cache(maxsize=64)
def _compiled(source, options, name, instances):
    # The text stays as long as the process: findings, listings and bundles show it.
    path = Path(_folder().name, str(_number()), name)
    path.parent.mkdir()
    path.write_text(source)
    if not any(re.match(r"(-arch|--gpu-architecture)\b", option) for option in options):
        options = (f"-arch={_ARCH}", *options)
    library = _nvrtc()
    if library is not None:
        return Module(_by_nvrtc(library, source, path, options, instances), path.with_suffix(".ptx").name)
    nvcc = _nvcc()
    if nvcc is not None and instances:
        raise CompileError(f"'{instances[0]}' is an instance of a template, which nvcc makes where the source uses it only: use it there, "
                           "or 'pip install nvidia-cuda-nvrtc'")
    if nvcc is not None:
        return Module(_by_nvcc(nvcc, path, options), path.with_suffix(".ptx").name)
    raise CompileError("nothing that compiles CUDA C++ is found: 'pip install nvidia-cuda-nvrtc' brings NVRTC, which needs no GPU; or put "
                       "nvcc on the PATH")


def parameter_names(source, kernel):
    """What the text calls the parameters of a kernel, which PTX numbers; nothing where it is not so plain."""
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.S)
    for found in re.finditer(r"__global__[^;{(]*(?:__launch_bounds__\s*\([^)]*\))?[^;{(]*?\b(\w+)\s*\(([^(){}]*)\)\s*\{", plain):
        name, params = found.groups()
        if kernel in (name, f"_Z{len(name)}{name}") or kernel.startswith(f"_Z{len(name)}{name}"):
            names = [re.search(r"(\w+)\s*(?:\[\w*\])?\s*$", param) for param in re.sub(r"<[^<>]*>", "", params).split(",")]
            return [name and name.group(1) for name in names] if all(names) else []
    return []


@functools.cache
def _folder():
    return tempfile.TemporaryDirectory(prefix="ptxdbg-")


def _number(count=iter(range(1 << 62))):
    return next(count)


def _wheels(pattern):
    """Files of NVIDIA's wheels, those of later versions first."""
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    return sorted((path for folder in folders for path in Path(folder).glob(pattern)), reverse=True)


def _toolkits():
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    return [Path(home) for home in homes if home]


@functools.cache
def _nvrtc():
    """The library of NVRTC, and the folders of headers beside it; None where there is none."""
    found = [path for path in _wheels("*/lib/libnvrtc.so.*") if "alt" not in path.name]
    found += [path for home in _toolkits() for path in home.glob("lib64/libnvrtc.so")]
    names = [str(path) for path in found] + list(filter(None, [ctypes.util.find_library("nvrtc")]))
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _headers():
    found = [path.parent for path in _wheels("*/include/cuda_fp16.h")]
    return found + [home / "include" for home in _toolkits() if (home / "include" / "cuda_fp16.h").is_file()]


def _by_nvrtc(library, source, path, options, instances):
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    program = ctypes.c_void_p()

    def call(name, *arguments):
        code = getattr(library, name)(*arguments)
        if code:
            raise CompileError(f"{name}: {library.nvrtcGetErrorString(code).decode()}{log() if program else ''}")

    def text(size_of, get):
        size = ctypes.c_size_t()
        if getattr(library, size_of)(program, ctypes.byref(size)):
            return ""
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        getattr(library, get)(program, buffer)
        return buffer.value.decode(errors="replace")

    def log():
        said = text("nvrtcGetProgramLogSize", "nvrtcGetProgramLog").strip()
        return f"\n{said}".replace(str(path), path.name) if said else ""

    words = [*options, "-lineinfo", *(f"-I{folder}" for folder in _headers())]
    given = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), str(path).encode(), 0, None, None)
    try:
        for instance in instances:
            call("nvrtcAddNameExpression", program, instance.encode())
        call("nvrtcCompileProgram", program, len(words), given)
        return text("nvrtcGetPTXSize", "nvrtcGetPTX")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _nvcc():
    found = [shutil.which("nvcc"), *(home / "bin" / "nvcc" for home in _toolkits()), *_wheels("*/bin/nvcc")]
    return next((str(path) for path in found if path and os.access(path, os.X_OK)), None)


def _by_nvcc(nvcc, path, options):
    made = path.with_suffix(".ptx")
    done = subprocess.run([nvcc, "-ptx", "-lineinfo", *options, "-o", made, path], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError((done.stderr + done.stdout).strip().replace(str(path), path.name))
    return made.read_text()

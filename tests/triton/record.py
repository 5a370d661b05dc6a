"""Records what each variable of Triton kernels is, for the test that compares it with what the debugger shows.

    python record.py PTXDBG FOLDER [KERNEL..]

needs Triton 3.6 and NumPy, and no GPU. For each kernel of kernels.py and each target, FOLDER/KERNEL_TARGET gets the PTX with its .ttgir and
.ttir, a launch file, and truth.txt with truth.bin: the elements of each variable after each execution of each statement that assigns it.
They come from twins: copies of the kernel that differ in a store of that variable after that statement alone. PTXDBG runs the twins, so
that what is compared is the names, layouts and registers, not the arithmetic. `PTXDBG_TENSORS=FOLDER cargo test --test it --
tensor_truth:: --nocapture` measures all of it.

that what is compared is the names, layouts and registers, not the arithmetic. `PTXDBG_TENSORS=FOLDER cargo test --test it --
elements, one byte each: the highest of the product of the element's bits and 0x9E3779B97F4A7C15; of fewer than 32 elements all 8 bytes.
"""

import ast
import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

os.environ["TRITON_ALWAYS_COMPILE"] = "1"
HERE = Path(__file__).parent
LINES = (HERE / "kernels.py").read_text().splitlines()
HEAD = ["import triton", "import triton.language as tl", "", "", "@triton.jit"]
ROUND, BLOCK = 65536, 1 << 20
F16, F32, I32 = "*fp16", "*fp32", "i32"
FLOAT = lambda shape, kind, seed: np.random.default_rng(seed).standard_normal(shape).astype(kind)  # noqa: E731

#: For each kernel: its parameters with types and values, its constants, the grid, warps.
KERNELS = {
    "softmax": (
        {"out": (F32, (2, 300)), "x": (F32, FLOAT((2, 300), np.float32, 1)), "n_rows": (I32, 2), "n_cols": (I32, 300)},
        {"BLOCK": 512}, (1, 1), {"num_warps": 4}),
    "layer_norm": (
        {"y": (F16, (2, 300)), "x": (F16, FLOAT((2, 300), np.float16, 2)), "w": (F16, FLOAT(300, np.float16, 3)),
         "b": (F16, FLOAT(300, np.float16, 4)), "stride": (I32, 300), "N": (I32, 300), "eps": ("fp32", 1e-5)},
        {"BLOCK": 256}, (2, 1), {"num_warps": 4}),
    "matmul": (
        {"a": (F16, FLOAT((64, 64), np.float16, 5)), "b": (F16, FLOAT((64, 64), np.float16, 6)), "c": (F16, (64, 64)),
         "M": (I32, 64), "N": (I32, 64), "K": (I32, 64)},
        {"BM": 64, "BN": 32, "BK": 32, "GROUP": 2}, (2, 1), {"num_warps": 4, "num_stages": 2}),
    "split_k": (
        {"a": (F16, FLOAT((64, 128), np.float16, 7)), "b": (F16, FLOAT((128, 32), np.float16, 8)), "c": (F32, (64, 32)),
         "M": (I32, 64), "N": (I32, 32), "K": (I32, 128)},
        {"BM": 64, "BN": 32, "BK": 32, "SPLIT": 2}, (1, 2), {"num_warps": 4, "num_stages": 1}),
    "attention": (
        {"q_ptr": (F16, FLOAT((64, 32), np.float16, 9)), "k_ptr": (F16, FLOAT((128, 32), np.float16, 10)),
         "v_ptr": (F16, FLOAT((128, 32), np.float16, 11)), "o_ptr": (F16, (64, 32)), "scale": ("fp32", 0.2), "N": (I32, 128)},
        {"BM": 64, "BN": 32, "D": 32}, (1, 1), {"num_warps": 4, "num_stages": 2}),
    "choose": (
        {"out": (F32, FLOAT(256, np.float32, 12)), "x": (F32, FLOAT(256, np.float32, 13)), "n": (I32, 200)},
        {"BLOCK": 128}, (2, 1), {"num_warps": 4}),
}
TYPES = {"*fp32": "float32", "*fp16": "float16", "*i32": "int32", "*i8": "int1"}


def lines_of(name):
    """The lines of a kernel in kernels.py, without its decorator."""
    first = next(at for at, line in enumerate(LINES) if line.startswith(f"def {name}("))
    rest = next((at for at in range(first + 1, len(LINES)) if LINES[at] and not LINES[at].startswith(" ")), len(LINES))
    return LINES[first:rest]


def compile_to(folder, name, lines, arch, extra=()):
    parameters, constants, _, options = KERNELS[name]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text("\n".join(HEAD + lines) + "\n")
    spec = importlib.util.spec_from_file_location(f"{name}_{folder.name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name)
    types = {**dict(extra), **{key: value[0] for key, value in parameters.items()}}
    signature = {key: types.get(key, "constexpr") for key in function.arg_names}
    aligned = {(at,): [["tt.divisibility", 16]] for at, key in enumerate(function.arg_names) if types.get(key, "").startswith("*")}
    kernel = triton.compile(ASTSource(fn=function, signature=signature, constexprs=constants, attrs=aligned),
                            target=GPUTarget("cuda", arch, 32), options=options)
    for kind in ("ptx", "ttgir", "ttir", "source"):
        # The debug data has the folder in it, and no variables.
        text = kernel.asm[kind].split("\t.section")[0].rstrip() + "\n"
        (folder / f"{name}.{kind}").write_text(re.sub(r'"/[^"]*/(\w+\.py)"', shorter, text))
    return kernel


def shorter(found):
    """The path of a file without folders, except for Triton's own."""
    return f'"triton/language/{found[1]}"' if "/triton/language/" in found[0] else f'"{found[1]}"'


def launch(folder, name, kernel, extra=None):
    """Writes the launch file of a kernel, and its arrays."""
    parameters, _, grid, options = KERNELS[name]
    rows = []
    for key, (kind, value) in {**(extra or {}), **parameters}.items():
        if not kind.startswith("*"):
            rows.append(f"F32({float(value)!r})" if kind == "fp32" else f"U32({value})")
            continue
        element = {"fp32": "F32", "fp16": "F16", "i32": "S32", "i64": "S64", "i8": "S8"}[kind[1:]]
        is_array = isinstance(value, np.ndarray)
        shape = list(value.shape if is_array else value)
        if is_array:
            np.save(folder / f"{key}.npy", value)
        init = f'File("{key}.npy")' if is_array else "Zero"
        rows.append(f'Buffer(name: "{key}", elem: {element}, shape: {shape}, init: {init})')
    rows += ["U64(0)", "U64(0)"]
    shared = kernel.metadata.shared
    (folder / f"{name}.ron").write_text(
        f'Launch(\n    module: "{name}.ptx",\n    kernel: "{name}",\n    grid: ({grid[0]}, {grid[1]}, 1),\n'
        f'    block: ({32 * options["num_warps"]}, 1, 1),\n' + (f"    dynamic_shared: {shared},\n" if shared else "")
        + "    params: [\n" + "".join(f"        {row},\n" for row in rows) + "    ],\n)\n")


def statements(name):
    """The assignments of a kernel: the variable, the line, the depth of loops around it."""
    tree = ast.parse("\n".join(HEAD + lines_of(name)))
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    loops = [node for node in ast.walk(function) if isinstance(node, (ast.For, ast.While))]
    for node in ast.walk(function):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            yield target.id, node.lineno, any(loop.lineno < node.lineno <= loop.end_lineno for loop in loops)


def twin(name, variable, line, is_in_loop):
    """The lines of a kernel that stores the variable after the statement."""
    lines = HEAD + lines_of(name)
    indent = re.match(r" *", lines[line - 1]).group()
    # A pointer of its own for each round, and no barrier: the store is all that is added.
    stored = [f"_t = {variable}"]
    stored += ["if len(_t.shape) == 0:", "    tl.store(DBG + _at, _t.to(DBG.dtype.element_ty))",
               "elif len(_t.shape) == 1:",
               "    tl.store(DBG + _at + tl.arange(0, _t.shape[0]), _t.to(DBG.dtype.element_ty))",
               "else:",
               "    tl.store(DBG + _at + tl.arange(0, _t.shape[0])[:, None] * _t.shape[1] + tl.arange(0, _t.shape[1])[None, :],"
               " _t.to(DBG.dtype.element_ty))"]
    if is_in_loop:
        stored.append(f"_at += {ROUND}")
    lines[line:line] = [indent + text for text in stored]
    head = next(at for at, text in enumerate(lines) if text.startswith("def "))
    lines[head] = lines[head].replace(f"{name}(", f"{name}(DBG, ", 1)
    lines.insert(head + 1, f"    _at = (tl.program_id(0) + tl.program_id(1)) * {BLOCK}")
    return lines[len(HEAD):]


def truth(ptxdbg, folder, name, arch, variable, line, is_in_loop):
    """What the twin stores: the type, and the elements of each round."""
    work = folder / "twins" / f"{variable}_{line}"
    grid = KERNELS[name][2]
    for kind, words in TYPES.items():
        lines = twin(name, variable, line, is_in_loop)
        at = next(at for at, text in enumerate(lines) if text.strip() == f"_t = {variable}")
        indent = re.match(r" *", lines[at]).group()
        # A twin that asserts the type of the variable does not compile for another.
        lines[at + 1 : at + 1] = [f"{indent}tl.static_assert(_t.dtype == tl.{words})", f"{indent}tl.static_print('SHAPE', _t.shape)"]
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                kernel = compile_to(work, name, lines, arch, [("DBG", kind)])
        except triton.compiler.errors.CompilationError:
            continue
        break
    else:
        return None
    launch(work, name, kernel, {"DBG": (kind, ((grid[0] + grid[1] - 1) * BLOCK,))})
    found = re.search(r"SHAPE (.*)", printed.getvalue())
    shape = [int(extent) for extent in re.findall(r"\d+", found[1])] if found else []
    result = work / "out.npy"
    run = subprocess.run([ptxdbg, "--batch", "--launch", str(work / f"{name}.ron"), "-e", "run", "-e", f"dump {result} DBG"],
                         capture_output=True, text=True)
    if not result.exists():
        print(f"  twin of {variable} at line {line} fails: {run.stdout[-300:]}{run.stderr[-300:]}")
        return None
    data = np.load(result).reshape(-1)[:BLOCK]
    size = int(np.prod(shape)) if shape else 1
    rounds = [data[at * ROUND : at * ROUND + size] for at in range(16 if is_in_loop else 1)]
    # What is zero to the end are rounds that were not executed.
    while len(rounds) > 1 and not rounds[-1].any():
        rounds.pop()
    return shape, rounds


def main():
    ptxdbg, target = sys.argv[1], Path(sys.argv[2])
    for name in sys.argv[3:] or KERNELS:
        for arch in (80, 90):
            folder = target / f"{name}_sm_{arch}"
            launch(folder, name, compile_to(folder, name, lines_of(name), arch))
            rows, data = [], bytearray()
            for variable, line, is_in_loop in statements(name):
                found = truth(ptxdbg, folder, name, arch, variable, line, is_in_loop)
                print(f"{folder.name} {variable} {line}: {'no twin' if found is None else found[0]}", flush=True)
                for at, values in enumerate(found[1] if found else []):
                    bits = values.view(f"u{values.itemsize}").astype(np.uint64)
                    product = bits * np.uint64(0x9E3779B97F4A7C15)
                    extents = "x".join(map(str, found[0])) or "-"
                    rows.append(f"{variable} {line} {at} {extents} {8 * values.itemsize} {len(data)}")
                    data += (product >> np.uint64(56)).astype(np.uint8).tobytes() if len(bits) >= 32 else product.tobytes()
            (folder / "truth.txt").write_text("\n".join(rows) + "\n")
            (folder / "truth.bin").write_bytes(bytes(data))


if __name__ == "__main__":
    main()

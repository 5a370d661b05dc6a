"""Every example of docs/python.md: what it prints and raises is what stands there. PTXDBG_BLESS=1 writes it."""

import doctest
import importlib.metadata
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "python.md"

# The name of a file, its text, a command if it is not run as such, and what is printed.
EXAMPLE = re.compile(r"`(\w+\.py)`:\n\n```python\n(.*?)```\n(?:\n```console\n\$ ([^\n]*)\n(.*?)```\n|\n```text\n(.*?)```\n)", re.S)

# Runs a script; of an error that it raises the text alone is written.
RUNNER = """
import runpy, sys, traceback
sys.path.insert(0, "")
try:
    runpy.run_path(sys.argv[1], run_name="__main__")
except Exception as error:
    sys.stdout.flush()
    print("".join(traceback.format_exception_only(error)), end="")
"""

# What examples need beside NumPy; the versions are those whose PTX the document shows.
NEEDS = {"triton": "3.9", "torch": None, "numba": None, "ptxdbg.cuda": None}


def examples():
    return list(EXAMPLE.finditer(DOCUMENT.read_text()))


def skip_without(text):
    for module, version in NEEDS.items():
        if not re.search(rf"^import {module}\b|source=" if module == "ptxdbg.cuda" else rf"^(import|from) {module}\b", text, re.M):
            continue
        if module == "ptxdbg.cuda":
            from ptxdbg import cuda

            if cuda._nvrtc() is None:
                pytest.skip("NVRTC is not found")
        elif importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
        elif module == "numba" and not has_nvvm():
            pytest.skip("Numba finds no compiler")
        elif version is not None and not importlib.import_module(module).__version__.startswith(version):
            pytest.skip(f"the document shows what {module} {version} compiles")


def has_nvvm():
    """Whether Numba finds what compiles its kernels."""
    from numba import cuda

    try:
        cuda.compile_ptx(lambda: None, ())
    except Exception:
        return False
    return True


def written(example, folder):
    name, text, command, _, _ = example.groups()
    (folder / name).write_text(text)
    words = [sys.executable, "-W", "ignore", "-c", RUNNER, name]
    if command is not None:
        words = shlex.split(command)
        if words[0] in ("pytest", "ptxdbg"):
            words = [sys.executable, "-m", *words]
        else:
            words[0] = sys.executable
        if "pytest" in words and not any(point.name == "ptxdbg" for point in importlib.metadata.entry_points(group="pytest11")):
            words += ["-p", "ptxdbg.pytest_plugin"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "NO_COLOR": "1", "COLUMNS": "100"}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=300)
    lines = done.stdout.replace(str(folder) + "/", "").splitlines()
    return "".join(line.rstrip() + "\n" for line in lines)


@pytest.mark.parametrize("number", range(len(examples())))
def test_an_example_does_what_the_document_says(number, tmp_path):
    example = examples()[number]
    skip_without(example.group(2))
    got = written(example, tmp_path)
    group = 4 if example.group(4) is not None else 5
    if doctest.OutputChecker().check_output(example.group(group), got, doctest.ELLIPSIS):
        return
    assert os.environ.get("PTXDBG_BLESS") == "1", f"{example.group(1)} prints\n{got}\nand the document has\n{example.group(group)}"
    text = DOCUMENT.read_text()
    # Addresses and times are those of one run.
    got = re.sub(r"0x[0-9a-f]{9,}", "0x...", re.sub(r"(?<=memory_)[0-9a-f]{9,}", "...", re.sub(r"\bin [0-9.]+s$", "in ...s", got, flags=re.M)))
    DOCUMENT.write_text(text[: example.start(group)] + got + text[example.end(group) :])


def test_there_are_ten_examples():
    assert len(examples()) >= 10

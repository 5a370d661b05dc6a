"""pytest: the fixture ``ptxdbg_clean``, within which a kernel with a mistake fails the test and leaves a bundle of the run."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest


#: Whether the test itself failed.
_FAILED = pytest.StashKey()


def pytest_addoption(parser):
    group = parser.getgroup("ptxdbg")
    group.addoption("--ptxdbg-strict", action="store_true", help="a note fails a test as well, and what the test catches too")
    group.addoption("--ptxdbg-orders", type=_count, metavar="N",
                    help="as many more runs at most for critical sections of a lock, which are run the other way round; 1 without it")


def _count(text):
    """A number that is not negative."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is no number of runs")
    return int(text)


@pytest.fixture
def ptxdbg_clean(request, tmp_path_factory):
    """Kernels that run in this test must have no mistakes."""
    import ptxdbg

    is_strict = request.config.getoption("--ptxdbg-strict")
    with ptxdbg.catch(notes=is_strict, orders=request.config.getoption("--ptxdbg-orders")) as caught:
        yield ptxdbg
    if is_strict and caught and not request.node.stash.get(_FAILED, False):
        # The report leaves a bundle of it.
        raise ptxdbg.FindingsError(caught[0])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.when == "call":
        item.stash[_FAILED] = report.failed
    error = call.excinfo.value if call.excinfo is not None else None
    result = getattr(error, "result", None)
    if report.when == "setup" or not hasattr(result, "bundle"):
        return
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", item.nodeid)
    path = Path(item.config.rootpath) / f"{name}.ptxcap"
    try:
        result.bundle(path)
    except Exception as error:  # the report says why there is none
        report.sections.append(("ptxdbg", f"no bundle: {error}"))
    else:
        report.sections.append(("ptxdbg", f"debug with: ptxdbg {path}"))

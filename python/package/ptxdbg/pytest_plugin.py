"""pytest: the fixture ``ptxdbg_clean``, within which a kernel with a mistake fails the test and leaves a bundle of the run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("ptxdbg")
    group.addoption("--ptxdbg-strict", action="store_true", help="a note fails a test as well")
    group.addoption("--ptxdbg-orders", type=_count, metavar="N",
                    help="as many more runs at most for critical sections of a lock, which are run the other way round; 1 without it")


def _count(text):
    """A number that is not negative."""
    if not text.isdecimal():
        raise ValueError(text)
    return int(text)


@pytest.fixture
def ptxdbg_clean(request, tmp_path_factory):
    """Kernels that run in this test must have no mistakes."""
    import ptxdbg

    with ptxdbg.catch(notes=request.config.getoption("--ptxdbg-strict"), orders=request.config.getoption("--ptxdbg-orders")):
        yield ptxdbg


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    error = call.excinfo.value if call.excinfo is not None else None
    result = getattr(error, "result", None)
    if report.when != "call" or not hasattr(result, "bundle"):
        return
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", item.nodeid)
    path = Path(item.config.rootpath) / f"{name}.ptxcap"
    try:
        result.bundle(path)
    except Exception as error:  # the report says why there is none
        report.sections.append(("ptxdbg", f"no bundle: {error}"))
    else:
        report.sections.append(("ptxdbg", f"debug with: ptxdbg {path}"))

"""What all tests have."""

import signal

import pytest

pytest_plugins = "pytester"


@pytest.fixture(autouse=True)
def interrupts():
    """Ctrl-C raises, also where a shell has started the tests in its background, in which it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

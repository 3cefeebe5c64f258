"""What every test shares: the switch that rewrites recorded expectations."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update",
        action="store_true",
        help="rewrite the recorded expectations (reports, tours, examples) instead of comparing; review the diff",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--update rewrites files, so it needs one process: leave out -n")


@pytest.fixture(scope="session")
def update(request: pytest.FixtureRequest) -> bool:
    """Whether recorded expectations are rewritten."""
    return bool(request.config.getoption("--update"))

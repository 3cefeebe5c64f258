"""What every test shares: the switch that rewrites recorded expectations, and how Hypothesis searches."""

from __future__ import annotations

import gc

import pytest
from hypothesis import HealthCheck, settings

from chatml_tools.program import spare_the_collector

settings.register_profile(
    "suite", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=3000, suppress_health_check=list(HealthCheck))
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update",
        action="store_true",
        help="rewrite recorded expectations (reports, tours, outputs) instead of comparing; review the diff",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--update rewrites files, so it needs one process: leave out -n")


def pytest_collection_finish() -> None:
    """Thousands of tests are no garbage, and looking through them for some would take a third of the time."""
    spare_the_collector()
    gc.freeze()


@pytest.fixture(scope="session")
def update(request: pytest.FixtureRequest) -> bool:
    """Whether recorded expectations are rewritten."""
    return bool(request.config.getoption("--update"))

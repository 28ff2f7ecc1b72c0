"""These tests have a data folder of their own."""

from tests.engine.workers.conftest import own_data  # noqa: F401

"""What make and CI run: `make test-rest` runs these tests, and `make test` leaves them out."""

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker("slow")

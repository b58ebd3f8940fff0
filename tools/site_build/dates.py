"""Dates as pages have them."""

import datetime


def written_date(iso: str) -> str:
    """Return `1 March 2026` for "2026-03-01"."""
    return f"{datetime.date.fromisoformat(iso):%d %B %Y}".removeprefix("0")

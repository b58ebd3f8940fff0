"""The files that the build makes of samedevice's catalog: messages, causes, claims, and the data of the paste box."""

import functools
import json
import sys
from importlib import resources

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel

from samedevice.catalog import load
from samedevice.doctor.catalog_json import exported
from samedevice.doctor.pages.message_causes import Causes, causes_of
from site_build.cause_pages import cause_pages
from site_build.claims_page import PLACE, claims_page
from site_build.error_index import INDEX, error_index
from site_build.error_pages import error_pages
from site_build.navigation import places

_read: frozenset[tuple[str, int]] = frozenset()  # the files of the catalog as they were when it was read


def add_catalog(files: Files, config: MkDocsConfig) -> Files:
    """Add assets/catalog.json and, if the navigation has the error index, its pages and those of the causes and the
    claims.

    The navigation has only the lists of messages and causes.
    """
    files.append(File.generated(config, "assets/catalog.json", content=_data()))
    pages = _pages(files, config.repo_url) if has_error_index(config) else {}
    for place, markdown in pages.items():
        inclusion = InclusionLevel.INCLUDED if place in places(config.nav or []) else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, place, content=markdown, inclusion=inclusion))
    return files


@functools.cache
def _data() -> str:
    return json.dumps(exported(), ensure_ascii=False, separators=(",", ":"))


def _pages(files: Files, repository: str | None) -> dict[str, str]:
    return {
        INDEX: error_index(),
        PLACE: claims_page(files),
        **error_pages(_causes(), repository),
        **cause_pages(_causes(), repository),
    }


@functools.cache
def _causes() -> dict[str, Causes]:
    return {message.id: causes_of(message) for message in load().messages.values()}


def has_error_index(config: MkDocsConfig) -> bool:
    return INDEX in places(config.nav or [])


def forget_catalog() -> None:
    """Let the catalog be read again, if its TOML was edited: `mkdocs serve` builds many times in one process."""
    global _read
    with resources.as_file(resources.files("samedevice.catalog")) as folder:
        now = frozenset((str(file), file.stat().st_mtime_ns) for file in folder.rglob("*.toml"))
    if now == _read:
        return
    _read = now
    for name, module in list(sys.modules.items()):
        if name.startswith(("samedevice.catalog", "samedevice.doctor", __name__)):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()

"""What the build makes of the catalog of samedevice: the error index, the myths, and the data of the paste box."""

import json
import sys

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel

from lessons.site.error_pages import INDEX, error_pages
from lessons.site.myths_page import PLACE, myths_page
from samedevice.doctor.export import exported


def add_catalog(files: Files, config: MkDocsConfig) -> Files:
    """Add assets/catalog.json and, if the navigation has the error index, its pages and that of the myths.

    Of the error index, the navigation has the index alone.
    """
    _forget()
    data = json.dumps(exported(), ensure_ascii=False, separators=(",", ":"))
    files.append(File.generated(config, "assets/catalog.json", content=data))
    pages = {**error_pages(files), PLACE: myths_page(files)} if has_error_index(config) else {}
    for place, markdown in pages.items():
        inclusion = InclusionLevel.INCLUDED if place in (INDEX, PLACE) else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, place, content=markdown, inclusion=inclusion))
    return files


def has_error_index(config: MkDocsConfig) -> bool:
    return any(INDEX in item.values() for item in config.nav or [])


def _forget() -> None:
    """Let the catalog be read again: `mkdocs serve` builds many times in one process, as the TOML is edited."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("samedevice.catalog", "samedevice.doctor")):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()

"""What the build makes of the catalog of samedevice: the error index, and the data of the paste box."""

import json
import sys

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel

from lessons.site.error_pages import INDEX, error_pages
from samedevice.doctor.export import exported


def add_catalog(files: Files, config: MkDocsConfig) -> Files:
    """Add assets/catalog.json and, if the navigation has the error index, its pages, which are not in there."""
    _forget()
    data = json.dumps(exported(), ensure_ascii=False, separators=(",", ":"))
    files.append(File.generated(config, "assets/catalog.json", content=data))
    for place, markdown in error_pages(files).items() if has_error_index(config) else ():
        inclusion = InclusionLevel.INCLUDED if place == INDEX else InclusionLevel.NOT_IN_NAV
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

"""The search's index, which weighs more than all else of a page, is loaded when the search is opened.

Material loads it with each page, but where the site is read from a disk: there it waits until the search is opened. Its
script is changed to wait always.
"""

from pathlib import Path

from mkdocs.plugins import get_plugin_logger

log = get_plugin_logger("lessons.site")

_AT_ONCE = '(location.protocol!=="file:")'


def load_search_on_demand(site: Path) -> None:
    """Change Material's script in the built site."""
    for script in site.glob("assets/javascripts/bundle.*.js"):
        code = script.read_text(encoding="utf-8")
        if code.count(_AT_ONCE) != 1:
            log.warning(f"'{script.name}' does not say as before when it loads the search's index.")
        script.write_text(code.replace(_AT_ONCE, "(!1)"), encoding="utf-8")

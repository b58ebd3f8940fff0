"""Material's search, changed where it cannot be configured: when it loads its index, and in which order it answers.

The index, which weighs more than all else of a page, is loaded when the search is opened.

Material loads it with each page, unless the site is read from a disk: then it waits until the search is opened. Its
script is changed to wait always. The script of the search itself, a worker, gets docs/assets/search-order.js before it.
"""

from pathlib import Path

from mkdocs.plugins import get_plugin_logger

from site_build.asset_comments import without_comments

log = get_plugin_logger("site_build")

_AT_ONCE = '(location.protocol!=="file:")'


def load_search_on_demand(site: Path) -> None:
    """Change Material's script in the built site."""
    for script in site.glob("assets/javascripts/bundle.*.js"):
        code = script.read_text(encoding="utf-8")
        if code.count(_AT_ONCE) != 1:
            log.warning(f"'{script.name}' does not say as before when it loads the search's index.")
        script.write_text(code.replace(_AT_ONCE, "(!1)"), encoding="utf-8")


def order_search(site: Path, order: Path) -> None:
    """Put our order of the results before Material's worker in the built site."""
    for worker in site.glob("assets/javascripts/workers/search.*.js"):
        code = worker.read_text(encoding="utf-8")
        if "postMessage(" not in code:
            log.warning(f"'{worker.name}' does not answer as before, so that its results cannot be put into order.")
        worker.write_text(without_comments(order.read_text("utf-8")) + code, encoding="utf-8")

"""Our search in the place of Material's: a file for a file, and nothing of Material's own is changed.

Material asks for its index with each page and sends it to its worker. Here that index is empty, and the worker,
docs/assets/search-worker.js, loads search/pages.json once something is asked.
"""

from pathlib import Path

from mkdocs.plugins import get_plugin_logger

from site_build.asset_comments import without_comments

log = get_plugin_logger("site_build")


def put_search_in_place(site: Path, ours: Path) -> None:
    """Write our worker under the name of Material's in the built site."""
    workers = [*site.glob("assets/javascripts/workers/search.*.js")]
    for worker in workers:
        worker.write_text(without_comments(ours.read_text("utf-8")), encoding="utf-8")
        worker.with_suffix(".js.map").unlink(missing_ok=True)
    if len(workers) != 1:
        log.warning(f"Material has {len(workers)} workers of a search, so that ours may not be the one that is asked.")

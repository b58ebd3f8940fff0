"""A notebook as HTML, by nbconvert through templates/notebook.html.j2.

mkdocs-jupyter would make two exporters for each notebook, compile the templates anew, and check the notebook after each
of a dozen steps that do nothing here. Then it would export it again, for a table of contents that notebook_page.py
makes of the page itself. Here one exporter renders all notebooks, in a quarter of the time.
"""

import functools
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from nbconvert import HTMLExporter, TemplateExporter
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from site_build.templating import TEMPLATES


def render_notebook(page: Page) -> None:
    """Give the page of a notebook a `render` that makes its content of the notebook."""

    def render(config: MkDocsConfig, files: Files) -> None:
        page.content = notebook_html(Path(page.file.abs_src_path or ""))

    page.render = render  # type: ignore[method-assign]


def notebook_html(notebook: Path) -> str:
    """Return the HTML of a notebook's cells and of the outputs that are stored in it."""
    html, _ = _exporter().from_filename(str(notebook))
    return html


class _Exporter(HTMLExporter):
    def from_notebook_node(  # type: ignore[override]  # as HTMLExporter's own, which returns text too
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[str, dict[str, Any]]:
        # HTMLExporter parses what the template wrote and writes it again, to change elements that ours does not write.
        return TemplateExporter.from_notebook_node(self, nb, resources, **options)


@functools.cache
def _exporter() -> HTMLExporter:
    lexer, formatter = PythonLexer(), HtmlFormatter()
    return _Exporter(  # type: ignore[no-untyped-call]
        template_file="notebook.html.j2",
        extra_template_paths=[str(TEMPLATES)],
        filters={"highlight_code": lambda source, metadata: highlight(source, lexer, formatter)},
        # What a cell printed is one text, in however many pieces it was stored.
        default_preprocessors=["nbconvert.preprocessors.CoalesceStreamsPreprocessor"],
    )

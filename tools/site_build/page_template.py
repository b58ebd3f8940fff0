"""The pages of docs/ are Jinja templates: `{{ figures.bench.date }}` is a figure, `{{ lessons() }}` a list.

What a page may name is what `_names` gives. A name that is not there, or a figure that no run wrote, fails the build in
one sentence. Notebooks and the pages that are made from the catalog are not filled in: their braces are code or quoted
text. Braces that are code on a page of docs/, as in a workflow's ${{ matrix.python }}, stand between {% raw %} and
{% endraw %}. Comments are {{# ... #}}, since attributes of a heading may begin with {#.
"""

from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined, TemplateError, TemplateSyntaxError

from samedevice import gpu_types
from samedevice.catalog import load
from samedevice.tested_torch import TESTED
from site_build.build_error import BuildError
from site_build.explorer_page import Placements
from site_build.failure_pictures import failure_picture
from site_build.figures import Figures, share, written
from site_build.known_differences import known_differences
from site_build.lesson_index import lesson_list
from site_build.practice import practice_list, puzzle_count
from site_build.run_tables import Runs
from site_build.screens import screen_picture


def filled_in(markdown: str, name: str, root: Path) -> str:
    """Return `markdown` of docs/NAME filled in; `root` is the folder of results/ and notebooks/.

    Raises:
        BuildError: the page names what is not there, or is no template.
    """
    try:
        return page_environment().from_string(markdown).render(_names(root))
    except TemplateError as error:
        line = f", line {error.lineno} below its front matter," if isinstance(error, TemplateSyntaxError) else ""
        raise BuildError(
            f"docs/{name}{line} cannot be filled in: {error.message}. What a page may name is in"
            f" {Path(__file__).name}; braces that are code stand between {{% raw %}} and {{% endraw %}}."
        ) from None


def page_environment() -> Environment:
    environment = Environment(
        # Not "{#", with which attributes of a heading may begin.
        comment_start_string="{{#",
        comment_end_string="#}}",
        undefined=StrictUndefined,
        finalize=written,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["share"] = share
    return environment


def _names(root: Path) -> dict[str, Any]:
    return {
        "figures": Figures(root / "results"),
        "runs": Runs(root),
        "placements": Placements(root),
        "catalog": load(),
        "tested_torch": TESTED,
        "lessons": lambda: lesson_list(root / "notebooks"),
        "practice": lambda: practice_list(root / "notebooks"),
        "puzzles": lambda: puzzle_count(root / "notebooks"),
        "known_differences": known_differences,
        "gpu_types": ", ".join(gpu_types.names()),
        "picture": failure_picture,
        "screen": screen_picture,
    }

"""The card that leads from a page of an error or a cause into the lesson that raises the failure and runs its fix."""

from samedevice.catalog import Cause, load
from site_build.repository import in_colab
from site_build.templating import templates


def lesson_card(cause: Cause, repository: str | None) -> str:
    """Return the card's Markdown, for a page one folder below the site's root.

    Args:
        cause: whose lesson it is.
        repository: the address of the repository on GitHub, whose lessons Colab opens.
    """
    lesson = load().lessons[cause.lesson]
    address = in_colab(repository, f"notebooks/{lesson.slug}.ipynb")
    return (
        templates()
        .get_template("catalog/lesson_card.md.jinja")
        .render(lesson=lesson, number=lesson.slug[:2], failure=cause.failure, colab=address)
        .strip()
    )

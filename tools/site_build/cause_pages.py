"""A page for each cause of the catalog, and the list of them all, through templates/catalog/cause*.md.jinja.

A cause's prose stands once, on its own page: the message that it raises, what is where, the lines to change, why they
fail, how to check that it is this cause, the lesson that raises and fixes it, and the messages that it can cause.
"""

from samedevice.catalog import Cause, load
from samedevice.doctor.pages.message_causes import Causes, cases_of, messages_of
from site_build.apart import example_picture
from site_build.front_matter import described, front_matter
from site_build.lesson_card import lesson_card
from site_build.templating import templates

INDEX = "causes/index.md"

_GROUPS = {  # by the numbers of the lessons that fix them
    "A tensor or a model stayed behind": ("01", "02", "03", "04", "05", "06", "07"),
    "Indexing, NumPy, checkpoints, optimizers": ("09", "10", "12"),
    "Loaders, workers, the machine": ("11", "13", "14"),
    "Several GPUs": ("15", "16", "17", "18"),
    "Libraries": ("08", "19", "20", "21", "22"),
}
_NAMED = 3  # how many messages of a cause its page names; if there are several more, these have only their numbers


def cause_pages(causes: dict[str, Causes], repository: str | None) -> dict[str, str]:
    """Return the Markdown of each page, by its place among the files of the site.

    Args:
        causes: the causes that each message's page lists, by the id of the message.
        repository: the address of the repository on GitHub, whose lessons Colab opens.
    """
    pages = {f"causes/{cause.id}.md": _page(cause, causes, repository) for cause in load().causes.values()}
    return {INDEX: _index_page(), **pages}


def _page(cause: Cause, causes: dict[str, Causes], repository: str | None) -> str:
    messages = messages_of(cause, causes)
    named = _NAMED if len(messages) > _NAMED + 1 else len(messages)  # a fold for one would hide what fits in its row
    title = cause.title.replace("`", "")
    # What its example raises, else what people report most.
    raised = load().messages.get(cause.raises or "") or next(iter(messages), None)
    return (
        templates()
        .get_template("catalog/cause.md.jinja")
        .render(
            front_matter=front_matter(title, described([cause.title], cause.why, "The lines to change.")),
            cause=cause,
            raised=raised,
            picture=example_picture(cause),
            card=lesson_card(cause, repository),
            wider=load().causes.get(cause.within),
            cases=cases_of(cause),
            named=messages[:named],
            others=messages[named:],
        )
    )


def _index_page() -> str:
    groups = {heading: _of_lessons(numbers) for heading, numbers in _GROUPS.items()}
    assert sum(map(len, groups.values())) == len([cause for cause in load().causes.values() if not cause.within])
    return (
        templates()
        .get_template("catalog/causes.md.jinja")
        .render(
            front_matter=front_matter(
                "Causes of PyTorch device errors",
                "Why PyTorch raises device errors. For each cause: the lines to change, and how to check it.",
            ),
            groups=groups,
            cases=cases_of,
        )
    )


def _of_lessons(numbers: tuple[str, ...]) -> list[Cause]:
    return [cause for cause in load().causes.values() if cause.lesson[:2] in numbers and not cause.within]

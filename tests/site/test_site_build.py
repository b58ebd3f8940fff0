"""The strict build passes without network and without torch; a dead link or anchor, in a notebook or not, fails it."""

import json
from pathlib import Path

import pytest

from samedevice.catalog import load

ROOT = Path(__file__).parents[2]
HOME = "# Home\n\n## A section\n"
LESSON = ["# Lesson\n\n[home](../docs/index.md#a-section)", "## The `fix` of it\n\n[above](#lesson)"]


def test_the_site_builds_without_network_and_without_torch(site):
    assert site.returncode == 0
    assert "WARNING" not in site.log


def test_every_notebook_is_a_page_and_in_the_navigation_of_each(site, lessons):
    assert lessons
    others = {f"{path.stem}/" for path in (ROOT / "docs").glob("*.md")} - {"index/"} | {
        "claims/",
    }
    practice = {f"notebooks/{slug}/" for slug in load().practice}
    assert set(site.pages) == {"", *lessons, *practice, *others}
    for page in site.pages:
        links = [str(link["href"]) for link in site.page(page).select("nav.md-nav--primary a.md-nav__link[href]")]
        for lesson in lessons:
            assert lesson == page or any(lesson.removeprefix("notebooks/") in link for link in links), (page, lesson)


def test_notebooks_stand_in_the_order_of_their_file_names(build_small):
    built = build_small({"index.md": HOME}, {"02-b.ipynb": ["# A title"], "01-z.ipynb": ["# Z title"]})
    assert built.returncode == 0, built.log
    links = [link.get_text(strip=True) for link in built.page("").select("nav.md-nav--primary a.md-nav__link[href]")]
    assert links[-2:] == ["01 · Z title", "02 · A title"]


def test_a_lessons_title_is_its_name_since_the_text_of_its_error_is_an_error_pages_title(site, lessons):
    for lesson in lessons:
        slug, page = lesson.split("/")[1], site.page(lesson)
        title = page.title.get_text().removesuffix(" - Same Device")
        assert title == f"{load().lessons[slug].title}: PyTorch device errors, lesson {slug[:2]}"
        shown = page.select_one("[data-md-component=header-topic]").get_text(strip=True)
        assert shown == page.select_one("h1").get_text().removesuffix("¶"), "what a scrolled page shows at its top"


def test_the_list_of_lessons_has_them_all_in_order_each_with_the_error_that_it_is_about(site, lessons):
    items = site.page("lessons/").select("article h2.lesson-group + ul > li")
    assert [item.a["href"] for item in items] == [f"../{lesson}" for lesson in lessons]
    for item, lesson in zip(items, lessons, strict=True):
        metadata = json.loads((ROOT / f"{lesson.rstrip('/')}.ipynb").read_text("utf-8"))["metadata"]
        assert item.a.get_text().startswith(f"{lesson.split('/')[1][:2]} · ")
        assert item.small.get_text() == "10 minutes" + ", two GPUs" * (metadata["gpus"] == 2)
        assert item.select_one("br + code").get_text() == metadata["title"]
        afterwards = " ".join(item.get_text().split()).partition(metadata["title"])[2].strip()
        remember = site.page(lesson).select_one("article #remember ~ ol > li").get_text()
        assert len(afterwards) > 20 and " ".join(remember.split()).startswith(afterwards)


def test_links_between_notebooks_and_pages_work_as_they_do_on_github(build_small):
    built = build_small(
        {"index.md": HOME + "[the fix](../notebooks/01-a.ipynb#the-fix-of-it)"},
        {"01-a.ipynb": LESSON, "02-b.ipynb": ["# B\n\n[a](01-a.ipynb) [fix](01-a.ipynb#the-fix-of-it)"]},
    )
    assert built.returncode == 0, built.log

    def links(page: str) -> list[str]:
        return [
            str(link["href"])
            for link in built.page(page).select("article a[href]:not(.headerlink, .lesson-actions a, nav a)")
        ]

    assert links("") == ["notebooks/01-a/#the-fix-of-it"]
    assert links("notebooks/01-a/") == ["../../#a-section", "#lesson"]
    assert links("notebooks/02-b/") == ["../01-a/", "../01-a/#the-fix-of-it"]


DEAD = {
    "a notebook that is not there": "[x](03-missing.ipynb)",
    "a page that is not there": "[x](../docs/missing.md)",
    "an anchor of this notebook": "[x](#missing-here)",
    "an anchor of another notebook": "[x](01-a.ipynb#missing-there)",
    "an anchor of a page": "[x](../docs/index.md#missing-section)",
    "a picture": "![x](missing.png)",
    "a path from the root": "[x](/missing/)",
    "a link in HTML": '<a href="missing.ipynb">x</a>',
}
DEAD_IN_A_PAGE = {
    "a notebook, from a page": "[x](../notebooks/04-missing.ipynb)",
    "an anchor of a notebook, from a page": "[x](../notebooks/01-a.ipynb#missing-from-page)",
}


@pytest.fixture(scope="module")
def broken(build_small):
    return build_small(
        {"index.md": HOME + "\n\n".join(DEAD_IN_A_PAGE.values())},
        {"01-a.ipynb": LESSON, "02-b.ipynb": ["# B\n\n" + "\n\n".join(DEAD.values())]},
    )


def test_dead_links_fail_the_build_and_each_is_counted(broken):
    assert broken.returncode == 1
    assert f"Aborted with {len(DEAD) + len(DEAD_IN_A_PAGE)} warnings in strict mode" in broken.log, broken.log


@pytest.mark.parametrize("kind", [*DEAD, *DEAD_IN_A_PAGE])
def test_a_dead_link_is_named_with_its_file(broken, kind):
    source = "index.md" if kind in DEAD_IN_A_PAGE else "notebooks/02-b.ipynb"
    target = (DEAD | DEAD_IN_A_PAGE)[kind].replace('"', "(").split("(")[1].rstrip(")").removeprefix("../")
    assert any(source in line and target.removeprefix("docs/") in line for line in broken.log.splitlines()), broken.log


def test_a_file_that_is_no_notebook_fails_the_build_in_one_sentence(build_small):
    built = build_small({"index.md": HOME}, {"01-a.ipynb": LESSON, "02-b.ipynb": "<<<<<<< HEAD"})
    assert built.returncode == 1
    assert "notebooks/02-b.ipynb is not a notebook" in built.log
    assert "Traceback" not in built.log

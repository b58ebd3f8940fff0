"""The error index: a page for each message of the catalog, letter by letter, and light."""

import json
import re

import markdown
import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup

from lessons.site.escaping import escaped, fence, sentences
from samedevice import explain
from samedevice.catalog import load
from samedevice.doctor.export import exported
from samedevice.doctor.report import change

KB = 1000
MESSAGES = load().messages
SOURCE = "https://github.com/pytorch/pytorch/blob/main/"
EXTENSIONS = ["attr_list", "md_in_html", "tables", "toc", "pymdownx.superfences", "pymdownx.snippets"]
TRICKY = [
    "*args and **kwargs, _name_ and __init__",
    "<device> & &lt; a|b",
    "a [link](x.md), ![x](y), {.class} {: #id }",
    "1. first",
    "- dash",
    "+ plus",
    "# heading",
    "~~gone~~ ^up^ ==mark== ++ins++",
    "back\\slash \\* and a `quote",
    "--8<-- 'file'",
    "§ ü 张量",
    "line\n    end",
]


def place(message):
    return f"errors/{message.id.lower()}/"


@pytest.fixture(scope="module")
def articles(site):
    """The article of each message's page."""
    found = {}
    for message in MESSAGES.values():
        article = re.search("<article.*</article>", site.read(f"{place(message)}index.html"), re.DOTALL)
        found[message.id] = BeautifulSoup(article[0], "html.parser")
    return found


def words(element):
    return " ".join(element.get_text().removesuffix("¶").split())


@pytest.mark.parametrize("text", TRICKY)
def test_text_is_shown_letter_by_letter(text):
    for written in (escaped(text), f"# {escaped(text)} {{ #id }}", f"[{escaped(text)}](x)", sentences(text)):
        html = markdown.markdown(written, extensions=EXTENSIONS)
        assert words(BeautifulSoup(html, "html.parser")) == " ".join(text.split())


@pytest.mark.parametrize("text", ["<b> & &lt; **x**", "a\n```\nb ```` c", "{.class}\n\n# two"])
def test_a_block_shows_its_text_letter_by_letter(text):
    html = markdown.markdown(f"before\n\n{fence(text, 'text')}\n\nafter", extensions=EXTENSIONS)
    assert BeautifulSoup(html, "html.parser").select_one("pre").get_text() == text + "\n"


def test_backticks_mark_code_in_sentences():
    html = markdown.markdown(sentences("Print `x[*i]` and `<b>`, not ` alone."))
    assert html == "<p>Print <code>x[*i]</code> and <code>&lt;b&gt;</code>, not &#96; alone.</p>"


def test_each_message_has_a_page_and_the_index_leads_to_all_of_them(site):
    assert site.errors == ["errors/", *sorted(place(message) for message in MESSAGES.values())]
    index = site.page("errors/")
    links = {str(link["href"]): words(link) for link in index.select("article a[href^='sd']")}
    assert links == {f"{message.id.lower()}/": " ".join(message.title.split()) for message in MESSAGES.values()}
    assert "Error index" in [words(link) for link in index.select("nav.md-nav--primary a")]


def test_no_page_carries_links_to_the_others(site):
    for message in MESSAGES.values():
        assert not re.search(r'<a [^>]*href="[^"#]*sd\d{3}/', site.read(f"{place(message)}index.html")), message.id


def test_a_page_is_at_most_60_kb_and_the_list_of_all_messages_80(site):
    for path in site.errors:
        most = 80 if path == "errors/" else 60
        assert (site.folder / path / "index.html").stat().st_size <= most * KB, path


def test_a_page_shows_each_text_once_and_names_it_in_title_and_address(site, articles):
    descriptions = set()
    for message in MESSAGES.values():
        shown = [block.get_text() for block in articles[message.id].select(".language-text pre")]
        texts = dict.fromkeys(text["text"] for text in message.texts)
        assert shown == [text.expandtabs(4).rstrip() + "\n" for text in texts]
        head = BeautifulSoup(site.read(f"{place(message)}index.html").partition("</head>")[0], "html.parser")
        beginning = head.title.get_text().removesuffix(f" ({message.id}) - Same Device").removesuffix(" …")
        assert " ".join(message.texts[0]["text"].replace("`", "'").split()).startswith(beginning)
        assert head.select_one("link[rel=canonical]")["href"].endswith(f"/same-device/{place(message)}")
        descriptions.add(head.select_one("meta[name=description]")["content"])
    assert len(descriptions) == len(MESSAGES)
    assert all(40 < len(description) < 250 for description in descriptions)


def test_a_page_has_each_cause_of_its_message_once_the_likeliest_first(articles):
    for message in MESSAGES.values():
        headings = articles[message.id].select("h3")
        ids = [str(heading["id"]) for heading in headings]
        likely = [likely.cause.id for likely in explain(message.texts[0]["text"]).causes]
        assert ids[: len(likely)] == likely
        assert sorted(ids) == sorted({cause.id for cause in message.causes})
        for heading in headings:
            cause = load().causes[str(heading["id"])]
            assert words(heading) == cause.title.replace("`", "")
            assert heading.find_next("pre").get_text() == "\n".join(change(cause)).rstrip() + "\n"


def test_a_page_says_what_the_newest_text_says_and_the_note(articles):
    for message in MESSAGES.values():
        text = words(articles[message.id])
        for sentence in (explain(message.texts[0]["text"]).says, message.note):
            assert " ".join(sentence.replace("`", "").split()) in text, message.id


def test_a_page_says_where_the_message_is_raised(articles):
    for message in MESSAGES.values():
        raised = articles[message.id].find("strong", string="Raised in").find_parent("p")
        assert words(raised) == f"Raised in {message.raised}"


def test_files_of_pytorch_are_linked_and_no_others(articles):
    linked = {
        str(link["href"]): message.raised
        for message in MESSAGES.values()
        for link in articles[message.id].select("a[href*='/blob/']")
    }
    assert len(linked) > 20
    for address, raised in linked.items():
        assert address.removeprefix(SOURCE) in raised
        assert re.match(r"(aten/src/ATen|c10|torch|torchgen)/", address.removeprefix(SOURCE)), address
    gone = articles["SD017"].find(string="aten/src/THC/THCGeneral.h.in")
    assert gone and not gone.find_parent("a")


def test_a_cause_leads_to_its_lesson_if_that_is_on_the_site(articles, lessons):
    links = {str(link["href"]) for article in articles.values() for link in article.select("a[href*=notebooks]")}
    assert links
    assert {link.partition("#")[0] for link in links} <= {f"../../{lesson}" for lesson in lessons}


def test_a_cause_leads_to_the_very_failure_in_its_lesson(site, lessons):
    for cause in load().causes.values():
        if f"notebooks/{cause.lesson}/" in lessons:
            failures = [str(heading["id"]) for heading in site.page(f"notebooks/{cause.lesson}/").select("h2[id]")]
            assert cause.failure in failures or (cause.link and not cause.failure), cause.id


def test_the_paste_box_has_the_catalog(site):
    text = site.read("assets/catalog.json")
    assert json.loads(text) == json.loads(json.dumps(exported()))
    assert ", " not in re.sub(r'"(?:[^"\\]|\\.)*"', "", text)


@pytest.mark.parametrize("which", ["the index", "SD001", "the shortest", "the longest"])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(visit, site, which):
    by_size = sorted(site.errors[1:], key=lambda path: (site.folder / path / "index.html").stat().st_size)
    path = {"the index": "errors/", "SD001": "errors/sd001/", "the shortest": by_size[0], "the longest": by_size[-1]}
    page = visit(path[which], color_scheme="light")
    for scheme in ("default", "slate"):
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            page.evaluate("document.querySelectorAll('article details').forEach((details) => (details.open = true))")
            assert page.evaluate("document.body.dataset.mdColorScheme") == scheme
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.evaluate("Promise.all(document.getAnimations().map((animation) => animation.finished))")
            found = Axe().run(page, options={"resultTypes": ["violations"]})
            assert found.violations_count == 0, found.generate_report()
        if scheme == "default":
            page.get_by_title("Switch to dark mode").click()

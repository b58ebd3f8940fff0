"""The error index: a page for each message of the catalog, letter by letter, and light."""

import dataclasses
import json
import re

import markdown
import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from tests.site.conftest import ADDRESS
from tests.site.test_cause_pages import lines_of

from samedevice import explain
from samedevice.catalog import load
from samedevice.doctor.catalog_json import exported
from samedevice.doctor.pages.message_causes import Causes, Row
from site_build.error_pages import _description
from site_build.escaping import escaped, fence, sentences

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
    assert "./" in [link["href"] for link in index.select("nav.md-nav--primary a[href]")]


def test_the_index_has_what_is_reported_most_first_and_old_releases_last_and_folded(site):
    index = site.page("errors/")
    common = [str(link["href"])[:-1].upper() for link in index.select_one("#common").find_next("ul").select("a")]
    reports = [MESSAGES[name].reports for name in common]
    assert reports == sorted(reports, reverse=True)
    assert common[:2] == ["SD002", "SD001"]
    folded = [str(link["href"])[:-1].upper() for link in index.select("article details a")]
    assert {"SD010", "SD019"} <= set(folded)
    assert not set(folded) & set(common)
    sections = [str(heading["id"]) for heading in index.select("article h2")]
    assert (sections[0], sections[-1]) == ("common", "legacy")


def test_no_page_carries_links_to_the_others(site):
    for message in MESSAGES.values():
        assert not re.search(r'<a [^>]*href="[^"#]*sd\d{3}/', site.read(f"{place(message)}index.html")), message.id


def test_a_page_shows_each_text_once_and_names_it_in_title_and_address(site, articles):
    descriptions = set()
    for message in MESSAGES.values():
        shown = [block.get_text() for block in articles[message.id].select(".language-text pre")]
        texts = dict.fromkeys(text["text"] for text in message.texts)
        assert shown == [text.expandtabs(4).rstrip() + "\n" for text in texts]
        head = BeautifulSoup(site.read(f"{place(message)}index.html").partition("</head>")[0], "html.parser")
        beginning = head.title.get_text().removesuffix(f" ({message.id}) - Same Device").removesuffix(" …")
        assert message.texts[0]["text"].expandtabs(4).rstrip() + "\n" == shown[0]
        assert " ".join(message.texts[0]["text"].replace("`", "'").split()).startswith(beginning)
        assert head.select_one("link[rel=canonical]")["href"] == f"{ADDRESS}{place(message)}"
        descriptions.add(head.select_one("meta[name=description]")["content"])
    assert len(descriptions) == len(MESSAGES)


def test_a_page_is_at_most_45_kb_and_the_list_of_all_messages_60(site):
    for path in site.errors:
        most = 60 if path == "errors/" else 45
        assert (site.folder / path / "index.html").stat().st_size <= most * 1000, path


def test_a_description_has_the_sentences_that_fit_and_the_titles_whatever_their_length():
    message, cause = MESSAGES["SD001"], load().causes["input_not_moved"]
    for why, end in [("It is so. " * 30, "It is so."), (f"It is {'so ' * 90}long.", "stayed on the CPU.")]:
        row = Row(dataclasses.replace(cause, why=why), "")
        described = _description(message, Causes("", row, []))
        assert described.startswith(f"SD001: {message.title}. Most likely: The batch stayed on the CPU.")
        assert described.endswith(end)
        assert len(described) <= 220
    long = dataclasses.replace(message, title="long " * 60)
    assert _description(long, Causes("", Row(cause, ""), [])).endswith("Most likely: The batch stayed on the CPU.")


def listed(article):
    """The ids of the causes on a page, in their order."""
    return [str(element["id"]) for element in article.select("h2.cause, a.cause")]


def test_a_page_has_the_causes_of_its_message_once_the_likeliest_first(articles):
    for message in MESSAGES.values():
        ids = listed(articles[message.id])
        likely = [likely.cause.id for likely in explain(message.texts[0]["text"]).causes]
        assert ids[:1] == likely[:1], message.id
        assert len(ids) == len(set(ids)), message.id
        assert set(ids) <= {cause.id for cause in message.causes}, message.id


def test_no_cause_is_listed_that_the_devices_of_the_message_exclude_and_none_is_missing_that_they_allow(articles):
    for message in MESSAGES.values():
        diagnoses = [explain(text["text"]) for text in [*message.texts, *message.examples]]
        diagnoses = [diagnosis for diagnosis in diagnoses if diagnosis.message.id == message.id]
        ids = set(listed(articles[message.id]))
        fixed = set(message.between)
        for diagnosis in diagnoses:
            if not fixed or diagnosis.reads.get("between") in fixed:
                of_the_doctor = {likely.cause.id for likely in diagnosis.causes}
                assert of_the_doctor <= ids, (message.id, of_the_doctor - ids)
        for name in ids if fixed else ():
            between = load().causes[name].between
            assert not between or fixed & set(between), (message.id, name)
    several_gpus = {"wrong_default_index", "data_parallel_unreplicated_state"}
    for name in ("SD005", "SD012", "SD013", "SD020", "SD025"):  # the CPU and an accelerator
        assert not (several_gpus | {"meta_device_leftover"}) & set(listed(articles[name])), name
    for name in ("SD014", "SD017"):  # two GPUs
        ids = set(listed(articles[name]))
        assert several_gpus < ids and not {"input_not_moved", "model_not_moved", "mps_or_other_backend"} & ids, name
    for name in ("SD001", "SD004"):  # any devices, and none
        assert set(listed(articles[name])) == {cause.id for cause in MESSAGES[name].causes}


def test_the_likeliest_cause_has_its_lines_and_its_check_and_the_others_are_rows_that_lead_to_their_pages(articles):
    for message in MESSAGES.values():
        article = articles[message.id]
        likely = explain(message.texts[0]["text"]).causes
        shown = [words for cause in likely[:1] for words in lines_of(cause.cause)]
        assert [pre.get_text() for pre in article.select("pre.example, .command pre")] == shown
        assert bool(article.select("pre.example")) == bool(article.find("p", string="An example:"))
        for cause in (first.cause for first in likely[:1]):
            assert words(article.select_one("h2.cause")).endswith(f": {cause.title.replace('`', '')}")
            assert f"Check first: {cause.confirm.replace('`', '')}" in words(article)
            assert article.select_one(f"a[href='../../causes/{cause.id}/']")
        for row in article.select("a.cause"):
            cause = load().causes[str(row["id"])]
            assert words(row) == cause.title.replace("`", "")
            assert row["href"] == f"../../causes/{cause.id}/"
            in_traceback = row.find_parent(id="traceback") is not None
            assert (cause.sign.replace("`", "") in words(row.parent)) == (not in_traceback)
            assert row.find_parent("details"), "rows are folded"
        assert not [cause.id for cause in load().causes.values() if cause.why.replace("`", "") in words(article)]


def test_the_rows_of_a_message_are_grouped_by_the_two_devices_that_it_names(articles):
    article = articles["SD001"]
    links = {words(link): str(link["href"]) for link in article.select(".groups a")}
    assert list(links) == ["cpu and cuda:0", "cuda:0 and cuda:1", "mps or xpu", "two of xpu or npu", "meta"]
    groups = {name: [str(row["id"]) for row in article.select(f"{anchor} a.cause")] for name, anchor in links.items()}
    assert {"model_not_moved", "target_not_moved", "optimizer_state_device"} < set(groups["cpu and cuda:0"])
    assert {"wrong_default_index", "split_model_activation_not_moved"} < set(groups["cuda:0 and cuda:1"])
    assert groups["mps or xpu"][0] == "mps_or_other_backend"
    assert groups["meta"][0] == "meta_device_leftover"
    assert not articles["SD020"].select(".groups a") and not articles["SD104"].select(".groups a")


def test_sd001_shows_the_words_that_most_people_have_and_is_short(visit):
    page = visit("errors/sd001/", width=360)
    old = page.get_by_text("found at least two devices").first.bounding_box()
    assert old["y"] + old["height"] < 640  # on the first screen
    assert page.evaluate("document.documentElement.scrollHeight") <= 3500
    page.evaluate("document.querySelectorAll('.headerlink, article details').forEach((part) => part.remove())")
    assert len(page.locator("article").text_content().split()) <= 300  # each cause is a row more, but a folded one


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
            page.emulate_media(color_scheme="dark")

"""The error index: a page for each message of the catalog, letter by letter, and light."""

import json
import re

import markdown
import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from tests.site.conftest import ADDRESS, UPSTREAM
from tests.site.test_cause_pages import lines_of

from samedevice import explain
from samedevice.catalog import load
from samedevice.doctor.catalog_json import exported
from samedevice.doctor.outline import change
from samedevice.doctor.pages.message_causes import Causes, Row
from samedevice.doctor.pages.wordings import usual_text
from site_build.error_pages import _description
from site_build.escaping import escaped, fence, sentences
from site_build.said import said

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
    links = {str(link["href"]) for link in index.select("article a[href^='sd']")}
    assert links == {f"{message.id.lower()}/" for message in MESSAGES.values()}
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


def test_typed_words_leave_the_messages_that_have_them_and_their_headings(visit):
    page = visit("errors/")
    field, rows = page.get_by_label("Words of your message"), page.locator("article .rows li:visible")
    every = rows.count()
    field.fill("can't convert CUDA:1 device type tensor to numpy")  # another GPU, other capitals
    assert [row.get_by_role("link").get_attribute("href") for row in rows.all()] == ["sd050/"]
    assert page.get_by_role("status").last.inner_text() == "1 message"
    assert page.locator("article h2:visible").count() == 1
    field.fill("expected device value tensor")  # of an old release, which is folded
    assert "sd010/" in [row.get_by_role("link").get_attribute("href") for row in rows.all()]
    field.fill("zebra")
    assert rows.count() == 0 and "Paste the whole error" in page.get_by_role("status").last.inner_text()
    field.fill("")
    assert rows.count() == every


def test_without_scripts_the_list_is_whole_and_has_no_field(visit):
    page = visit("errors/", java_script_enabled=False)
    assert page.locator("article .rows li").count() == len(MESSAGES)
    assert page.locator("article input").count() == 0


def test_a_row_says_how_often_a_message_is_reported_and_its_number_last(site):
    for row in site.page("errors/").select("article .rows li"):
        message = MESSAGES[str(row.a["href"]).strip("/").upper()]
        reports = f"{message.reports} report{'s' if message.reports > 1 else ''} · " if message.reports else ""
        assert words(row).endswith(f" {reports}{message.id}")


def test_no_page_carries_links_to_the_others(site):
    for message in MESSAGES.values():
        assert not re.search(r'<a [^>]*href="[^"#]*sd\d{3}/', site.read(f"{place(message)}index.html")), message.id


def test_the_heading_is_the_message_as_title_and_lists_have_it(site, articles):
    index = {str(link["href"]): words(link) for link in site.page("errors/").select("article a[href^='sd']")}
    names = set()
    for message in MESSAGES.values():
        head = BeautifulSoup(site.read(f"{place(message)}index.html").partition("</head>")[0], "html.parser")
        heading = words(articles[message.id].h1)
        assert head.title.get_text().removesuffix(" - Same Device") == f"PyTorch: {heading}"
        assert index[f"{message.id.lower()}/"] == heading
        assert any(" ".join(text["text"].split()).startswith(heading.removesuffix(" …")) for text in message.texts)
        assert head.select_one("link[rel=canonical]")["href"] == f"{ADDRESS}{place(message)}"
        names.add(heading)
    assert len(names) == len(MESSAGES)


def test_a_page_has_each_text_once_folded_unless_the_heading_is_the_only_one(articles):
    for message in MESSAGES.values():
        shown = [block.get_text() for block in articles[message.id].select("details .language-text pre")]
        texts = [*dict.fromkeys(text["text"].expandtabs(4).rstrip() + "\n" for text in message.texts)]
        only = [words(articles[message.id].h1)] == ["".join(texts).strip()]
        assert shown == ([] if only else texts), message.id


def test_the_heading_is_of_the_text_that_most_people_have():
    assert said(MESSAGES["SD050"]).startswith("can't convert cuda:0 device type tensor to numpy")
    assert said(MESSAGES["SD022"]) == "Expected query, key, and value to have the same device type"
    for message in MESSAGES.values():
        assert usual_text(message)


@pytest.mark.parametrize("kind", ["errors", "causes"])
def test_the_first_changed_line_is_on_the_first_screen_of_a_phone(browser, address, site, kind):
    phone = {"viewport": {"width": 390, "height": 664}, "has_touch": True, "is_mobile": True}
    page = browser.new_page(java_script_enabled=False, **phone)  # three times as quick
    below = []
    for path in getattr(site, kind):
        if path != f"{kind}/":
            page.goto(address + path)
            line = page.locator("article :is(.example :is(ins, del), .command pre)").first.bounding_box()
            if line["y"] + line["height"] > 664:
                below.append((path, round(line["y"])))
    page.close()
    assert below == []


def test_every_page_of_an_error_or_a_cause_leads_into_its_lesson_and_runs_it_in_colab(site, articles):
    for message in MESSAGES.values():
        (card,) = articles[message.id].select(".lesson-card")
        cause = load().causes[str(articles[message.id].select_one("h2.cause")["id"])]
        leads_to_lesson(card, cause)
    for cause in load().causes.values():
        (card,) = site.page(f"causes/{cause.id}/").select("article .lesson-card")
        leads_to_lesson(card, cause)


def leads_to_lesson(card, cause):
    lesson, colab = card.select("a")
    assert words(lesson) == f"Lesson {cause.lesson[:2]}: {load().lessons[cause.lesson].title}"
    assert lesson["href"] == f"../../notebooks/{cause.lesson}/{f'#{cause.failure}' if cause.failure else ''}"
    assert colab["href"] == (
        f"https://colab.research.google.com/github/{UPSTREAM}/blob/colab/notebooks/{cause.lesson}.ipynb"
    )


def test_a_message_that_names_two_devices_has_a_picture_of_them_and_most_others_one_of_the_example(articles):
    for name, named in {
        "SD001": ["cpu mat1", "cuda:0 the others"],
        "SD020": ["cuda one tensor", "cpu another"],
    }.items():
        assert [words(row) for row in articles[name].select(".lead ~ .apart p, h1 + .apart p")] == named
    pictures = [name for name, article in articles.items() if article.select(".apart, .cause-picture")]
    assert len(pictures) > 70  # the others are not about two devices


def test_a_row_of_the_table_is_a_line_its_cause_and_the_change(articles):
    tables = [article for article in articles.values() if article.select("table")]
    assert len(tables) > 60
    for article in tables:
        for gone, cause, come in (row.select("td") for row in article.select("tbody tr")):
            lines = change(load().causes[str(cause.a["id"])])
            assert any(line.startswith("- ") and words(gone) in line for line in lines)
            assert any(line.startswith("+ ") and words(come) in line for line in lines)


def test_on_paper_folds_are_open_and_nothing_is_there_to_press(visit):
    page = visit("errors/sd001/")
    page.emulate_media(media="print")
    assert page.locator("#two-gpus a.cause").first.bounding_box()["height"] > 0
    assert page.locator(".copy-fix").count() and not page.locator(".copy-fix").first.is_visible()


def test_a_page_is_at_most_45_kb_and_the_list_of_all_messages_66(site):
    for path in site.errors:
        most = 66 if path == "errors/" else 45  # a row of the list has devices' shapes and how often it is reported
        assert (site.folder / path / "index.html").stat().st_size <= most * 1000, path


def test_a_description_begins_with_the_cause_and_has_the_sentences_that_fit():
    message, cause = MESSAGES["SD001"], load().causes["input_not_moved"]
    for says, end in [
        ("It is so. " * 30, "It is so."),
        (f"It is {'so ' * 90}long.", "with the argument and the method."),
    ]:
        described = _description(message, Causes(says, Row(cause, ""), []))
        assert described.startswith("Most likely: The batch stayed on the CPU.")
        assert described.endswith(end)
        assert len(described) <= 155


def listed(article):
    """The ids of the causes on a page, in their order."""
    return [str(element["id"]) for element in article.select("h2.cause, a.cause")]


def test_a_page_has_the_causes_of_its_message_once_the_likeliest_first(articles):
    for message in MESSAGES.values():
        ids = listed(articles[message.id])
        likely = [likely.cause.id for likely in explain(usual_text(message)).causes]
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
        likely = explain(usual_text(message)).causes
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
            if row.find_parent("table"):
                continue
            in_traceback = row.find_parent(id="traceback") is not None
            assert (cause.sign.replace("`", "") in words(row.parent)) == (not in_traceback)
            assert row.find_parent("details"), "rows are folded"
        assert not [cause.id for cause in load().causes.values() if cause.why.replace("`", "") in words(article)]


def test_the_folded_rows_are_grouped_by_the_devices_that_a_message_names_and_say_what_is_in_them(articles):
    article = articles["SD001"]
    folds = {
        words(fold.summary): [str(row["id"]) for row in fold.select("a.cause")] for fold in article.select("details")
    }
    groups = {name.split(":")[0] if "cuda" not in name else name: ids for name, ids in folds.items() if ids}
    assert [name.removeprefix("Your message names ")[:8] for name in groups] == [
        "cpu and ",
        "cuda:0 a",
        "mps or x",
        "two of x",
        "meta",
        "Only the",
    ]
    named = dict(zip(["cpu", "gpus", "mps", "xpus", "meta", "traceback"], groups.values(), strict=True))
    assert {"model_not_moved", "optimizer_state_device"} < set(named["cpu"])
    assert {"wrong_default_index", "split_model_activation_not_moved"} < set(named["gpus"])
    assert named["mps"][0] == "mps_or_other_backend" and named["meta"][0] == "meta_device_leftover"
    for name, ids in folds.items():
        assert not ids or load().causes[ids[0]].title.replace("`", "") in name
    for name in ("SD010", "SD020", "SD104"):
        assert "Your message names m" not in words(articles[name])  # neither mps nor meta


def test_sd001_is_short(visit):
    page = visit("errors/sd001/", width=360)
    assert page.evaluate("document.documentElement.scrollHeight") <= 3500
    page.evaluate("document.querySelectorAll('.headerlink, article details').forEach((part) => part.remove())")
    assert len(page.locator("article").text_content().split()) <= 300  # each cause is a row more, but a folded one


def test_a_page_says_what_the_newest_text_says_and_the_note(articles):
    for message in MESSAGES.values():
        text = words(articles[message.id])
        for sentence in (explain(usual_text(message)).says, message.note):
            assert " ".join(sentence.replace("`", "").split()) in text, message.id


def test_a_page_says_where_the_message_is_raised(articles):
    for message in MESSAGES.values():
        raised = articles[message.id].find("strong", string="Raised in").find_parent("p")
        assert words(raised) == f"Raised in {message.raised}"


def test_files_of_pytorch_are_linked_and_no_others(articles):
    linked = {
        str(link["href"]): message.raised
        for message in MESSAGES.values()
        for link in articles[message.id].select("a[href*='pytorch/blob/']")
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

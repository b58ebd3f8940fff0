"""What programs read of the site: llms.txt, the Markdown twins, catalog.json, and what search engines take."""

import html
import json
import re

import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from tests.site.conftest import ROOT

from samedevice.catalog import load
from site_build.markdown_twin import markdown_twin

HEAD = re.compile(r"^.*?(<head>.*?</head>).*?(<h1\b.*?</h1>).*$", re.DOTALL)
ADDRESS = "https://example.org/site/page/"


@pytest.fixture(scope="module")
def published(site) -> str:
    return str(site.page("").select_one("link[rel=canonical]")["href"])


@pytest.fixture(scope="module")
def places(site):
    """Where each page stands, those that are made from the catalog included."""
    return [path.relative_to(site.folder).as_posix().removesuffix("index.html") for path in site.html()]


@pytest.fixture(scope="module")
def heads(site, places):
    """The head of each page with its heading, by the page's place."""
    return {place: BeautifulSoup(HEAD.sub(r"\1\2", site.read(f"{place}index.html")), "html.parser") for place in places}


@pytest.fixture(scope="module")
def facts(heads):
    """The structured data of each page, by its place."""
    found = {}
    for place, head in heads.items():
        (script,) = head.select("script[type='application/ld+json']")
        found[place] = json.loads(script.string)["@graph"]
    return found


def described(kind, facts):
    return [fact for fact in facts if kind in fact["@type"]]


def test_each_page_has_a_twin_that_it_names_with_its_heading(site, heads):
    for place, page in heads.items():
        (link,) = page.select("link[rel=alternate][type='text/markdown']")
        assert link["href"] == "index.md"
        heading = page.select_one("h1")
        name = " ".join(heading.get_text().removesuffix("\N{PILCROW SIGN}").split())
        twin = site.read(f"{place}index.md")
        assert f"# {name}".replace("`", "") in twin.replace("`", "").replace("\\<", "<").splitlines(), place
        assert not re.search(r"\]\((?!https?://)", re.sub(r"```.*?```|`[^`\n]*`", "", twin, flags=re.S)), place


def test_the_twin_of_a_message_has_its_newest_text_and_lines_to_change(site):
    for message in load().messages.values():
        twin = site.read(f"errors/{message.id.lower()}/index.md")
        lines = message.texts[0]["text"].strip().splitlines()
        assert [line.strip() for line in lines if line.strip() not in twin.replace("\\<", "<")] == [], message.id
    assert "+     x, y = x.to(device), y.to(device)" in site.read("errors/sd001/index.md")


def test_the_twin_of_a_lesson_has_its_code_outputs_and_errors(site, lessons):
    for lesson in lessons:
        page, twin = site.page(lesson), site.read(f"{lesson}index.md")
        for code in page.select("article pre > code"):
            lines = [line.strip() for line in code.get_text().strip("\n").rstrip().splitlines()]
            assert all(line in twin for line in lines), (lesson, lines)


def test_twins_are_no_heavier_than_their_pages(site, places):
    for place in places:
        assert len(site.read(f"{place}index.md")) < len(site.read(f"{place}index.html")), place


def test_llms_txt_lists_each_page_once_and_what_it_lists_is_there(site, places, published):
    text = site.read("llms.txt")
    assert re.match(r"# Same Device\n\n> .+\n\n", text)
    links = re.findall(r"^- \[.+\]\((\S+)\)(?:: .+)?$", text, re.M)
    assert len(links) == len(set(links))
    assert all(link.startswith(published) for link in links)
    listed = {link.removeprefix(published) for link in links}
    assert listed == {f"{place}index.md" for place in places} | {"catalog.json"}
    assert all((site.folder / place).is_file() for place in listed)


def test_the_page_for_agents_shows_the_lines_of_the_skill(site):
    lines = (ROOT / "src/samedevice/skills/samedevice/SKILL.md").read_text("utf-8").splitlines()[5:]
    assert "\n".join(lines) in site.page("for-agents/").select_one("article").get_text()
    assert "\n".join(lines) in site.read("for-agents/index.md")


def test_the_catalog_has_a_version_each_message_and_each_cause(site, published):
    data = json.loads(site.read("catalog.json"))
    assert data["version"] == 1
    assert [message["id"] for message in data["messages"]] == list(load().messages)
    assert data["causes"].keys() == load().causes.keys()
    for message in data["messages"]:
        assert (site.folder / message["page"].removeprefix(published) / "index.html").is_file()
        assert set(message["causes"]) <= data["causes"].keys()
    keys = {key for entry in [*data["messages"], *data["causes"].values()] for key in entry}
    described = site.read("llms.txt").rpartition("## Data")[2]
    assert {key for key in keys if f"`{key}`" not in described} == set()


def test_structured_data_is_true_of_its_page(site, facts, heads, published):
    for place, found in facts.items():
        page = heads[place]
        canonical = page.select_one("link[rel=canonical]")["href"]
        if place == "":
            assert [fact["url"] for fact in described("WebSite", found)] == [canonical]
            continue
        (article,) = described("TechArticle", found)
        assert article["url"] == canonical
        assert article["description"] == page.select_one("meta[name=description]")["content"]
        assert page.title.get_text().removesuffix(" - Same Device") == article["headline"]
        assert article["isPartOf"]["url"] == published
        for way in described("BreadcrumbList", found):
            steps = [step["item"] for step in way["itemListElement"]]
            assert steps[0] == published
            assert steps[-1] == canonical
            assert all((site.folder / step.removeprefix(published) / "index.html").is_file() for step in steps)
    assert {fact["@type"] for found in facts.values() for fact in found if isinstance(fact["@type"], str)} <= {
        "WebSite",
        "TechArticle",
        "BreadcrumbList",
    }


def test_pages_below_a_list_say_the_way_to_them(facts, lessons):
    for place in [*lessons, "errors/sd001/"]:
        (way,) = described("BreadcrumbList", facts[place])
        assert [step["position"] for step in way["itemListElement"]] == [1, 2, 3]


def test_an_errors_page_is_described_by_its_cause(heads):
    sd001 = heads["errors/sd001/"].select_one("meta[name=description]")["content"]
    assert sd001.startswith("Most likely: The batch stayed on the CPU. In a linear layer, mat1 is the input.")


def test_a_twin_shows_markup_that_a_page_shows_as_text():
    shown = '<p>Write <code>a &lt; b</code> or &lt;b&gt;.</p><pre><code>x = "```"\n</code></pre>'
    assert markdown_twin(shown, ADDRESS) == 'Write `a < b` or \\<b>.\n\n````\nx = "```"\n````\n'


def test_a_twin_has_lists_tables_links_and_the_description_of_a_picture():
    page = """<ol><li>One<ul><li>a <a href="../x/#y">b</a></li></ul></li><li>Two</li></ol>
    <table><thead><tr><th>k</th><th>v</th></tr></thead><tbody><tr><td>a|b</td><td><strong>1</strong></td></tr></tbody></table>
    <svg><title>t</title><desc>d</desc><text>noise</text></svg><button>Copy</button>"""
    assert markdown_twin(page, ADDRESS) == (
        "1. One\n  - a [b](https://example.org/site/x/#y)\n2. Two\n\n"
        "| k | v |\n| --- | --- |\n| a\\|b | **1** |\n\n(Picture: d)\n"
    )


def test_a_twin_of_a_notebook_names_no_folder_of_a_machine_and_a_title_cannot_end_the_script(build_small):
    hostile = "</script><script>alert(1)</script>"
    error = new_output("error", ename="RuntimeError", evalue="at /home/ann/x.py", traceback=["/home/ann/x.py in f"])
    lesson = new_notebook(cells=[new_markdown_cell("# A"), new_code_cell("f()", outputs=[error])])
    lesson.metadata["title"] = hostile
    built = build_small({"index.md": "# Home"}, {"01-a.ipynb": lesson})
    assert built.returncode == 0, built.log
    twin = built.read("notebooks/01-a/index.md")
    assert "RuntimeError: at" in twin
    assert "/home/ann" not in twin
    (script,) = built.page("notebooks/01-a/").select("script[type='application/ld+json']")
    assert json.loads(script.string)["@graph"][0]["headline"] == html.unescape(hostile)

"""CONTRIBUTING.md and MAINTAINING.md are pages of the site, made from the files that GitHub shows."""

import re
import textwrap

import pytest
from tests.site.conftest import ROOT, UPSTREAM

from site_build.guides import GUIDES, guide_page

FILES = {place.replace(".md", "/"): guide.file for place, guide in GUIDES.items()}
GITHUB = f"https://github.com/{UPSTREAM}"


@pytest.fixture
def rewritten(tmp_path):
    """The body of contributing.md, if CONTRIBUTING.md is the given text."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "LICENSE").touch()

    def rewrite(text):
        (tmp_path / "CONTRIBUTING.md").write_text(text, "utf-8")
        pages = {"simulated-cuda.md", "notebooks/01-x.ipynb"}
        return guide_page("contributing.md", tmp_path, GITHUB, pages).split("---\n\n", 1)[1]

    return rewrite


@pytest.mark.parametrize(
    ("on_github", "on_the_site"),
    [
        ("MAINTAINING.md", "maintaining.md"),
        ("MAINTAINING.md#a-lesson", "maintaining.md#a-lesson"),
        ("#the-tests", "#the-tests"),
        ("docs/simulated-cuda.md#what-it-costs", "simulated-cuda.md#what-it-costs"),
        ("notebooks/01-x.ipynb", "notebooks/01-x.ipynb"),
        ("LICENSE", f"{GITHUB}/blob/main/LICENSE"),
        ("LICENSE#L3", f"{GITHUB}/blob/main/LICENSE#L3"),
        ("tools", f"{GITHUB}/tree/main/tools"),
        ("https://docs.github.com/en/pages", "https://docs.github.com/en/pages"),
        ("missing.md", "missing.md"),
    ],
)
def test_a_link_leads_on_the_site_where_it_leads_on_github(rewritten, on_github, on_the_site):
    assert rewritten(f"See [`a` b]({on_github}), then.\n") == f"See [`a` b]({on_the_site}), then.\n"


def test_code_that_looks_like_a_link_stays(rewritten):
    block = "```python\nrows[0](LICENSE)\n```\n"
    text = f"Call `rows[0](LICENSE)`.\n\n{block}\n- item:\n\n{textwrap.indent(block, '    ')}"
    assert rewritten(text) == text


@pytest.mark.parametrize("place", FILES)
def test_each_guide_is_a_page_with_all_headings_and_code_of_its_file(site, place):
    text = (ROOT / FILES[place]).read_text("utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.S | re.M)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    article = site.page(place).select_one("article")
    for link in article.select(".headerlink"):
        link.decompose()
    assert [heading.get_text() for heading in article.select("h1, h2, h3")] == re.findall(r"^#+ (.+)$", prose, re.M)
    assert [code.get_text().strip() for code in article.select("div.highlight pre")] == [
        code.strip() for code in blocks
    ]


@pytest.mark.parametrize("place", FILES)
def test_a_link_of_a_guide_to_a_file_of_the_checkout_leads_to_the_repository(site, place):
    links = [link["href"] for link in site.page(place).select("article a[href]")]
    files = [link.removeprefix(f"https://github.com/{UPSTREAM}/blob/main/") for link in links if UPSTREAM in link]
    assert all((ROOT / file).is_file() for file in files)
    assert not [link for link in links if link.partition("#")[0].endswith(".md") and "://" not in link]

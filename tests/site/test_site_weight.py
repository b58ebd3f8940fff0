"""The budgets of a lesson's page, and that no page names what a reader should not see."""

import gzip
import re

KB = 1000


def gzipped(data: bytes) -> int:
    return len(gzip.compress(data, 9))


def test_a_lessons_html_is_at_most_180_kb_and_25_kb_gzipped(site, lessons):
    for lesson in lessons:
        data = (site.folder / lesson / "index.html").read_bytes()
        assert len(data) <= 180 * KB, lesson
        assert gzipped(data) <= 25 * KB, lesson


def test_html_css_and_js_of_a_page_are_at_most_90_kb_gzipped(site):
    for page in site.pages:
        folder = site.folder / page
        html = site.page(page)
        linked = [link["href"] for link in html.select("link[rel=stylesheet]")]
        linked += [script["src"] for script in html.select("script[src]")]
        assert linked
        files = [folder / "index.html", *(folder / str(path) for path in linked)]
        assert sum(gzipped(file.read_bytes()) for file in files) <= 90 * KB, page


def test_a_page_is_not_indented_but_where_a_reader_sees_it(site, build_small):
    assert all(not re.search(r"<(article|nav|li)[^>]*>\n\s", path.read_text("utf-8")) for path in site.html())
    code = "if x:\n    <b>\n\n        y"
    built = build_small({"index.md": f"# Home\n\n```text\n{code}\n```\n"}, {"01-a.ipynb": ["# A"]})
    assert built.page("").select_one("article pre code").get_text().rstrip() == code


def test_no_page_holds_a_path_of_a_machine_or_a_terminals_colours(site):
    for path in site.html():
        page = path.read_text(encoding="utf-8")
        assert "\x1b" not in page
        text = re.sub(r'(href|src|content)="[^"]*"', "", page)
        assert not re.search(r"/(home|root|Users|tmp|usr|opt)/\w|site-packages|\.venv", text), path


def test_no_traceback_is_longer_than_30_lines(site, lessons):
    for lesson in lessons:
        for traceback in site.page(lesson).select("pre.traceback"):
            assert len(traceback.get_text().splitlines()) <= 30, lesson


def test_the_site_holds_no_templates_nor_code(site):
    assert not [path for path in site.folder.rglob("*") if path.suffix in (".py", ".pyc", ".j2")]

"""What a page weighs, of every kind of page, and what the site does not carry."""

import functools
import gzip
import re
from pathlib import Path

KB = 1000


@functools.cache
def gzipped(file: Path) -> int:
    return len(gzip.compress(file.read_bytes(), 9))


def with_imports(script: Path) -> set[Path]:
    """A script and what it imports before it runs; what it loads when it is used does not count."""
    imports = re.findall(r"""^import\b[^;'"]*["']([^"']+)["']""", script.read_text("utf-8"), re.M)
    return {script}.union(*(with_imports((script.parent / path).resolve()) for path in imports))


def test_a_lessons_html_is_at_most_180_kb_and_25_kb_gzipped(site, lessons):
    for lesson in lessons:
        page = site.folder / lesson / "index.html"
        assert page.stat().st_size <= 180 * KB, lesson
        assert gzipped(page) <= 25 * KB, lesson


def test_html_css_and_js_of_every_page_are_at_most_90_kb_gzipped(site, tags):
    loaded = {}
    for page, found in tags.items():
        sheets = {tag["href"] for _, tag in found if tag.get("rel") in ("stylesheet", "modulepreload")}
        scripts = {tag["src"] for name, tag in found if name == "script" and "src" in tag}
        # 404.html gives its addresses from the root of the host, since it is shown in any folder.
        files = {(page.parent / re.sub(r"^/[^/]+/", "", path)).resolve() for path in sheets | scripts}
        files = files.union(*(with_imports(file) for file in files if file.suffix == ".js"))
        loaded[page] = {file.name: gzipped(file) for file in {page, *files}}
        assert {".html", ".css", ".js"} == {file.suffix for file in files | {page}}, page
    assert {page: sizes for page, sizes in loaded.items() if sum(sizes.values()) > 90 * KB} == {}
    assert {"normalise.js", "paste-box.js", "diagnosis.js"} <= loaded[site.folder / "index.html"].keys()


def test_the_doctor_that_comes_after_the_page_is_one_file_of_at_most_42_kb_gzipped(site):
    doctor = site.folder / "assets/doctor.js"
    assert {file.name for file in with_imports(doctor) - {doctor}} == {"normalise.js"}  # which the page has by then
    assert gzipped(doctor) <= 42 * KB


def test_a_page_is_not_indented_but_where_a_reader_sees_it(site, build_small):
    assert all(not re.search(r"<(article|nav|li)[^>]*>\n\s", path.read_text("utf-8")) for path in site.html())
    code = "if x:\n    <b>\n\n        y"
    built = build_small({"index.md": f"# Home\n\n```text\n{code}\n```\n"}, {"01-a.ipynb": ["# A"]})
    assert built.page("").select_one("article pre code").get_text().rstrip() == code


def test_no_traceback_is_longer_than_30_lines(site, lessons):
    for lesson in lessons:
        for traceback in site.page(lesson).select("pre.traceback"):
            assert len(traceback.get_text().splitlines()) <= 30, lesson


def test_the_site_holds_no_templates_nor_code(site):
    assert not [path for path in site.folder.rglob("*") if path.suffix in (".py", ".pyc", ".j2")]

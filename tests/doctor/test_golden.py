"""What a reader sees, as files: pastes in golden/*.paste, and their diagnoses as text, for `rich` and as HTML."""

import difflib
import html.parser
import io
from pathlib import Path

import pytest
from rich.console import Console

from samedevice import explain
from samedevice.doctor import site_addresses

GOLDEN = Path(__file__).parent / "golden"
PASTES = sorted(GOLDEN.glob("*.paste"))


def as_rich(diagnosis, width=88):
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=True,
        color_system="standard",
        legacy_windows=False,
        no_color=False,
        _environ={},
    )
    console.print(diagnosis)
    return console.file.getvalue()


RENDERINGS = {
    ".txt": str,
    ".html": lambda diagnosis: diagnosis._repr_html_() + "\n",
    # The escape would be swallowed by whatever shows the file.
    ".rich.txt": lambda diagnosis: as_rich(diagnosis).replace("\x1b", "\u241b"),
}


@pytest.fixture(autouse=True)
def no_address(monkeypatch):
    """The project has no address yet, or it has: the golden files are what is shown until then."""
    monkeypatch.setattr(site_addresses, "REPOSITORY", f"https://github.com/{site_addresses._NOBODY}/any-name")


@pytest.fixture
def an_address(monkeypatch, no_address):
    monkeypatch.setattr(site_addresses, "REPOSITORY", "https://github.com/Some_name/any-name")
    return "https://some_name.github.io/any-name/"


@pytest.mark.parametrize("suffix", RENDERINGS)
@pytest.mark.parametrize("paste", PASTES, ids=lambda paste: paste.stem)
def test_a_diagnosis_reads_as_its_golden_file(paste, suffix, pytestconfig):
    shown = RENDERINGS[suffix](explain(paste.read_bytes()))
    golden = paste.with_suffix(suffix)
    if pytestconfig.getoption("--update-golden", default=False):
        golden.write_text(shown, "utf-8", newline="\n")
        return
    expected = golden.read_text("utf-8") if golden.exists() else ""
    if shown != expected:
        lines = difflib.unified_diff(expected.splitlines(), shown.splitlines(), golden.name, "now", lineterm="")
        pytest.fail(
            "\n".join(["`pytest tests/doctor --update-golden` writes what is shown now.", *lines]), pytrace=False
        )


@pytest.mark.parametrize("paste", PASTES, ids=lambda paste: paste.stem)
def test_text_is_the_same_with_and_without_an_address(paste, no_address, monkeypatch):
    diagnosis = explain(paste.read_bytes())
    before = str(diagnosis), diagnosis.more, as_rich(diagnosis)
    monkeypatch.setattr(site_addresses, "REPOSITORY", "https://github.com/some_name/any-name")
    again = explain(paste.read_bytes())
    assert (str(again), again.more, as_rich(again)) == before


def test_html_leads_to_the_site_once_it_has_an_address(an_address):
    page = f'<p><a href="{an_address}errors/sd001/">SD001 on the site</a></p>'
    assert page in explain((GOLDEN / "traceback.paste").read_bytes())._repr_html_()
    form = '<a href="https://github.com/Some_name/any-name/issues/new?template=unknown-error.yml&amp;error=RuntimeError'
    assert form in explain((GOLDEN / "unknown.paste").read_bytes())._repr_html_()
    assert "some_name" not in explain((GOLDEN / "out-of-memory.paste").read_bytes())._repr_html_().lower()


def test_no_golden_file_is_left_without_its_paste():
    expected = {paste.with_suffix(suffix).name for paste in PASTES for suffix in (".paste", *RENDERINGS)}
    assert {file.name for file in GOLDEN.iterdir()} == expected


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.attributes = set(), [], set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.open.append(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("paste", PASTES, ids=lambda paste: paste.stem)
def test_html_holds_only_the_tags_and_attributes_of_our_own(paste):
    tags = Tags(explain(paste.read_bytes())._repr_html_())
    ours = {"div", "p", "strong", "pre", "code", "ins", "del", "details", "summary", "dl", "dt", "dd", "a"}
    assert tags.tags <= ours
    assert tags.attributes <= {"class", "open", "href"}
    assert tags.open == []


@pytest.mark.parametrize("paste", PASTES, ids=lambda paste: paste.stem)
def test_prose_stays_within_the_width_and_code_is_never_broken(paste):
    diagnosis = explain(paste.read_bytes())
    for line in diagnosis.more.splitlines():
        assert len(line) <= 88 or line.startswith("    ") or "https://" in line or line.count("`") >= 2, line
        assert line.count("`") % 2 == 0 or "`" in diagnosis.says, line
    if diagnosis.causes and not diagnosis.culprits:
        before = [line.rstrip() for line in diagnosis.causes[0].cause.before.strip("\n").split("\n")]
        kept = [line[6:] for line in diagnosis.more.splitlines() if line[:6] in ("    - ", "      ")]
        assert [line for line in before if line and line not in kept] == []


@pytest.mark.parametrize("paste", PASTES, ids=lambda paste: paste.stem)
def test_the_first_screen_has_at_most_twenty_lines(paste):
    diagnosis = explain(paste.read_bytes())
    code = diagnosis.place.code.count("\n") if diagnosis.place else 0  # of a statement of several lines
    example = 6 * ("An example:" in str(diagnosis))  # which is longer than the reader's own line
    assert len(str(diagnosis).splitlines()) <= 20 + code + example


def test_a_narrow_console_gets_lines_of_its_width():
    shown = as_rich(explain((GOLDEN / "one-line.paste").read_bytes()), width=60)
    prose = [line for line in shown.splitlines() if line.startswith(("Most often", "Next"))]
    assert len(prose) == 2
    assert all(50 < len(line) <= 60 for line in prose)


def test_the_rest_is_told_to_those_who_ask_for_more():
    diagnosis = explain((GOLDEN / "one-line.paste").read_text("utf-8"))
    first, second, *_ = diagnosis.causes
    text, more = (" ".join(shown.split()) for shown in (str(diagnosis), diagnosis.more))
    for sentence in (first.why, second.why, second.cause.confirm, diagnosis.message.note):
        assert " ".join(sentence.split()) not in text
        assert " ".join(sentence.split()) in more
    assert second.title in text
    assert text.count("Most often: ") == more.count("Most often: ") == 1
    assert len(str(diagnosis)) < len(diagnosis._repr_html_())

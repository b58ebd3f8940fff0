# ruff: noqa: E501 (a mistake is a row)
"""The catalog is without mistakes, each kind of mistake is named, and what the catalog holds is shipped and read."""

import functools
import importlib.resources
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from samedevice import explain
from samedevice.catalog import __main__ as check
from samedevice.catalog import load

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src" / "samedevice" / "catalog"

# A whole catalog, small enough to be read again for every mistake that is put into it.
MESSAGE = r"""
title = "The flux differs"
subject = "fluxes"
raised = "flux.cpp"
says = ["The flux of {device} differs.", "Fluxes differ."]
patterns = ['the flux of (?P<device>\w{1,9}) differs from all others']
texts = [{torch = "2.13.0", text = "the flux of cpu differs from all others"}]
layers = [{when = {device = "c.."}, says = "The layer's flux is on {device}."}]
base = "flux"
causes = [{id = "old_flux", points = 1, when = {device = "c.u"}, because = "It is on {device}."}]

[[example]]
text = "RuntimeError: the flux of cpu differs from all others"
reads = {device = "cpu"}
first = "old_flux"
"""
FILES = {
    "messages/SD999.toml": MESSAGE,
    "messages/SD998.toml": """
title = "The flow stopped"
subject = "fluxes"
raised = "flow.cpp"
says = ["No flow."]
patterns = ["the flow has stopped"]
texts = [{torch = "2.13.0", text = "the flow has stopped"}]
causes = [{id = "no_flow", points = 1}]
""",
    "subjects.toml": """
[[subject]]
name = "fluxes"
heading = "All fluxes"
""",
    "bases.toml": """
[[base]]
name = "flux"
causes = [{id = "weak_flux", points = 0.5}]
""",
    "causes.toml": "".join(
        f"""
[[cause]]
id = "{name}"
title = "Flux: {name}"
why = "Fluxes age. `renew` renews one."
before = \'\'\'
$ flux --old
flux = {name}(1)
\'\'\'
after = \'\'\'
old = {name}(1)
flux = new(old)
\'\'\'
link = "https://example.org/fluxes"
confirm = "Print `flux.age`."
sign = "`flux.age` is high."
lesson = "01-flux"
unraised = "No test has a flux."
"""
        for name in ("old_flux", "weak_flux", "no_flow")
    ),
    "clues.toml": """
[[clue]]
pattern = "flux"
causes = {old_flux = 1}
because = "There is a flux."
messages = ["SD999"]
""",
    "other.toml": """
[[other]]
id = "flux_empty"
title = "The flux is empty"
says = "A flux is empty."
patterns = ["the flux is empty of all"]
link = "https://example.org/flux"
""",
    "claims.toml": """
[[claim]]
id = "flux-flows"
claim = "A flux flows."
verdict = "false"
truth = "It does not."
proof = "Look at `flux`."
home = "01-flux"
seen = []
""",
    "operations.toml": """
[[operation]]
functions = ["flow"]
arguments = ["self", "other"]
op = 'flow'
""",
    "factories.toml": """
[[rule]]
by = "default"
functions = ["flux"]
methods = ["flow"]

[[rule]]
by = "view"
methods = ["turned"]
""",
    "applications.toml": """
[[application]]
name = "Fluxer"
part = "node"
path = '/nodes_of_flux/(?P<part>[^/]{1,9})/'
tries = ["Update `flux`."]
report = "where it is from"

[[application]]
name = "Fluxer"
path = '/Fluxer/'
report = "https://example.org/fluxer"
""",
    "libraries.toml": """
[[library]]
name = "flow"
report = "https://example.org/flow"
known = true
""",
    "lessons.toml": """
[[lesson]]
slug = "01-flux"
title = "Fluxes"
group = "Start"
""",
    "practice.toml": """
[[practice]]
slug = "practice-1-flux"
title = "Practice: flux"
group = "Flux"
""",
}


def forget():
    """Have the catalog read again, by all that keep something of it."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("samedevice.catalog", "samedevice.doctor")):
            for value in vars(module).values():
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that is read in the catalog's place."""
    (tmp_path / "messages").mkdir()
    files = importlib.resources.files
    monkeypatch.setattr(
        importlib.resources, "files", lambda package: tmp_path if package == "samedevice.catalog" else files(package)
    )
    forget()
    yield tmp_path
    monkeypatch.undo()
    forget()


@pytest.fixture
def flux(folder):
    """The small catalog."""
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
def copy(folder):
    """A copy of the catalog."""
    for file in FOLDER.rglob("*.toml"):
        shutil.copy(file, folder / file.relative_to(FOLDER))
    return folder


def replaced(file, old, new):
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")


def test_the_catalog_has_no_mistake():
    assert check.mistakes() == []


def test_the_command_says_how_much_there_is_and_needs_no_torch():
    code = "import runpy, sys; sys.modules['torch'] = None; runpy.run_module('samedevice.catalog', run_name='__main__')"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    line = f"{len(load().messages)} messages with \\d+ texts, .*, {len(load().lessons)} lessons: no mistake.\n"
    assert re.fullmatch(line, process.stdout)


def test_the_command_prints_a_line_a_mistake_and_fails(copy, capsys):
    replaced(copy / "claims.toml", 'verdict = "false"', 'verdict = "wrong"')
    replaced(copy / "other.toml", 'link = "https://', 'link = "http://')
    assert check.main() == 2
    first, second = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"other\.toml: \w+: link: 'http:.* should begin with https://", first)
    assert re.fullmatch(r"claims\.toml: [\w-]+: verdict: 'wrong' should be one of: false, .*", second)


def test_the_command_tells_the_number_of_a_new_message(flux, capsys):
    (flux / "messages/SD999.toml").rename(flux / "messages/SD041.toml")
    (flux / "messages/SD998.toml").rename(flux / "messages/SD003.toml")
    assert check.main("--next") == 0
    assert capsys.readouterr().out == "SD042\n"


def test_the_command_refuses_what_it_does_not_know(capsys):
    assert check.main("--last") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "python -m samedevice.catalog takes nothing, or --next for the number of a new message.\n"


def test_the_small_catalog_is_right_before_it_is_spoilt(flux, capsys):
    assert check.main() == 0
    assert capsys.readouterr().out.startswith("2 messages with 3 texts, 3 causes, 1 clues, ")


F = "messages/SD999.toml"
PATTERN = r"'the flux of (?P<device>\w{1,9}) differs from all others'"
MISTAKES = [
    # what, file, old, new, and of the mistake: entry, key, words
    ("not TOML", F, "[[example]]", "[[example", "", "", "not TOML in UTF-8: "),
    ("a string not closed", F, 'title = "The', 'title = The', "", "", "(at line 2, column 9)"),
    ("another table", "bases.toml", "[[base]]", "[[basis]]", "", "basis", "entries of this file are called base"),
    ("no entries", "bases.toml", "[[base]]\n", "[base]\n", "", "base", "write [[base]] before each"),
    ("an id that the file's name is already", F, "title =", 'id = "SD999"\ntitle =', "SD999", "id", "unknown key"),
    ("an unknown key", F, "title =", "tilte =", "SD999", "tilte", "do you mean title?"),
    ("a missing key", F, 'raised = "flux.cpp"\n', "", "SD999", "raised", "missing"),
    ("a string for a list", F, f"patterns = [{PATTERN}]", f"patterns = {PATTERN}", "SD999", "patterns", "should be a list"),
    ("a number for a string", F, '"The flux differs"', "3", "SD999", "title", "3 should be a string"),
    ("a string for a number", F, "points = 1", 'points = "1"', "SD999", "causes 1, points", "should be a number"),
    ("true for a number", F, "points = 1", "points = true", "SD999", "causes 1, points", "should be a number"),
    ("a string for a table", F, '{device = "c.u"}', '"c.u"', "SD999", "causes 1, when", "should be a table"),
    ("a number in a table", F, '{device = "c.u"}', "{device = 1}", "SD999", "causes 1, when, device", "a string"),
    ("a string in a list of tables", F, '{torch = "2.13.0", text = "the flux of cpu differs from all others"}', '"the flux"', "SD999", "texts 1", "should be a table"),
    ("an unknown key inside", F, "points = 1", "point = 1", "SD999", "causes 1, point", "do you mean points?"),
    ("a key inside that is missing", F, 'reads = {device = "cpu"}\n', "", "SD999", "example 1, reads", "missing"),
    ("an id that is taken", "causes.toml", '"weak_flux"', '"old_flux"', "old_flux", "id", "taken by another entry, in causes.toml"),
    ("a cause's id of another form", "causes.toml", '"old_flux"', '"old-flux"', "old-flux", "id", "with underscores"),
    ("a slug of another form", "lessons.toml", "01-flux", "flux", "flux", "slug", "two digits"),
    ("no pattern", F, PATTERN, "", "SD999", "patterns", "give at least one"),
    ("a pattern for Python alone", F, r"\w{1,9})", r"\S{1,9})", "SD999", "patterns 1", r"\S is not read alike"),
    ("a pattern of gaps", F, PATTERN, r"'a (?P<device>\w{1,9}) b'", "SD999", "patterns 1", "no words that a text must contain"),
    ("a pattern with a line end", F, "the flux of", r"the flux\nof", "SD999", "patterns 1", "never matches"),
    ("a pattern with two blanks", F, "differs from all others'", "differs  from'", "SD999", "patterns 1", "never matches"),
    ("a pattern that tries all", F, "'the flux of ", r"'\w{1,99} flux of ", "SD999", "patterns 1", "write \\b before it"),
    ("a subject that is not there", F, 'subject = "fluxes"', 'subject = "flux"', "SD999", "subject", "do you mean fluxes?"),
    ("a subject like no other", F, 'subject = "fluxes"', 'subject = "water"', "SD999", "subject", "known are fluxes"),
    ("a subject of no message", "subjects.toml", '"fluxes"', '"waters"', "waters", "name", "no message names this subject"),
    ("a base that is not there", F, 'base = "flux"', 'base = "fluxx"', "SD999", "base", "do you mean flux?"),
    ("no fallback sentence", F, ', "Fluxes differ."', "", "SD999", "says 1", "add one without {names}"),
    ("a sentence too many", F, '"Fluxes differ."', '"a", "b"', "SD999", "says 2", "never used"),
    ("a name that is not read", F, "of {device} differs", "of {devise} differs", "SD999", "says 1", "do you mean device?"),
    ("no sentence", F, '["The flux of {device} differs.", "Fluxes differ."]', "[]", "SD999", "says", "at least one"),
    ("code not closed", F, '"Fluxes differ."', '"`Fluxes differ."', "SD999", "says 2", "a ` is not closed"),
    ("an empty title", F, '"The flux differs"', '""', "SD999", "title", "empty"),
    ("an empty sentence", F, '"Fluxes differ."', '""', "SD999", "says 2", "empty"),
    ("a layer on no name", F, 'device = "c.."', 'devise = "c.."', "SD999", "layers 1, when, devise", "mean device?"),
    ("a layer of no name", F, "flux is on {device}", "flux is on {op}", "SD999", "layers 1, says", "{op} is read by no"),
    ("a text of no release", F, 'torch = "2.13.0"', 'torch = ""', "SD999", "texts 1, torch", "name the release, or any"),
    ("no text", F, '[{torch = "2.13.0", text = "the flux of cpu differs from all others"}]', "[]", "SD999", "texts", "empty"),
    ("a cause that is not there", F, 'id = "old_flux"', 'id = "old_fluxx"', "SD999", "causes 1, id", "do you mean old_flux?"),
    ("a condition on no name", F, 'device = "c.u"', 'devise = "c.u"', "SD999", "causes 1, when, devise", "mean device?"),
    ("a condition for Python alone", F, '"c.u"', r"'c\Su'", "SD999", "causes 1, when, device", "is not read alike"),
    ("a reason with no name", F, "It is on {device}.", "It is on {op}.", "SD999", "causes 1, because", "{op} is read by no"),
    ("an example's name", F, 'reads = {device = "cpu"}', 'reads = {devise = "cpu"}', "SD999", "example 1, reads, devise", "mean device?"),
    ("a text of no message", F, "flux of cpu differs from all others\"}", "flux\"}", "SD999", "texts 1, text", "no message at all"),
    ("a text of another", F, '"the flux of cpu differs from all others"}', '"the flow has stopped"}', "SD999", "texts 1, text", "read as SD998"),
    ("a text of another error", F, '"the flux of cpu differs from all others"}', '"the flux is empty of all"}', "SD999", "texts 1, text", "read as flux_empty"),
    ("an example of no message", F, 'text = "RuntimeError: the flux', 'text = "RuntimeError: flux', "SD999", "example 1, text", "no message at all"),
    ("an example that reads otherwise", F, 'reads = {device = "cpu"}', 'reads = {device = "cuda"}', "SD999", "example 1, reads, device", "'cuda' expected, 'cpu' read"),
    ("an example that reads more", F, 'reads = {device = "cpu"}', "reads = {}", "SD999", "example 1, reads, device", "'' expected, 'cpu' read"),
    ("an example with another first", F, 'first = "old_flux"', 'first = "weak_flux"', "SD999", "example 1, first", "'weak_flux' expected, 'old_flux' comes first"),
    ("a base of no message", "bases.toml", 'name = "flux"', 'name = "fluxes"', "fluxes", "name", "no message names this base"),
    ("a base's cause", "bases.toml", '"weak_flux"', '"weak_fluxx"', "flux", "causes 1, id", "do you mean weak_flux?"),
    ("a base's name", "bases.toml", "points = 0.5}", 'points = 0.5, when = {op = "a"}}', "flux", "causes 1, when, op", "no pattern reads it"),
    ("a cause of no message", "causes.toml", '"weak_flux"', '"wet_flux"', "wet_flux", "id", "no message can have this cause"),
    ("a lesson that is not there", "causes.toml", 'lesson = "01-flux"\nunraised = "No', 'lesson = "01-flu"\nunraised = "No', "old_flux", "lesson", "do you mean 01-flux?"),
    ("the same lines", "causes.toml", "$ flux --old\nflux = old_flux(1)\n", "old = old_flux(1)\nflux = new(old)\n", "old_flux", "after", "the same as before"),
    ("one line", "causes.toml", "$ flux --old\n", "", "old_flux", "before", "a fix has 2 to 10 lines, and this has 1"),
    ("many lines", "causes.toml", "flux = new(old)\n", "flux = new(old)\n" * 11, "old_flux", "after", "and this has 12"),
    ("a fix for one GPU", "causes.toml", "flux = new(old)", "flux = old.cuda(1)", "old_flux", "after", "write .to(device)"),
    ("lines that are not Python", "causes.toml", "flux = old_flux(1)", "flux = old_flux(1", "old_flux", "before", "never closed in its line 2"),
    ("a long line", "causes.toml", "flux = old_flux(1)", f"flux = old({'1' * 80})", "old_flux", "before", "phones show 80"),
    ("no lines at all", "causes.toml", "before = '''\n$ flux --old\nflux = old_flux(1)\n'''\n", "", "old_flux", "after", "give before and after"),
    ("lines beside commands", "causes.toml", 'confirm = "Print', "commands = '$ flux'\nconfirm = \"Print", "old_flux", "before", "commands are shown instead"),
    ("a command without its sign", "causes.toml", 'confirm = "Print', "commands = 'flux'\nconfirm = \"Print", "old_flux", "commands", "begin each line with $"),
    ("an alternative alone", "causes.toml", 'confirm = "Print', "commands = '''* now\n$ flux'''\nconfirm = \"Print", "old_flux", "commands", "one alternative is none"),
    ("an alternative without a command", "causes.toml", 'confirm = "Print', "commands = '''* now\n* later\n$ flux'''\nconfirm = \"Print", "old_flux", "commands", "and the commands below it"),
    ("many commands", "causes.toml", 'confirm = "Print', 'commands = """\n' + "$ flux\n" * 11 + '"""\nconfirm = "Print', "old_flux", "commands", "and this has 11"),
    ("commands for no shell", "causes.toml", 'confirm = "Print', "commands = '# flux'\nconfirm = \"Print", "old_flux", "commands", "no line is for a shell"),
    ("commands that no page explains", "causes.toml", 'link = "https://example.org/fluxes"', "commands = '$ flux'", "old_flux", "link", "missing"),
    ("a cause's link", "causes.toml", '"https://example.org/fluxes"', '"example.org"', "old_flux", "link", "https://"),
    ("nowhere to read on", "causes.toml", 'link = "https://example.org/fluxes"\n', "", "old_flux", "failure", "give the anchor of the lesson's heading"),
    ("a title that fills a row", "causes.toml", '"Flux: old_flux"', f'"Flux: {"o" * 55}"', "old_flux", "title", "61 characters; a row has room for 60"),
    ("a title with a full stop", "causes.toml", '"Flux: old_flux"', '"Fluxes age."', "old_flux", "title", "without a full stop"),
    ("a title that is taken", "causes.toml", '"Flux: weak_flux"', '"Flux: old_flux"', "weak_flux", "title", "old_flux has the same"),
    ("words that fill a page", "causes.toml", "Fluxes age.", f"Fluxes {'really ' * 124}age.", "old_flux", "why", "with `confirm` 131 words"),
    ("a wider cause that is not there", "causes.toml", 'confirm = "Print', 'within = "weak_fluxx"\nconfirm = "Print', "old_flux", "within", "do you mean weak_flux?"),
    ("a wider cause that is a case", "causes.toml", 'confirm = "Print', 'within = "old_flux"\nconfirm = "Print', "old_flux", "within", "is a case of old_flux itself"),
    ("a cause that the message does not have", "causes.toml", 'unraised = "No test has a flux."', 'raises = "SD998"', "old_flux", "raises", "add it to `causes` of messages/SD998.toml, or of its base"),
    ("no message that is raised", "causes.toml", 'unraised = "No test has a flux."', "", "old_flux", "raises", "give the message"),
    ("a message that is not there", "causes.toml", 'unraised = "No test has a flux."', 'raises = "SD997"', "old_flux", "raises", "there is no message 'SD997'"),
    ("a clue's pattern", "clues.toml", "pattern = \"flux\"", "pattern = 'f\\Sux'", "clue 1", "pattern", "is not read alike"),
    ("a clue's cause", "clues.toml", "{old_flux = 1}", "{old_fluxx = 1}", "clue 1", "causes, old_fluxx", "do you mean old_flux?"),
    ("a clue that never counts", "clues.toml", "{old_flux = 1}", "{no_flow = 1}", "clue 1", "causes, no_flow", "can have it"),
    ("a clue's message", "clues.toml", '["SD999"]', '["SD999", "SD997"]', "clue 1", "messages", "there is no message 'SD997'"),
    ("a clue's place", "clues.toml", 'pattern = "flux"', 'pattern = "flux"\nwhere = "file"', "clue 1", "where", "trace, own, line or below"),
    ("a pair of devices", "causes.toml", 'confirm = "Print', "between = ['cpu and cpu']\nconfirm = \"Print", "old_flux", "between", "should be one of"),
    ("a message's pair of devices", F, 'raised = "', "between = ['cpu and cpu']\nraised = \"", "SD999", "between", "should be one of"),
    ("a sign of what is not checked", "causes.toml", "`flux.age` is high", "`flux.old` is high", "old_flux", "sign", "`confirm` does not say flux.old"),
    ("a sign that fills a row", "causes.toml", "is high.", f"is {'very ' * 12}high.", "old_flux", "sign", "more than 14 words"),
    ("an operation's pattern", "operations.toml", "'flow'", "'flow.*'", "operation 1", "op", "no upper bound"),
    ("an operation twice", "operations.toml", '["flow"]', '["flow", "flow"]', "operation 1", "functions", "has a row already"),
    ("what decides a device", "factories.toml", '"view"', '"vie"', "vie", "by", "should be one of: default, data"),
    ("a device that is decided twice", "factories.toml", "turned", "flow", "view", "methods", "stands in the rule default already"),
    ("a rule twice", "factories.toml", '"view"', '"default"', "default", "by", "is taken by another entry"),
    ("an application's path", "applications.toml", "'/Fluxer/'", "'/Flux.*/'", "application 2", "path", "no upper bound"),
    ("a part without a name", "applications.toml", 'part = "node"\n', "", "application 1", "part", "if the path reads"),
    ("where to report", "applications.toml", "https://example.org/fluxer", "at home", "application 2", "report", "begin with https://"),
    ("what to try", "applications.toml", "`flux`.", "`flux.", "application 1", "tries 1", "a ` is not closed"),
    ("where to report a package", "libraries.toml", "https://example.org/flow", "at home", "flow", "report", "begin with https://"),
    ("a library's name", "libraries.toml", '"flow"', '"flow-er"', "flow-er", "name", "that Python can import"),
    ("whether it is known", "libraries.toml", "true", '"yes"', "flow", "known", "should be true or false"),
    ("a clue's reason", "clues.toml", "There is a flux.", "There is a {flow}.", "clue 1", "because", "{flow} is read by no pattern"),
    ("another error's pattern", "other.toml", "the flux is empty of all", "the .* flux", "flux_empty", "patterns 1", "no upper bound"),
    ("another error's link", "other.toml", "https://example.org/flux", "example.org", "flux_empty", "link", "https://"),
    ("a verdict", "claims.toml", 'verdict = "false"\ntruth = "It does', 'verdict = "wrong"\ntruth = "It does', "flux-flows", "verdict", "false, misleading"),
    ("a claim's home", "claims.toml", '"Look at `flux`."\nhome = "01-flux"', '"Look at `flux`."\nhome = "01-flu"', "flux-flows", "home", "do you mean 01-flux?"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "old", "new", "entry", "key", "words"),
    [pytest.param(*mistake, id=what) for what, *mistake in MISTAKES],
)
def test_a_mistake_is_named_with_file_entry_and_key(flux, file, old, new, entry, key, words):
    replaced(flux / file, old, new)
    found = check.mistakes()
    assert [one for one in found if one[:3] == (file, entry, key) and words in one.text], found


@pytest.mark.parametrize("name", ["clues.toml", "other.toml"])
def test_a_file_that_is_missing_is_named(flux, name):
    (flux / name).unlink()
    assert check.mistakes() == [(name, "", "", "there is no such file")]


@pytest.mark.parametrize("name", ["flux", "SD99", "sd999", "SD1000"])
def test_a_file_of_messages_with_a_name_that_is_no_number_is_named(flux, name):
    (flux / "messages/SD998.toml").rename(flux / f"messages/{name}.toml")
    text = "the file should be called SD and three digits, such as SD001.toml"
    assert check.mistakes() == [(f"messages/{name}.toml", "", "", text)]


def test_a_message_without_any_cause_is_named(flux):
    replaced(flux / "messages/SD999.toml", 'base = "flux"\n', "")
    text = (flux / "messages/SD999.toml").read_text("utf-8")
    (flux / "messages/SD999.toml").write_text(re.sub(r"causes = .*\n", "", text).replace("old_flux", ""), "utf-8")
    assert ("messages/SD999.toml", "SD999", "causes") in [one[:3] for one in check.mistakes()]


def test_a_text_for_which_no_cause_holds_is_named(flux):
    replaced(flux / "messages/SD999.toml", "causes = [{", 'causes = [{id = "weak_flux", points = -3}, {')
    replaced(flux / "messages/SD999.toml", '"c.u"', '"mps"')
    assert ("messages/SD999.toml", "SD999", "texts 1") in [one[:3] for one in check.mistakes()]


def test_a_heading_that_the_lesson_does_not_have_is_named(flux, tmp_path, monkeypatch):
    cells = [{"cell_type": "markdown", "source": ["# Fluxes\n", "\n", "## An `old` flux, renewed"]}]
    (tmp_path / "01-flux.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")
    monkeypatch.setattr("samedevice.catalog.causes._NOTEBOOKS", tmp_path)
    replaced(flux / "causes.toml", "link =", 'failure = "an-old-flux-renewed"\nlink =')
    assert check.mistakes() == []
    replaced(flux / "causes.toml", "an-old-flux-renewed", "an-old-flux")
    text = "01-flux has no heading with the anchor 'an-old-flux'; do you mean an-old-flux-renewed?"
    assert check.mistakes() == [("causes.toml", "old_flux", "failure", text)]


# ---- What is around the catalog


def test_the_lessons_are_those_that_exist():
    notebooks = sorted(file.stem for file in (ROOT / "notebooks").glob("[0-9]*.ipynb"))
    assert sorted(load().lessons) == notebooks, "Give each notebook one row in src/samedevice/catalog/lessons.toml."


def test_each_practice_notebook_has_a_row_that_names_a_group_of_lessons_or_stands_for_all():
    notebooks = {file.stem for file in (ROOT / "notebooks").glob("practice-*.ipynb")}
    assert notebooks <= set(load().practice), "Give each notebook one row in src/samedevice/catalog/practice.toml."
    groups = {lesson.group for lesson in load().lessons.values()}
    assert {practice.group for practice in load().practice.values()} <= groups | {""}


def test_explaining_loads_nothing_heavy():
    heavy = ("torch", "numpy", "rich", "IPython", "yaml", "mkdocs")
    code = (
        "import sys, samedevice\n"
        "diagnosis = samedevice.explain('RuntimeError: can\\'t convert CUDA tensor to numpy')\n"
        "assert diagnosis.message.id == 'SD050'; str(diagnosis); diagnosis._repr_html_()\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert process.stdout == "[]\n", process.stderr


def test_the_worked_example_of_contributing_is_a_message(copy):
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    entry = re.search(r"a new file, `src/samedevice/catalog/messages/.*?```toml\n(.*?)```", text, re.DOTALL)[1]
    assert len(entry.splitlines()) < 10
    (name,) = re.findall(r"a new file, `src/samedevice/catalog/messages/(SD\d{3})\.toml`", text)
    place = copy / f"messages/{name}.toml"
    place.unlink(missing_ok=True)  # whoever follows the example has it there
    forget()
    # Nothing is to be worked out if the catalog has it.
    assert explain(tomllib.loads(entry)["texts"][0]["text"]).message is None
    place.write_text(entry, "utf-8")
    forget()
    assert check.mistakes() == []
    (error,) = re.findall(r'samedevice explain "(.+)"', text)
    diagnosis = explain(error)
    assert diagnosis.message.id == name
    assert (diagnosis.reads["device"], diagnosis.reads["others"]) == ("cpu", "cuda:0")
    assert f'"{diagnosis.says}"' in text

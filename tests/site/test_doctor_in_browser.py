"""The paste box of the home page: it answers at once, keeps what is pasted to itself, and shows it as text."""

import re
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from tests.doctor.text.test_logs import of
from tests.site.conftest import UPSTREAM
from tests.site.paste_box import Box
from tests.site.pasted import AWKWARD, BARE, MARKUP, MESSAGE, NUMPY, OLD, TRACEBACK
from tests.site.words_of_the_report import words_of, words_shown

from samedevice import explain
from samedevice.doctor import site_addresses
from samedevice.doctor.site_addresses import issue_form
from samedevice.doctor.text.ways import INTRODUCTION

ROOT = Path(__file__).parents[2]
PHONE, LAPTOP = 360, 1280


@pytest.fixture
def stopped(open_box):
    """The box with the catalog loaded and the page's clock stopped."""

    def open_stopped():
        box = open_box()
        box.page.clock.install(time=0)
        box.page.reload()  # timers that the page had set before would be cleared by another clock, which fails
        box.paste(BARE)
        expect(box.result).to_be_visible()  # so the catalog is there; an idle network says nothing of it
        box.paste("")
        expect(box.result).to_be_hidden()
        box.page.clock.pause_at(1_000)
        return box

    return open_stopped


def test_the_box_is_on_the_first_screen_of_a_phone_and_of_a_laptop(open_box):
    for width in (PHONE, LAPTOP):
        box = open_box(width=width)
        bottom = box.page.locator(".doctor").bounding_box()
        assert bottom["y"] + bottom["height"] <= 800
        assert box.page.locator("article h1").bounding_box()["y"] < box.text.bounding_box()["y"]


def test_a_traceback_is_answered_with_place_sentence_fix_and_links_that_lead_somewhere(open_box, address):
    box = open_box().paste(TRACEBACK)
    expect(box.result.locator("h2")).to_contain_text("Most likely: ")
    diagnosis = explain(TRACEBACK)
    assert box.result.locator(".diagnosis__place").text_content() == "/srv/study/train.py, line 31, in main"
    assert box.result.locator(".diagnosis__code").text_content() == "logits = model(batch)"
    assert box.result.locator(".diagnosis__says").inner_text() == diagnosis.says.replace("`", "")
    first, *rest = diagnosis.causes
    assert box.result.locator("h2").inner_text() == f"Most likely: {first.title}".replace("`", "")
    assert diagnosis.culprits[0].fix in box.result.locator(".change ins").first.inner_text()
    others = [likely for likely in rest if likely.because]
    folded = ["Why this happens", *[f"Other causes ({len(others)})"] * bool(others), INTRODUCTION]
    assert box.result.locator("details:not([open]) > summary").all_inner_texts() == folded
    assert all(reason.replace("`", "") in box.result.text_content() for reason in first.because[:3])
    links = [link.get_attribute("href") for link in box.result.locator("a").all()]
    assert f"{address}errors/{diagnosis.message.id.lower()}/" in links
    for link in links:
        assert box.page.request.get(link).ok, link


MODEL = f"""Traceback (most recent call last):
  File "/home/me/model.py", line 96, in forward
    x = torch.add(
        self.token, x)
{BARE}"""
CELL = f"Cell In[3], line 4\n----> 4 out = f(x)\n\n{OLD}"
LOGS = [of("several"), of("handled-then-key"), of("pytest-all-short"), TRACEBACK.replace("batch", "b\u202eatch")]
BUILD = "AssertionError: Torch not compiled with CUDA enabled"


@pytest.mark.parametrize(
    "text",
    [
        TRACEBACK,
        BARE,
        MESSAGE,
        NUMPY,
        MODEL,
        CELL,
        f"I ran this:\n\n    y = x * torch.zeros(3)\n\n{BARE}",
        BUILD,
        *LOGS,
    ],
)
def test_what_is_shown_stands_in_the_order_and_in_the_words_of_the_report(open_box, text):
    box = open_box().paste(text)
    expect(box.result).to_be_visible()
    assert words_shown(box.result) == words_of(explain(text))


def test_what_is_named_is_marked_in_the_failing_line_and_can_be_read(open_box):
    for scheme in ("light", "dark"):
        box = open_box(color_scheme=scheme).paste(MODEL)
        expect(box.result.locator(".change__place").first).to_have_text("your line 97 of model.py, in forward:\n")
        box.result.locator("summary").first.click()  # the lines to change are elsewhere: these lines are in the fold
        mark = box.result.locator(".diagnosis__code mark")
        named = {culprit.expression for culprit in explain(MODEL).culprits}
        assert set(mark.all_text_contents()) == named == {"self.token", "x"}
        code = box.result.locator(".diagnosis__code").text_content()
        assert code == "x = torch.add(\n    self.token, x)"
        found = Axe().run(box.page, context=".diagnosis", options={"runOnly": ["color-contrast"]})
        assert found.response["violations"] == []


def test_a_paste_that_was_made_to_be_hard_to_read_is_answered(open_box):
    begin = 'Traceback (most recent call last):\n  File "a.py", line 1, in forward\n    x = '
    page = open_box().page
    for line in ("(" * 390, "a if " * 78, "a+" * 195, "-" * 390, "a.b" * 130, "\"a'" * 130, "x(" * 195, "lambda:" * 55):
        for text in (f"{begin}{line}\n" * 450 + BARE, f"x = {line[:290]}\n" * 600 + BARE):
            ms = page.evaluate(HOW_LONG, text)
            assert ms < 1_000, line[:10]


HOW_LONG = """async (text) => {
  const { explain } = await import(new URL("assets/doctor.js", document.baseURI));
  const catalog = await (await fetch("assets/catalog.json")).json();
  const begin = performance.now();
  explain(catalog, text);
  return performance.now() - begin;
}"""


def test_the_lines_to_change_are_marked_as_deleted_and_inserted(open_box):
    box = open_box().paste(MODEL)
    expect(box.result.locator("h2")).to_be_visible()
    change = box.result.locator(".change").first
    assert all(line.startswith("- ") for line in change.locator("del").all_inner_texts())
    assert all(line.startswith("+ ") for line in change.locator("ins").all_inner_texts())
    assert change.locator("ins").count()


def test_the_diagnosis_stands_within_50_ms_of_the_last_key_and_needs_no_second_task(stopped):
    box = stopped()
    box.paste(MESSAGE)
    assert box.result.is_hidden()
    box.page.clock.run_for(50)
    assert "mat1" in box.result.inner_text()


def test_a_screen_reader_is_told_once_and_not_at_each_key(stopped):
    box = stopped()
    box.spoken.evaluate("""(spoken) => {
      window.told = 0;
      new MutationObserver((changes) => (told += changes.length)).observe(spoken, { childList: true });
    }""")
    assert box.spoken.get_attribute("role") == "status"
    assert box.page.locator(".diagnosis[aria-live], .diagnosis [aria-live]").count() == 0
    for end in range(len(MESSAGE) - 12, len(MESSAGE) + 1, 3):
        box.paste(MESSAGE[:end])
        box.page.clock.run_for(100)
    assert box.spoken.inner_text() == ""
    assert box.result.is_visible()
    box.page.clock.run_for(2_000)
    diagnosis = explain(MESSAGE)
    for part in (diagnosis.says, diagnosis.causes[0].title):
        assert part.replace("`", "") in box.spoken.inner_text()
    assert box.page.evaluate("window.told") == 1


def test_a_key_that_changes_nothing_leaves_unfolded_what_was_unfolded(stopped):
    box = stopped().paste(BARE)
    box.page.clock.run_for(50)
    box.result.locator("summary").first.click()
    box.paste(f"{BARE}\n")
    box.page.clock.run_for(50)
    assert box.result.locator("details[open]").count() == 1


@pytest.fixture
def address_is_known(monkeypatch):
    """The page knows its repository by the site's settings, whoever owns it."""
    monkeypatch.setattr(site_addresses, "REPOSITORY", f"https://github.com/{UPSTREAM}")


@pytest.mark.usefixtures("address_is_known")
def test_an_unknown_text_gets_what_to_paste_next_and_a_form_that_nothing_was_sent_to(open_box):
    text = "a" * 3_000 + " 我 & <b>\nValueError"
    box = open_box().paste(text)
    expect(box.result).to_contain_text("Paste the whole error")
    expect(box.result).to_contain_text("nothing is published until you submit it there.")
    link = urlsplit(box.result.get_by_role("link", name="tell us").get_attribute("href"))
    wanted = urlsplit(issue_form(text))
    assert link[:3] == wanted[:3]
    assert parse_qs(link.query) == parse_qs(wanted.query)


@pytest.mark.usefixtures("address_is_known")
def test_the_form_has_the_field_that_the_link_fills():
    link = parse_qs(urlsplit(issue_form("the error")).query)
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / link.pop("template")[0]).read_text(encoding="utf-8"))
    fields = {field["id"]: field for field in form["body"] if "id" in field}
    assert list(link) == ["error"]
    assert fields["error"]["type"] == "textarea"
    assert fields["error"]["attributes"]["render"] == "text"


def test_another_error_is_named_as_such_with_a_link(open_box):
    box = open_box().paste(AWKWARD["out of memory"])
    expect(box.result).to_contain_text("This is not a device error.")
    assert box.result.get_by_role("link").get_attribute("href") == explain(AWKWARD["out of memory"]).other.link


@pytest.mark.parametrize("message", [BARE, "ValueError"])
def test_pasted_markup_stays_text(open_box, message):
    for by_link in (False, True):
        box = open_box(f"#error={quote(MARKUP + message)}" if by_link else "")
        if not by_link:
            box.paste(MARKUP + message)
        expect(box.result).to_be_visible()
        assert box.text.input_value() == MARKUP + message
        if message == BARE:
            assert "<img src=x onerror=ran=1>" in box.result.locator(".diagnosis__place").inner_text()
            assert "<svg onload=ran=1>" in box.result.locator(".diagnosis__code").inner_text()
        assert (
            box.page.locator(".doctor :is(img, svg, script, b, [onerror], [onload], [href^=javascript])").count() == 0
        )
        assert box.page.evaluate("typeof ran") == "undefined"


@pytest.mark.parametrize("way", ["pasted", "typed in place of all by a script"])
def test_ten_megabytes_leave_the_page_alive_and_are_answered(with_clipboard, way):
    box, log = with_clipboard, "step 1: loss 0.5\n"
    if way == "pasted":
        box.page.evaluate("([log, end]) => navigator.clipboard.writeText(log.repeat(600_000) + end)", [log, TRACEBACK])
        box.text.press("Control+V")
    else:
        box.text.fill(log * 600_000 + TRACEBACK)
    expect(box.result).to_contain_text("mat1")
    expect(box.note).to_contain_text("Only the last 200,000 characters are kept")
    assert len(box.text.input_value()) == 200_000
    box.paste(NUMPY)
    expect(box.result).to_contain_text("NumPy")
    expect(box.note).to_be_empty()


def test_a_shared_link_shows_the_same_text_and_diagnosis(with_clipboard, visit, address):
    text = f"{MARKUP}我 😀 #?&%41+ \u2028 \\n\n{TRACEBACK}"
    sender = with_clipboard.paste(text)
    sender.page.get_by_role("button", name="Copy a link").click()
    expect(sender.shared).to_have_text("Link copied. Whoever has it reads this text, paths included.")
    link = sender.page.evaluate("navigator.clipboard.readText()")
    assert link == sender.page.evaluate("location.href")
    reader = Box(visit(link.removeprefix(address)))
    expect(reader.result).to_contain_text("mat1")
    assert reader.text.input_value() == text
    assert reader.page.evaluate("document.activeElement === document.body")


def test_a_link_followed_in_the_same_page_is_opened_and_typing_takes_it_out_of_the_address(open_box):
    box = open_box().paste(MESSAGE)
    expect(box.result).to_contain_text("mat1")
    box.page.evaluate("(text) => (location.hash = `error=${encodeURIComponent(text)}`)", NUMPY)
    expect(box.result).to_contain_text("NumPy")
    assert box.text.input_value() == NUMPY
    box.paste(MESSAGE)
    assert "#" not in box.page.evaluate("location.href")


def test_a_link_holds_the_last_8000_characters_and_says_so(open_box):
    box = open_box().paste("我😀" * 10_000 + TRACEBACK)
    box.page.get_by_role("button", name="Copy a link").click()
    expect(box.shared).to_contain_text("It holds the last 8,000 characters.")
    held = box.page.evaluate("decodeURIComponent(location.hash.slice('#error='.length))")
    assert len(held) == 8_000
    assert held.endswith(TRACEBACK)


@pytest.mark.parametrize("sign", ["\u0301", "\n", "\u2028"], ids=["marks", "lines", "separators"])
def test_of_a_longer_link_only_what_a_link_holds_is_read(open_box, address, sign):
    box = open_box()
    box.page.goto("about:blank")
    box.page.goto(f"{address}#error={quote(sign * 200_000 + TRACEBACK)}")
    expect(box.note).to_contain_text("Only the last 8,000 characters are kept")
    expect(box.result).to_contain_text("mat1")
    assert len(box.text.input_value()) == 8_000
    assert box.text.input_value().endswith(TRACEBACK)


@pytest.mark.parametrize("fragment", ["%E0%A4%A", "%", "%FF"])
def test_a_damaged_link_is_named_in_a_sentence(open_box, fragment):
    box = open_box(f"#error={fragment}")
    expect(box.note).to_contain_text("damaged")
    assert box.text.input_value() == ""


def test_each_example_is_recognised(open_box):
    box = open_box()
    examples = box.page.locator("[data-example]")
    assert 4 <= examples.count() <= 5
    for example in examples.all():
        diagnosis = explain(example.get_attribute("data-example"))
        example.click()
        expect(example).to_be_hidden()
        assert diagnosis.causes
        expect(box.result.locator("h2, .diagnosis__says").first).to_have_text(words_of(diagnosis)[0])
        box.page.locator("[data-clear]").click()


def test_nothing_that_is_pasted_leaves_the_browser(browser, address):
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append((request.url, request.post_data)))
    page.goto(f"{address}#error={quote('sesame ' + BARE)}", wait_until="networkidle")
    box = Box(page).paste(f"sesame {TRACEBACK}")
    page.get_by_role("button", name="Copy a link").click()
    expect(box.shared).not_to_be_empty()
    page.wait_for_timeout(300)
    page.close()
    assert any(url.endswith("assets/catalog.json") for url, _ in asked)
    assert [url for url, _ in asked if not url.startswith((address, "data:", "blob:"))] == []
    assert not any("sesame" in url.split("#")[0] or data for url, data in asked)


def test_what_is_known_about_errors_comes_after_the_page_or_with_the_first_text(browser, address):
    for path, early in (("", False), (f"#error={quote(BARE)}", True)):
        page = browser.new_page()
        order = []
        page.on("request", lambda request, order=order: order.append(request.url.rpartition("/")[2]))
        page.on("load", lambda _, order=order: order.append("load"))
        with page.expect_request("**/catalog.json"):  # it comes when the browser is idle, maybe after the network is
            page.goto(address + path)
        page.wait_for_load_state("networkidle")
        page.close()
        assert order.count("catalog.json") == 1
        assert early or order.index("catalog.json") > order.index("load")


def test_the_box_says_at_once_that_it_is_reading(browser, address):
    page = browser.new_page()
    held = []
    page.route("**/catalog.json", lambda route: held.append(route))
    page.goto(address)
    box = Box(page).paste(MESSAGE)
    expect(box.result).to_have_text("Reading\N{HORIZONTAL ELLIPSIS}")
    expect(page.get_by_role("status").filter(has_text="Reading")).to_have_count(1)
    for route in held:
        route.continue_()
    expect(box.result).to_contain_text("SD001")
    page.close()


def test_without_the_catalog_one_sentence_says_so_and_the_next_text_tries_again(browser, address):
    page = browser.new_page()
    page.route("**/catalog.json", lambda route: route.abort())
    page.goto(address)
    box = Box(page).paste(MESSAGE)
    expect(box.result).to_contain_text("could not be loaded")
    page.unroute("**/catalog.json")
    box.paste("")
    expect(box.result).to_be_hidden()
    box.paste(NUMPY)
    expect(box.result).to_contain_text("Most likely")
    page.close()


def test_without_scripts_the_page_says_what_the_box_needs_and_leads_to_the_error_index(visit):
    page = visit(java_script_enabled=False)
    sentence = page.locator(".doctor noscript p")
    assert sentence.is_visible()
    assert "This box needs JavaScript" in sentence.inner_text()
    assert page.get_by_label("Your error").is_hidden()
    sentence.locator("a").click()
    expect(page).to_have_url(re.compile("/errors/$"))


def test_the_paste_box_is_on_the_home_page_only_and_the_doctor_waits_elsewhere_for_a_search(site):
    for path in site.pages:
        scripts = [str(script.get("src")).lstrip("./") for script in site.page(path).select("script[type=module]")]
        own = {
            "": ["assets/copy-fix.js", "assets/paste-box.js"],
            "placement-explorer/": ["assets/explorer.js"],
            "lessons/": ["assets/lesson-path.js"],
            "practice/": ["assets/practice.js"],
        }.get(path, [])
        own = ["assets/practice.js"] * ("/practice-" in path) + ["assets/predict.js"] if "notebooks/" in path else own
        assert sorted(scripts) == [*own, "assets/search.js"], path
        assert bool(site.page(path).select("link[rel=modulepreload]")) == (path == "")


@pytest.mark.parametrize("width", [PHONE, LAPTOP])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_scrolls_sideways_with_a_diagnosis(open_box, scheme, width):
    box = open_box(width=width, color_scheme=scheme)
    for text in (TRACEBACK.replace("train.py", f"{'long_' * 40}train.py"), "ValueError: " + "x" * 300):
        box.paste(text)
        expect(box.result).to_contain_text(explain(text).says.replace("`", ""))  # not the answer to the one before
        box.page.evaluate("document.querySelectorAll('.diagnosis details').forEach((details) => (details.open = true))")
        found = Axe().run(box.page, options={"resultTypes": ["violations"]})
        assert found.violations_count == 0, found.generate_report()
        assert box.page.evaluate("document.documentElement.scrollWidth") <= width

"""The placement explorer in a real browser: what it decodes is what was recorded, by key and by link."""

import random
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from site_build.explorer_data import DEVICES, operator_name, placements, record

ROOT = Path(__file__).parents[2]
PAGE = "placement-explorer/"
PHONE = 360
# What a link may hold, and what the sentence about it must name.
BAD_LINKS = {
    "op=<img src=x onerror=ran=1>": "not in the record",
    "op=%3Csvg%20onload%3Dran%3D1%3E": "not in the record",
    "op=%E0%A4%A": "not in the record",
    "op=constructor": "not in the record",
    "op=" + "a" * 10_000: "not in the record",
    "op=": "not in the record",
    "op=add&sample=99": "a case of add",
    "op=add&kind=__proto__": "a case of add",
    "op=add&on=cuda:0": "the 2 tensors of add",
    "op=add&on=cuda:0,cuda:7": "the 2 tensors of add",
    "op=add&kind=out&on=cpu,cpu": "the 3 tensors of add",
}


@pytest.fixture
def explorer(visit):
    def open_explorer(path="", width=PHONE, **options):
        page = visit(PAGE + path, width, **options)
        expect(page.locator(".explorer__verdict")).to_be_visible()
        return page

    return open_explorer


def cases(wanted):
    """Every case, chosen by a fixed seed, and those at which the data is most easily read wrongly."""
    every, special = [], []
    for table in record(ROOT)[1]:
        for placement, answer in zip(placements(table), table["answers"], strict=True):
            case = ([operator_name(table), table["sample"], table["kind"], list(placement)], answer)
            every.append(case)
            apart = table["kind"] == "out" and len(table["shapes"]) > 2
            many = len(table["shapes"]) > 4 or (answer and len(answer[0]) > 2 and not isinstance(answer[0], str))
            if (apart or many or not answer) and len(special) < wanted // 4:
                special.append(case)
    return random.Random(0).sample(every, wanted) + special


def test_what_the_page_decodes_is_what_was_recorded(explorer, address):
    asked = cases(1_200)
    decoded = explorer().evaluate(
        """async ([script, asked]) => {
          const { answer, load, operators } = await import(script);
          const data = await load();
          const all = operators(data);
          return asked.map(([name, number, kind, places]) =>
            answer(data, all.get(name).find((sample) => sample.number === number), kind, places));
        }""",
        [f"{address}assets/explorer.js", [case for case, _ in asked]],
    )
    for (case, recorded), found in zip(asked, decoded, strict=True):
        if recorded is None:
            assert set(found) == {"missing"}, case
        elif isinstance(recorded[0], str):
            assert [found["error"], found["message"]] == recorded[:2], case
            line = recorded[3].partition(" ")[2]
            assert line.startswith("build/") or found["why"][0]["links"][0][0] == line, case
        else:
            assert found["ok"] == recorded[0], case
            names = [one.partition(" ")[0] for one in recorded[1]]
            assert [why["op"] for why in found["why"] if why["op"]] == [name for name in names if name != "?"], case


def test_the_first_screen_of_a_phone_shows_an_error_and_its_text(explorer):
    page = explorer()
    text = page.locator(".explorer__answer pre").first
    expect(text).to_have_text(re.compile("^RuntimeError: Expected all tensors .* mat1 is on cpu.*wrapper_CUDA_addmm"))
    box = text.bounding_box()
    assert box["y"] + box["height"] <= 800
    page.get_by_role("link", name="SD001").first.click()
    expect(page).to_have_url(re.compile("/errors/sd001/$"))


def test_devices_are_put_by_click_and_by_key(explorer):
    page = explorer()
    verdict = page.locator(".explorer__verdict")
    tensors = [page.get_by_role("group", name=name) for name in ("input", "weight", "bias")]
    tensors[0].get_by_role("radio", name="cuda:0").click()
    expect(verdict).to_have_text("Runs, result on cuda:0. All tensors are on one device.")
    tensors[1].get_by_role("radio", name="cuda:0").focus()
    page.keyboard.press("ArrowRight")
    expect(tensors[1].get_by_role("radio", name="cuda:1")).to_be_focused()
    expect(verdict).to_have_text("Fails: input and bias are on cuda:0, weight on cuda:1.")
    page.keyboard.press("c")
    expect(tensors[1].get_by_role("radio", name="cpu")).to_be_checked()
    expect(tensors[1].get_by_role("radio", name="cpu")).to_be_focused()
    page.keyboard.press("0")
    expect(verdict).to_have_text("Runs, result on cuda:0. All tensors are on one device.")
    for tensor in tensors:
        tensor.get_by_role("radio", checked=True).focus()
        page.keyboard.press("1")
    expect(verdict).to_have_text("Runs, result on cuda:1. All tensors are on one device.")
    expect(page.get_by_role("status").last).to_contain_text("result on cuda:1")


def test_an_operator_is_found_by_typing_and_chosen_by_key(explorer):
    page = explorer()
    box = page.get_by_role("combobox", name="Operator")
    box.click()
    assert page.get_by_role("option").count() > 600
    box.fill("linear")
    expect(page.get_by_role("option").first).to_have_text("nn.functional.linear")
    expect(box).to_have_attribute("aria-expanded", "true")
    box.fill("masked fill")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    active = page.locator(f"#{box.get_attribute('aria-activedescendant')}")
    expect(active).to_have_text("masked_fill")
    assert Axe().run(page, options={"resultTypes": ["violations"]}).violations_count == 0
    page.keyboard.press("Enter")
    expect(box).to_have_value("masked_fill")
    expect(page.get_by_role("listbox")).to_be_hidden()
    expect(page.locator(".explorer__answer")).to_contain_text("Indexing.cu")
    box.fill("no such thing")
    expect(page.get_by_text("No recorded operator")).to_be_visible()
    page.keyboard.press("Escape")
    expect(box).to_have_value("masked_fill")


@pytest.mark.parametrize("name", ["lstm", "x + y", "zzz"])
def test_a_name_that_is_not_in_the_record_is_said_to_be_so_and_clears_the_answer(explorer, name):
    page = explorer()
    box, answer = page.get_by_role("combobox", name="Operator"), page.locator(".explorer__answer")
    box.fill(name)
    expect(answer).to_be_hidden()
    for leave in ("Enter", "Tab"):
        page.keyboard.press(leave)
        expect(page.locator(".explorer__note")).to_contain_text(f"no operator named {name}.")
        expect(answer).to_be_hidden()
        expect(page.get_by_role("group", name="input")).to_have_count(0)
        expect(box).to_have_value(name)
    box.fill("matmul")
    page.keyboard.press("Enter")
    expect(page.locator(".explorer__note")).to_have_text("")
    expect(answer).to_be_visible()


def test_a_line_says_whether_it_runs_and_why_and_pytorchs_source_is_folded(explorer):
    page = explorer("#op=nn.functional.conv2d")
    first = page.locator(".explorer__answer > *").first
    expect(first).to_have_text("Fails: input is on cpu, weight and bias on cuda:0.")
    source = page.locator(".explorer__sources").first
    expect(source).to_be_hidden()
    page.get_by_text("In PyTorch's source").click()
    expect(source).to_be_visible()


def test_on_a_phone_the_page_is_at_most_3500_pixels_high(explorer):
    assert explorer().evaluate("document.documentElement.scrollHeight") <= 3_500


def test_a_choice_is_a_link_and_the_link_is_the_choice(explorer):
    page = explorer()
    page.get_by_role("radio", name="out=").click()
    page.get_by_role("group", name="out", exact=True).get_by_role("radio", name="cuda:1").click()
    there = page.locator(".explorer__answer").inner_text()
    link = page.evaluate("location.hash").removeprefix("#")
    assert link.startswith("op=nn.functional.linear&sample=")
    assert link.endswith("&kind=out&on=cpu,cuda:0,cuda:0,cuda:1")
    assert page.evaluate("history.length") == 2  # the empty page and this one: nothing to go back through
    again = explorer(f"#{link}")
    assert again.locator(".explorer__answer").inner_text() == there
    assert again.evaluate("location.hash") == f"#{link}"
    told = []
    for example in again.get_by_role("group", name="Examples").get_by_role("button").all():
        # The page answers a link after it has changed, and this listener comes after the page's own.
        answered = again.evaluate_handle("({ link: new Promise((done) => addEventListener('hashchange', done)) })")
        example.click()
        answered.evaluate("({ link }) => link.then(() => null)")
        told.append((example.inner_text(), again.locator(".explorer__verdict").text_content()))
        expect(again.locator(".explorer__note")).to_have_text("")
    assert told == [
        ("a batch left on the CPU", "Fails: input is on cpu, weight and bias on cuda:0."),
        ("a number on the CPU", "Runs, result on cuda:0. A tensor with 0 dimensions on the CPU counts as a number."),
        ("an index on the CPU", "Runs, result on cuda:0. Indices may stay on the CPU."),
        ("out= elsewhere", "Fails: input and other are on cuda:0, out on cpu."),
        ("two GPUs", "Fails: tensors[0] is on cuda:0, tensors[1] on cuda:1."),
    ]


def test_a_link_that_is_stale_or_hostile_is_answered_in_a_sentence(explorer):
    page = explorer()
    for link, sentence in BAD_LINKS.items():
        page.evaluate("link => { location.hash = link; }", link)
        note = page.locator(".explorer__note")
        expect(note).to_contain_text(sentence)
        assert len(note.inner_text()) < 200
        assert note.locator("*").count() == 0
        expect(page.locator(".explorer__verdict")).to_be_visible()
        page.evaluate("location.hash = 'op=abs'")
        expect(note).to_have_text("")
    assert page.evaluate("globalThis.ran") is None


def test_without_javascript_the_table_is_there_and_no_empty_form(visit):
    page = visit(PAGE, PHONE, java_script_enabled=False)
    expect(page.locator(".explorer noscript")).to_be_visible()
    expect(page.locator(".explorer form")).to_be_hidden()
    assert page.locator("table tbody tr").count() == 20
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE


def test_a_browser_that_cannot_unpack_says_so(browser, address):
    page = browser.new_page()
    page.add_init_script("delete globalThis.DecompressionStream")
    page.goto(address + PAGE)
    expect(page.locator(".explorer__note")).to_contain_text("no DecompressionStream")
    expect(page.locator(".explorer form")).to_be_hidden()
    page.close()


def test_every_device_has_its_own_sign(explorer):
    page = explorer()
    tensor = page.get_by_role("group", name="input")
    signs = [tensor.get_by_text(device, exact=True).locator("path").get_attribute("d") for device in DEVICES]
    assert len(set(signs)) == len(DEVICES)

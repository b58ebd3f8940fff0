"""Alternatives in the page: the words of the report, a copy button for each line that is to be taken, and text only."""

from dataclasses import asdict, replace

import pytest
from playwright.sync_api import expect
from tests.doctor.test_report_of_candidates import LINE, PRED, TARGET, TEXT, candidate, of
from tests.site.pasted import BARE, NUMPY
from tests.site.words_of_the_report import words_of, words_shown

from samedevice.doctor.outline import choice
from samedevice.doctor.report import TELLS

SHOW = """async ([text, culprits, tell]) => {
  const [{ explain }, { rendered, summary }] = await Promise.all(
    ["assets/doctor.js", "assets/diagnosis.js"].map((file) => import(new URL(file, document.baseURI)))
  );
  const catalog = await (await fetch("assets/catalog.json")).json();
  const diagnosis = { ...explain(catalog, text), culprits, tell };
  const result = document.querySelector(".diagnosis");
  result.hidden = false;
  result.replaceChildren(...rendered(catalog, diagnosis, text));
  return summary(catalog, diagnosis);
}"""
SCALE = candidate(
    "self.scale",
    "unregistered_tensor_attribute",
    "loss = F.mse_loss(pred, self.scale.to(pred.device))",
    device="",
    instead='self.register_buffer("scale", ..., persistent=False)',
)
LONG = candidate(f"batch['{'long' * 30}']", "input_not_moved", f"x = {'very_' * 30}long")


def show(box, diagnosis):
    """Show a diagnosis that was made by hand, and return what is spoken."""
    culprits = [{**asdict(culprit), "owner": ""} for culprit in diagnosis.culprits]
    return box.page.evaluate(SHOW, [diagnosis.text, culprits, diagnosis.tell])


SAME = replace(PRED, expression="target")  # the change that moves PRED moves it too
SHORTENED = replace(candidate("mask", "target_not_moved", "mask.to(...)"), edits=())  # its cause is that of TARGET
SHOWN = [
    (PRED, TARGET),
    (PRED, SCALE, TARGET),
    (PRED, SCALE, SAME),
    (PRED, TARGET, SHORTENED),
    (PRED,),
    (SHORTENED,),
    (),
]


@pytest.mark.parametrize("culprits", SHOWN)
def test_the_page_says_what_the_report_says(open_box, culprits):
    box, diagnosis = open_box(), of(*culprits)
    spoken = show(box, diagnosis)
    assert words_shown(box.result) == words_of(diagnosis)
    assert spoken.startswith(f"{diagnosis.says} ".replace("`", ""))
    assert spoken.removeprefix(f"{diagnosis.says} ".replace("`", "")).removesuffix(".") in " ".join(words_of(diagnosis))
    assert not culprits[1:] or spoken.endswith(choice(diagnosis).replace("`", ""))


def test_what_cannot_be_asked_has_no_line_that_tells(open_box):
    box, diagnosis = open_box(), replace(of(PRED, TARGET), tell="")
    show(box, diagnosis)
    assert words_shown(box.result) == words_of(diagnosis)
    expect(box.result.get_by_role("heading", level=2)).to_have_text(choice(diagnosis).replace("`", ""))
    expect(box.result.get_by_text(TELLS)).to_have_count(0)
    expect(box.result.get_by_role("button", name="Copy print(")).to_have_count(0)


def test_each_candidate_is_marked_in_the_line_and_alone_in_its_change(open_box):
    box = open_box()
    show(box, of(PRED, TARGET))
    marks = box.result.locator(".diagnosis__code mark")
    assert marks.all_text_contents() == ["pred", "target"]
    assert box.result.locator(".change mark").all_text_contents() == ["pred", "target"]
    assert box.result.locator(".diagnosis__code").text_content() == LINE


def test_each_line_to_take_has_its_button_and_an_example_has_none(with_clipboard):
    box = with_clipboard
    show(box, of(PRED, TARGET))
    fixed = box.result.get_by_role("button", name="Copy the fixed")
    expect(fixed).to_have_count(2)
    expect(box.result.locator("pre.change + .copy-fix")).to_have_count(2)
    box.result.get_by_role("button", name="Copy print(pred.device, target.device)").click()
    assert box.page.evaluate("navigator.clipboard.readText()") == "print(pred.device, target.device)"
    fixed.first.click()
    assert box.page.evaluate("navigator.clipboard.readText()") == PRED.fix
    box.page.get_by_text("To be sure").click()
    box.result.get_by_role("button", name="Copy samedevice run --gpus real train.py").click()
    assert box.page.evaluate("navigator.clipboard.readText()") == "samedevice run --gpus real train.py"
    for text in (BARE, NUMPY):
        box.paste(text)
        expect(box.result.locator(".example").first).to_be_attached()
        expect(box.result.locator(".example + button, .example button, .change")).to_have_count(0)


def test_commands_are_copied_one_by_one(open_box):
    box = open_box().paste("AssertionError: Torch not compiled with CUDA enabled")
    expect(box.result.locator("h2")).to_be_visible()
    shown = box.result.locator(":scope > .command")
    copied = [button.get_attribute("data-clipboard-text") for button in shown.get_by_role("button").all()]
    assert copied == shown.locator("pre").all_text_contents()
    assert len(copied) > 3
    assert not any(line.startswith(("$", "#")) or "\n" in line for line in copied)


def test_an_expression_stays_text(open_box):
    box = open_box()
    show(box, of(candidate("</code><img src=x onerror=ran=1>", "input_not_moved", "<script>ran=1</script>"), TARGET))
    assert box.result.locator("img, script").count() == 0
    assert box.page.evaluate("typeof ran") == "undefined"


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(open_box, scheme, width):
    box = open_box(width=width, color_scheme=scheme)
    for diagnosis in (of(PRED, LONG, TARGET), of(PRED), of(), replace(of(), text=BARE), replace(of(), text=NUMPY)):
        show(box, diagnosis)
        box.assert_its_answer_can_be_read(width)


def test_the_text_is_that_of_the_hand_made_diagnosis():
    assert of(PRED).text == TEXT

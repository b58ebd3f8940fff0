"""Others' code in the page: the words of the report, a text to copy for who keeps it, and the change folded."""

import pytest
from playwright.sync_api import expect
from tests.doctor.text.test_whose import COMFY, EXECUTED, OF_AN_APPLICATION, OWNERS, THE_READERS, pasted
from tests.site.test_doctor_twin import differences

from samedevice import explain
from samedevice.doctor.outline import to_report
from samedevice.doctor.report import UPDATE

HOSTILE = pasted(EXECUTED, (f"{COMFY}/custom_nodes/<img src=x onerror=ran=1>/nodes.py", 4, "run", "a = a + <script>"))


def plain(text):
    return text.replace("`", "")


def test_the_page_knows_whose_code_it_is_as_python_does(visit):
    texts = {name: text for name, (text, *_) in OWNERS.items()} | THE_READERS | OF_AN_APPLICATION | {"hostile": HOSTILE}
    assert differences(visit(), texts) == {}


def test_the_page_says_what_the_report_says(open_box):
    box = open_box()
    for text, *_ in OWNERS.values():
        owner = explain(text).owner
        box.paste(text)
        expect(box.result.get_by_text(plain(owner.says), exact=True)).to_be_visible()
        expect(box.result.locator("h2")).to_have_text(f"In {owner.name}, not in your code")
        for sentence in (to_report(owner), *([UPDATE] if owner.command else [])):
            expect(box.result.get_by_text(plain(sentence), exact=True)).to_be_visible()
        assert box.result.locator("li").all_text_contents() == [plain(tried) for tried in owner.tries]
        copied = box.result.locator(":scope > .command button")
        wanted = [line for line in (owner.command, owner.report) if line]
        assert [button.get_attribute("data-clipboard-text") for button in copied.all()] == wanted
        expect(box.result.get_by_role("button", name="Copy the report")).to_be_visible()
    expect(box.spoken).to_have_text(plain(f"{explain(text).says} {owner.says}"))


def test_the_change_is_folded_and_no_script_is_to_be_run(open_box):
    created = (f"{COMFY}/custom_nodes/crop/nodes.py", 44, "run", "image = torch.cat([image, torch.zeros(1, 3)])")
    box = open_box().paste(pasted(EXECUTED, created, message=OWNERS["a custom node"][0].split("\n")[-1]))
    fold = box.result.get_by_text("To change it in crop")
    expect(fold).to_be_visible()
    expect(box.result.locator(".change")).to_be_hidden()
    fold.click()
    expect(box.result.locator(".change").first).to_be_visible()
    expect(box.result.get_by_text("samedevice run")).to_have_count(0)


def test_what_was_pasted_stays_text(open_box):
    box = open_box().paste(HOSTILE)
    expect(box.result.locator("h2")).to_be_visible()
    assert box.result.locator("img, script").count() == 0
    assert box.page.evaluate("typeof ran") == "undefined"


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(open_box, scheme, width):
    box = open_box(width=width, color_scheme=scheme)
    for name in ("a custom node", "a package below the reader's line"):
        box.paste(OWNERS[name][0])
        expect(box.result.locator("h2")).to_contain_text("not in your code")
        box.assert_its_answer_can_be_read(width)

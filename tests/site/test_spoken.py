"""What a screen reader is told of an answer is what the page shows at once, for every message and awkward text."""

import re

from playwright.sync_api import expect
from tests.site.pasted import AWKWARD, BARE, TRACEBACK

from samedevice.catalog import load

SPOKEN_AND_SHOWN = """async (texts) => {
  const [{ explain }, { rendered, summary }] = await Promise.all(
    ["assets/doctor.js", "assets/diagnosis.js"].map((file) => import(new URL(file, document.baseURI)))
  );
  const catalog = await (await fetch("assets/catalog.json")).json();
  const result = document.querySelector(".diagnosis");
  result.hidden = false;
  return texts.map((text) => {
    const diagnosis = explain(catalog, text);
    result.replaceChildren(...rendered(catalog, diagnosis, text));
    return [summary(catalog, diagnosis), result.innerText];
  });
}"""


def plain(text):
    return " ".join(text.split())


def sentences(spoken):
    return [part.removesuffix(".") for part in re.split(r"(?:(?<=[.:!?])|(?<=\.\))) (?=[A-Z(])", plain(spoken))]


def test_what_is_spoken_is_shown_at_once(visit):
    texts = [text for text in AWKWARD.values() if text.strip()]
    for message in load().messages.values():
        texts += [text["text"] for text in message.texts]
    for said, shown in visit().evaluate(SPOKEN_AND_SHOWN, texts):
        assert said
        missing = [part for part in sentences(said) if part not in plain(shown)]
        assert missing == [], (said, shown)
        assert not re.search(r"`|undefined|null\b|(?<!\.)\.\.(?!\.)|  | $", said), said


def test_what_is_spoken_says_what_it_is_and_what_to_do_next(open_box):
    for text in (TRACEBACK, BARE):
        box = open_box().paste(text)
        expect(box.spoken).not_to_be_empty()
        says = box.result.locator(".diagnosis__says").inner_text()
        first = box.result.locator("h2, .diagnosis__says ~ details > summary").first.inner_text()
        assert plain(box.spoken.inner_text()) == plain(f"{says} {first.removesuffix('.')}.")


def test_a_button_is_told_by_the_word_on_it_and_by_what_it_copies(open_box):
    box = open_box().paste("AssertionError: Torch not compiled with CUDA enabled")
    expect(box.result.locator("h2")).to_be_visible()
    for button in box.result.locator("button").all():
        label = button.get_attribute("aria-label") or button.inner_text()
        assert label.startswith(button.inner_text())  # so that it can be said to a computer (WCAG 2.5.3)
        copied = button.get_attribute("data-clipboard-text")
        assert label == f"Copy {copied}" and copied in box.result.inner_text()

"""The search, in a real browser: who pastes an error finds its page, who types a few words the lesson about them."""

import re
import threading
import tomllib
from dataclasses import dataclass
from pathlib import Path

import material
import pytest
from playwright.sync_api import expect

from samedevice import explain
from samedevice.catalog import load
from site_build.search_entries import topics

ROOT = Path(__file__).parents[2]
PHONE = 360
MESSAGES = load().messages

# Asks the page's own search box many texts, each as a paste: without a key that goes up. site.js makes one of it.
ASK = """async (texts) => {
    const query = document.querySelector("[data-md-component=search-query]");
    const meta = document.querySelector(".md-search-result__meta");
    const until = async (done) => {
        for (let i = 0; i < 1000 && !done(); i++) await new Promise((go) => setTimeout(go, 5));
    };
    const found = [];
    for (const [text, isMessage] of texts) {
        for (const [value, shown] of [["", /Type to start/], [text, /matching/]]) {
            query.value = value;
            query.dispatchEvent(new Event("input", { bubbles: true }));
            await until(() => shown.test(meta.textContent));
        }
        if (isMessage) await until(() => document.querySelector(".search-doctor a"));
        const links = document.querySelectorAll(".md-search-result__item > .md-search-result__link");
        const badge = (link) => link.querySelector(".md-tag")?.textContent ?? "";
        found.push([...links].map((link) =>
            [link.href, Boolean(link.closest(".search-doctor")), link.checkVisibility(), badge(link)]));
    }
    return found;
}"""

# Counts the queries that search's worker has not answered yet: each letter typed is one, and each gets an answer.
COUNT_UNANSWERED = """() => {
    const [QUERY, RESULT] = [2, 3]; // the types of Material's messages
    const send = Worker.prototype.postMessage;
    const heard = new WeakSet();
    window.unanswered = 0;
    Worker.prototype.postMessage = function (message, ...others) {
        if (!heard.has(this))
            this.addEventListener("message", ({ data }) => { if (data.type === RESULT) window.unanswered--; });
        heard.add(this);
        if (message.type === QUERY) window.unanswered++;
        return send.call(this, message, ...others);
    };
}"""
ANSWERED_AND_SHOWN = """() => window.unanswered === 0
    && new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(() => shown(true))))"""


@dataclass
class Found:
    """What is shown for a text, best first, each as its place in the site."""

    shown: list[str]
    by_search: list[str]  # without what the doctor adds and takes away
    badges: list[str]


@pytest.fixture(scope="module")
def search(browser, address):
    """Ask many texts in one page, in which what search knows is loaded once."""
    page = browser.new_page()
    page.goto(address)
    page.keyboard.press("/")
    page.get_by_text("Type to start searching").wait_for()

    def ask(*texts: str) -> list[Found]:
        answers = page.evaluate(ASK, [[text, answered_by_doctor(text)] for text in texts])
        return [
            Found(
                [place(link, address) for link, _, visible, _ in answer if visible],
                [place(link, address) for link, by_doctor, _, _ in answer if not by_doctor],
                [badge for _, _, visible, badge in answer if visible],
            )
            for answer in answers
        ]

    yield ask
    page.close()


def answered_by_doctor(text):
    """Whether the doctor's answer stands above: it knows the message, and the message says something by itself."""
    message = len(text) >= 16 and explain(text).message
    return bool(message) and not message.ask


def place(link, address):
    """Of a link's address the page: the lesson, the message."""
    return link.removeprefix(address).partition("?")[0].partition("#")[0]


def page_of(message):
    return f"errors/{message.id.lower()}/"


@pytest.fixture(scope="module")
def messages(site, lessons):
    """Each message that a lesson raises or quotes, such as an old wording, with the lessons that hold it."""
    found: dict[str, list[str]] = {}
    for lesson in lessons:
        for block in site.page(lesson).select(".error > pre, article .language-text pre"):
            for line in filter(str.strip, block.get_text().splitlines()):
                if line.startswith(("Caught ", "RuntimeError: Caught ")):
                    continue  # a wrapper: the message stands in another line
                found.setdefault(re.sub(r"^\w*Error: ", "", line), []).append(lesson)
    assert found
    return found


def first_result(page, pasted):
    """The address that search leads to; the text comes as from a menu, without a key that goes up."""
    page.get_by_text("Type to start searching").wait_for()
    page.keyboard.insert_text(pasted)
    first = page.locator(".md-search-result__link").first
    first.wait_for()
    return first.get_attribute("href")


def whole(message):
    return message


def with_the_errors_name(message):
    return f"RuntimeError: {message}"


def second_half(text):
    return " ".join(text.split()[len(text.split()) // 2 :])


@pytest.mark.parametrize("part", [whole, with_the_errors_name, second_half])
def test_a_pasted_error_finds_its_page_or_a_lesson_that_holds_it_among_the_first_three(search, messages, lessons, part):
    # Each message as it is; in the other forms the first of each lesson.
    pages = {text: page_of(known) for text in messages if (known := explain(text).message)}  # not those of Python's own
    firsts = {where[0]: text for text, where in reversed(messages.items())}.values()
    asked = messages if part is whole else firsts
    known = {text: [*messages[text], pages[text]] for text in asked if text in pages}
    assert len(known) >= len(lessons) / 2
    answers = zip(known.items(), search(*map(part, known)), strict=True)
    assert [
        (text, found.shown[:3]) for (text, places), found in answers if not set(places) & set(found.shown[:3])
    ] == []


# Messages quote each other's words, so that not every part of every text leads to its own page first.
@pytest.mark.parametrize(
    ("part", "in_first_three"),
    [
        (lambda message: message.texts[0]["text"], 0.85),
        (lambda message: message.texts[-1]["text"], 0.85),
        (lambda message: second_half(message.texts[0]["text"]), 0.7),
    ],
    ids=["exact text", "oldest wording", "second half"],
)
def test_search_finds_the_page_of_a_text_without_the_doctors_help(search, part, in_first_three):
    some = list(MESSAGES.values())[::4]
    answers = search(*map(part, some))
    missed = [m.id for m, found in zip(some, answers, strict=True) if page_of(m) not in found.by_search[:3]]
    assert len(missed) <= (1 - in_first_three) * len(some), missed


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
            "SD002",
        ),
        ("can't convert CUDA tensor to numpy", "SD050"),
        ("Torch not compiled with CUDA enabled", "SD065"),
        ("Cannot re-initialize CUDA in forked subprocess", "SD060"),
        ("SD050", "SD050"),
    ],
)
def test_search_finds_what_is_pasted_most_first_without_the_doctors_help(search, text, first):
    assert search(text)[0].by_search[0] == page_of(MESSAGES[first])


def test_search_reads_double_quotes_as_part_of_the_text(search):
    text = MESSAGES["SD100"].texts[0]["text"]
    assert '"' in text
    assert page_of(MESSAGES["SD100"]) in search(text)[0].by_search[:3]


def test_search_finds_the_page_beside_the_lesson_that_raises_its_text(search, lessons):
    found = search(MESSAGES["SD001"].texts[0]["text"])[0].by_search
    assert {lessons[0], page_of(MESSAGES["SD001"])} <= set(found[:3])


FIRST = {
    # A whole error, parts of one, and old wordings of one: the page of the message.
    "RuntimeError: Expected all tensors to be on the same device, but got mat1 is on cpu, different from other tensors "
    "on cuda:0 (when checking argument in method wrapper_CUDA_addmm)": "errors/sd001/",
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!": "errors/sd002/",
    "Expected all tensors to be on the same device": "errors/sd001/",
    "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same": "errors/sd020/",
    "Expected object of backend CPU but got backend CUDA for argument #4 'mat1'": "errors/sd012/",
    "indices should be either on cpu or on the same device": "errors/sd030/",
    "Attempting to deserialize object on a CUDA device": "errors/sd080/",
    "Found no NVIDIA driver on your system": "errors/sd066/",
    "invalid device ordinal": "errors/sd070/",
    "convert cuda tensor to numpy": "errors/sd050/",
    "wrapper_CUDA_addmm": "errors/sd001/",
    # Plain words: the lesson or the page about them. Of each lesson, the first of its tags is asked too.
    "move dataset to gpu": "notebooks/02-unmoved-batches/",
    "hidden state": "notebooks/07-drift-across-iterations/",
    "load checkpoint on cpu": "notebooks/10-checkpoints/",
    "pin_memory": "notebooks/13-async-transfers/",
    "optimizer": "notebooks/12-optimizers-and-gradients/",
    "device mismatch": "notebooks/08-find-the-culprit/",
    "works on cpu fails on gpu": "notebooks/22-catch-it-before-the-gpu/",
    "find the tensor": "find-the-tensor/",
    "catch in ci": "test-without-a-gpu/",
    "simulate cuda": "simulated-cuda/",
    "myths": "claims/",
    "practice": "practice/",
    "exercises": "practice/",
    "puzzles": "practice/",
}


QUERIES = tomllib.loads((Path(__file__).parent / "queries.toml").read_text(encoding="utf-8"))
BADGES = {
    "notebooks/practice-": "Practice",
    "practice/": "Practice",
    "notebooks/": "Lesson",
    "lessons/": "Lesson",
    "errors/": "Fix",
    "causes/": "Fix",
    "find-the-tensor/": "Fix",
}


IN_OTHER_WORDS = {"in_other_words": 24, "in_other_words_too": 23}  # of 25: what has to be among the first three


def test_what_people_type_leads_to_a_page_that_is_right_in_nine_of_ten(search):
    queries = {table: queries for table, queries in QUERIES.items() if table not in IN_OTHER_WORDS}
    assert sum(map(len, queries.values())) >= 40
    wrong = {}
    for table, texts in queries.items():
        answers = zip(texts.items(), search(*texts), strict=True)
        wrong[table] = {text: found.shown[:3] for (text, pages), found in answers if found.shown[0] not in pages}
        print(f"{table}: first right {len(texts) - len(wrong[table])} of {len(texts)}")
    assert sum(map(len, wrong.values())) <= sum(map(len, queries.values())) / 10, wrong
    assert len(wrong["kept_apart"]) <= len(queries["kept_apart"]) * 0.15, wrong["kept_apart"]


@pytest.mark.parametrize(("table", "right"), IN_OTHER_WORDS.items())
def test_other_words_than_ours_lead_to_a_page_that_is_right_among_the_first_three(search, table, right):
    answers = zip(QUERIES[table].values(), search(*QUERIES[table]), strict=True)
    assert sum(bool(set(pages) & set(found.shown[:3])) for pages, found in answers) >= right


@pytest.mark.parametrize(
    ("written", "alike"),
    [
        ("optimizer state", "optimizers states"),
        ("move a batch", "moving batches"),
        ("multi gpu", "multiple gpus"),
        ("data parallel", "dataparallel"),
        ("tokenizer", "tokeniezr"),
    ],
)
def test_words_are_found_in_other_forms_and_with_a_slip(search, written, alike):
    one, other = search(written, alike)
    assert set(one.by_search[:3]) & set(other.by_search[:3])


def test_the_queries_name_pages_of_the_site(site):
    planned = {page for table in QUERIES.values() for pages in table.values() for page in pages}
    known = {*site.pages, *site.errors, *(f"causes/{cause}/" for cause in load().causes), "claims/"}
    assert planned <= known


def test_each_page_is_one_result_with_a_badge_that_says_what_it_is(search):
    queries = [text for table in QUERIES.values() for text in table]
    for text, found in zip(queries, search(*queries), strict=True):
        assert len(found.shown) == len(set(found.shown)), (text, found.shown)
        for page, badge in zip(found.shown, found.badges, strict=True):
            assert badge == next((kind for at, kind in BADGES.items() if page.startswith(at)), "Reference"), page


def test_the_commonest_words_lead_to_the_commonest_message_and_its_lesson(search, lessons):
    found = search("expected all tensors to be on the same device")[0].shown
    assert found[0] in (page_of(MESSAGES["SD001"]), lessons[0])
    assert len(found) <= 30


def test_each_page_has_topics_that_search_knows_and_no_other_has(site):
    known = {page for page, phrases in topics(ROOT / "notebooks").items() if phrases}
    without = set(site.pages) - {""} - known
    assert not without, f"say what people type who want these pages, in tools/site_build/search_topics.toml: {without}"
    assert known <= {*site.pages, *site.errors}, "search_topics.toml has pages that are not there"


def test_the_first_hit_is_the_page_that_who_types_this_wants(search, lessons):
    of_lessons = {phrases[0]: page for page, phrases in topics(ROOT / "notebooks").items() if page in lessons}
    wanted = FIRST | of_lessons
    answers = zip(wanted.items(), search(*wanted), strict=True)
    wrong = {text: found.shown[:3] for (text, first), found in answers if found.shown[:1] != [first]}
    assert not wrong, (
        "The first hit is another page. Of a lesson it is the first of `tags` in its metadata that has to lead to it: "
        f"begin with words that no other page has. Typed, and the hits: {wrong}"
    )


def test_a_claim_finds_the_page_of_claims_among_the_first_ten(search):
    claims = [claim.claim.replace("`", "") for claim in load().claims.values()]
    answers = zip(claims, search(*claims), strict=True)
    assert {claim: found.by_search[:10] for claim, found in answers if "claims/" not in found.by_search[:10]} == {}


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("dataloader cuda", "/notebooks/02-unmoved-batches/"),
        ("indices should be either on cpu", "/errors/sd030/"),
        ("non_blocking", "/notebooks/13-async-transfers/"),
    ],
)
def test_what_is_typed_letter_by_letter_is_found_and_enter_leads_there(visit, text, first):
    page = visit("lessons/")
    page.keyboard.press("/")
    page.get_by_text("Type to start searching").wait_for()
    page.evaluate(COUNT_UNANSWERED)
    page.keyboard.type(text)
    page.wait_for_function("window.unanswered > 0 || document.querySelector('.md-search-result__link')")
    page.wait_for_function(ANSWERED_AND_SHOWN)  # else Enter leads to the first result of a part of the text
    expect(page.locator(".md-search-result__link").first).to_have_attribute("href", re.compile(first))
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{first}**")


def test_an_error_in_the_search_is_answered_by_the_doctor_and_enter_leads_there(visit):
    page = visit("notebooks/06-in-place-ops/")
    page.keyboard.press("/")
    query, answer = page.locator("[data-md-component=search-query]"), page.locator(".search-doctor")
    first_result(page, "RuntimeError: Tensor on device meta is not on the expected device cuda:0! <b>")
    answer.locator("a").wait_for()
    assert page.locator(".md-search-result__link").first.get_attribute("href").endswith("/errors/sd103/")
    query.fill("how to index")
    answer.wait_for(state="detached")
    query.fill("")
    first_result(page, "indices should be either on cpu or on the same device as the indexed tensor (cpu)")
    answer.locator("a").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/errors/sd030/")


TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 31, in <module>
    loss = criterion(model(x), y)
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"""


def test_a_traceback_that_is_pasted_into_the_search_is_handed_to_the_box(visit):
    page = visit("lessons/")
    page.keyboard.press("/")
    page.evaluate(
        """text => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text", text);
            document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
        }""",
        TRACEBACK,
    )
    page.keyboard.insert_text(TRACEBACK)
    expect(page.locator(".search-doctor")).to_contain_text("Read this traceback")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your error")).to_have_value(TRACEBACK)
    expect(page.get_by_label("Diagnosis")).to_contain_text("train.py")


def test_words_that_the_box_does_not_know_are_handed_to_the_search(visit):
    page = visit()
    page.get_by_label("Your error").fill("stable diffusion on cpu")
    page.get_by_role("button", name="Search the site for these words").click()
    expect(page.locator("[data-md-component=search-query]")).to_have_value("stable diffusion on cpu")
    expect(page.locator(".md-search-result__link").first).to_be_visible()


def test_the_search_says_that_it_is_loading_and_that_it_could_not(browser, address):
    page = browser.new_page()
    page.goto(f"{address}lessons/")
    held, fails = [], threading.Event()
    page.route("**/search/pages.json", lambda route: route.abort() if fails.is_set() else held.append(route))
    page.keyboard.press("/")
    page.keyboard.type("batch")
    expect(page.get_by_role("status").filter(has_text="Loading")).to_be_visible()
    fails.set()
    for route in held:
        route.abort()
    expect(page.locator(".md-search-result__link").first).to_contain_text("could not be loaded")
    page.close()


def test_nothing_of_materials_own_scripts_is_changed(site):
    theirs = Path(material.__file__).parent / "templates/assets/javascripts"
    bundles = [*(site.folder / "assets/javascripts").glob("bundle.*.js")]
    assert len(bundles) == 1
    assert bundles[0].read_bytes() == (theirs / bundles[0].name).read_bytes()


def test_on_a_phone_the_magnifier_opens_search_and_pasting_into_it_finds(visit, messages):
    page = visit(width=PHONE, has_touch=True, is_mobile=True)
    page.locator("header label.md-header__button[for=__search]").tap()
    assert first_result(page, next(iter(messages)))


def test_a_message_finds_its_lesson_before_one_with_its_small_words_in_headings(address_of_small, visit):
    message = "Expected all tensors to be on the same device, but found two"
    lessons = {
        "01-a.ipynb": ["# All on one\n\n## The total to be on it"],
        "02-b.ipynb": [f"# B\n\n```text\n{message}\n```"],
    }
    page = visit(site=address_of_small({"index.md": "# Home"}, lessons))
    page.keyboard.press("/")
    first_result(page, message)
    found = page.locator(".md-search-result__list:not(.search-doctor) .md-search-result__link").first
    assert "/02-b/" in found.get_attribute("href")


def test_search_works_where_a_browser_forbids_storing_anything(browser, address):
    page = browser.new_page()
    refused = "get() { throw new DOMException('The operation is insecure.', 'SecurityError'); }"
    page.add_init_script(f"Object.defineProperty(window, 'localStorage', {{ configurable: true, {refused} }})")
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    page.keyboard.press("/")
    assert first_result(page, "expected all tensors to be on the same device").endswith("/errors/sd001/")
    page.close()
    assert complaints == []

"""What a search engine and a link preview show of each page: whole sentences, and the same in each place."""

import html
import json
import re

ENDS = (".", "?", "!")


def descriptions(site):
    """Return the descriptions of each page, in the head and in the data for search engines, by its place."""
    found = {}
    for file in site.html():
        head = file.read_text("utf-8").partition("</head>")[0]
        named = re.findall(r'<meta (?:name|property)="?(?:og:|twitter:)?description"? content="([^"]*)"', head)
        (data,) = re.findall(r'<script type="?application/ld\+json"?>(.*?)</script>', head, re.DOTALL)
        told = [fact["description"] for fact in json.loads(data)["@graph"] if "description" in fact]
        found[file.parent.relative_to(site.folder).as_posix()] = [*map(html.unescape, named), *told]
    return found


def test_each_page_is_described_in_whole_sentences(site):
    found = descriptions(site)
    assert len(found) > 200
    for place, texts in found.items():
        assert len(texts) >= 3, place
        assert len(set(texts)) == 1, place
        text = texts[0]
        assert text.endswith(ENDS), (place, text)
        assert not re.search(r"`|\u2026|\.\.\.$|  |</?[a-z]|\n", text), (place, text)
        assert all(text.count(opening) == text.count(closing) for opening, closing in ("()", "[]", "{}")), (place, text)
        assert text.count('"') % 2 == 0, (place, text)
        assert 40 < len(text) <= 155, (place, len(text))


def test_no_two_pages_have_the_same_description(site):
    texts = [texts[0] for texts in descriptions(site).values()]
    assert len(set(texts)) == len(texts)

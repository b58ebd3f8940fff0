"""What somebody types, not pastes: a message in other capitals, or a part of one with words of a question around it.

Only a short text in which nothing was found is read so. First the catalog's patterns are tried whatever the capitals,
which gives the devices that the text names. Then its words are compared with those of the common messages: it is a
fragment of one if nothing else is in it.
docs/assets/doctor.js and normalise.js do the same in the browser.
"""

import functools
import re
import string

from samedevice.catalog import Message, Other, load
from samedevice.doctor.text.match import Found, last_message_in_any_case, last_other_in_any_case

_LONGEST = 300  # characters
_LEAST = 5  # words of a fragment
_COMMON = 2  # reports of a message whose fragments are known: all others together have many words of everyday prose
_MOST = 40  # words of a message, from its beginning: it is longer than what anybody types
_SMALL = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)  # no sign becomes two, so places stay
# Any device is the same word; the type of a tensor is not one, because two dtypes are another error.
_DEVICE = re.compile(r"\b(?:cuda|cpu|gpu|mps|xpu)\b", re.ASCII)
_WORD = re.compile("[a-z]+")
# One of them stands in a fragment, or two devices: the other words of a message are those of many.
_TELLING = re.compile(
    r" (?:devices?|tensors?|weights?|indices|accelerators?|pinned|mapped|gradients?|forked|reduction|parameters) "
    r"| x .* x | be on x "
)
# What stands around a message in a question, each between two spaces.
_ASKED = (
    "a|an|and|colab|dataloader|do|does|during|errors?|exception|fix|for|get|getting|help|how|huggingface|i|in|is|issue|"
    "kaggle|lightning|linux|means?|message|model|my|of|on|problem|python|pytorch|resolve|solve|the|to|torch|train|"
    "trainer|training|transformers|ubuntu|using|what|when|while|why|windows|with|x|\\w{1,20}error"
)
ASKING = f"^(?:(?:{_ASKED}) )+|(?: (?:{_ASKED}))+$"


def typed_message(line: str) -> Found[Message] | None:
    """Return the message that a short text is in other capitals, or a fragment of; then the whole text is the match.

    Args:
        line: the text on one line, in which no pattern of the catalog was found.

    Example:
        >>> typed_message("FOUND AT LEAST TWO DEVICES, CUDA:0 AND CPU!").entry.id
        'SD002'
        >>> typed_message("how to fix found at least two devices").entry.id
        'SD004'
        >>> typed_message("the scan found at least two devices in the house")
    """
    if len(line) > _LONGEST:
        return None
    small = line.translate(_SMALL)
    found = last_message_in_any_case(small)
    return found if found or last_other_in_any_case(small) else _fragment(small)


def typed_other(line: str) -> Other | None:
    """Return the error about something else that a short text is in other capitals."""
    return last_other_in_any_case(line.translate(_SMALL)) if len(line) <= _LONGEST else None


def _fragment(small: str) -> Found[Message] | None:
    """Return the message of which the words are a part, also without those of a question around them."""
    words = " ".join(_words(small))
    for part in (words, re.sub(ASKING, "", words)):
        is_told = part.count(" ") >= _LEAST - 1 and _TELLING.search(f" {part} ")
        found = (id_ for id_, phrase in phrases() if is_told and f" {part} " in phrase)
        if (id_ := next(found, None)) and (match := re.match(".+", small)):
            return Found(load().messages[id_], 0, match)
    return None


@functools.cache
def phrases() -> list[tuple[str, str]]:
    """Return the id of each common message and the words that its patterns match in its texts."""
    found = set()
    for message in load().messages.values():
        if message.reports >= _COMMON:
            texts = [" ".join(text["text"].split()) for text in [*message.texts, *message.examples]]
            pairs = [(re.compile(pattern, re.ASCII), text) for pattern in message.patterns for text in texts]
            matched = [match[0] for pattern, text in pairs for match in pattern.finditer(text)]
            told = [_words(text.translate(_SMALL))[:_MOST] for text in [message.title, *matched]]
            found |= {(message.id, f" {' '.join(words)} ") for words in told if len(words) >= _LEAST}
    # Of messages that have the same words: what asks for the rest of them, else what says least beside them.
    return sorted(found, key=lambda phrase: (not load().messages[phrase[0]].ask, len(phrase[1]), phrase))


def _words(small: str) -> list[str]:
    return _WORD.findall(_DEVICE.sub("x", small))

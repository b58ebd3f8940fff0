"""What a pattern of the catalog may hold: the part of regular expressions that Python and JavaScript read alike.

Text is matched after its line ends and runs of blanks have become single spaces (`samedevice.doctor.text.normalise`),
so a pattern has no use for anchors or for blanks other than a space. Refused, because the two languages differ or
because a text made to do so could keep them busy for minutes:

- `\\s`, `\\S`, `^`, `$`, lookaround, inline flags, atomic groups, possessive and lazy repeats, back references;
- escapes other than `\\w \\W \\d \\D \\b \\B \\n` and of the signs `\\ ^ $ . * + ? ( ) [ ] { } | /`, which are always
  escaped where they stand for themselves;
- repeats without an upper bound: write `\\w{1,80}`, not `\\w+`;
- a repeated group of repeats without a sign of its own that shows where each round ends, such as `(?:\\w{1,9} ){1,9}`,
  unless the pattern ends with it.

A message's pattern also has words that every text it matches contains (`needle`), so it has no alternative at its top
level: that is two patterns. And where it begins with a word of any kind, it begins with `\\b` (`wanders`).

Captures are `(?P<name>...)`; Python compiles with re.ASCII.
"""

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"(?P<escape>\\.)|(?P<set>\[\^?(?:\\.|[^\]\\])+\])|(?P<capture>\(\?P<\w+>)|(?P<group>\(\?:)|(?P<look>\(\?)|(?P<open>\()|(?P<close>\))"
    r"|(?P<bounded>\{\d+(?:,\d*)?\})|(?P<repeat>[*+?])|(?P<alternative>\|)|(?P<anchor>[\^$])|(?P<any>\.)|(?P<literal>.)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    depth: int


def tokens(pattern: str) -> list[Token]:
    """Return the parts of a pattern and how deep in groups each stands."""
    depth, found = 0, []
    for match in _TOKEN.finditer(pattern):
        kind = match.lastgroup or ""
        depth -= kind == "close"
        found.append(Token(kind, match[0], depth))
        depth += kind in ("capture", "group", "look", "open")
    return found


def mistake(pattern: str) -> str | None:
    """Say in a few words what is wrong with a pattern, or return None."""
    parts = tokens(pattern)
    for part, following in zip(parts, [*parts[1:], Token("end", "", 0)], strict=True):
        match part.kind:
            case "escape" if part.text[1] not in r"wWdDbBn\^$.*+?()[]{}|/":
                return f"{part.text} is not read alike by Python and JavaScript"
            case "set" if re.search(r"\\[^wWdDn\\^$.*+?()\[\]{}|/-]", part.text):
                return f"{part.text} holds an escape that Python and JavaScript do not read alike"
            case "set" if re.search(r"(?<!^)(?<!\\)\[|--|&&|~~|\|\|", part.text):
                return f"{part.text} holds what may come to mean a set in a set: escape \\["
            case "look" | "open":
                return "only (?:...) and (?P<name>...) groups are read alike by Python and JavaScript"
            case "literal" if part.text in "]{}":
                return f"{part.text} must be escaped: \\{part.text}"
            case "anchor":
                return f"{part.text} does not mean the same in Python and JavaScript"
            case "repeat" if part.text != "?":
                return f"{part.text} has no upper bound: write {{0,80}} or {{1,80}}"
            case "bounded" if part.text.endswith(",}"):
                return f"{part.text} has no upper bound"
        if part.kind in ("repeat", "bounded") and (following.kind == "bounded" or following.text in ("?", "+")):
            return f"{part.text}{following.text} is a lazy or possessive repeat, or a repeat of a repeat"
    try:
        re.compile(pattern, re.ASCII)
    except re.error as error:
        return str(error)
    if _most(parts) > 2000 or _ambiguous(parts):
        return "repeats inside repeats could take minutes on text made to do so"
    return None


def _ambiguous(parts: list[Token]) -> bool:
    """Tell whether a repeated group could split the same text in many ways, since nothing shows where a round begins.

    A space does not: text whose line ends were cut out is read with every space optional (`glued`). At the end of the
    pattern nothing can fail, so nothing is tried again.
    """
    for start, opening in enumerate(parts):
        if opening.kind not in ("capture", "group"):
            continue
        end = next(index for index in range(start + 1, len(parts)) if parts[index].depth == opening.depth)
        if (
            parts[end + 1 : end + 2]
            and parts[end + 1].kind == "bounded"
            and any(part.kind != "close" for part in parts[end + 2 :])
        ):
            inner = list(zip(parts[start + 1 : end], parts[start + 2 : end + 1], strict=True))
            loose = [part.text for part, following in inner if following.kind == "bounded" and part.kind != "close"]
            fixed = [
                part.text[-1]
                for part, following in inner
                if part.depth == opening.depth + 1 and _plain(part) and following.kind not in ("bounded", "repeat")
            ]
            if loose and not any(sign != " " and not re.fullmatch("|".join(loose), sign, re.ASCII) for sign in fixed):
                return True
    return False


def _plain(part: Token) -> bool:
    """Tell whether `part` stands for one sign, its last."""
    return part.kind == "literal" or (part.kind == "escape" and part.text[1] not in "wWdDbBn")


def _most(parts: list[Token]) -> int:
    """Return the largest product of repeats that stand inside each other."""
    worst, inside = 1, [1]
    for index, part in enumerate(parts):
        if part.kind in ("capture", "group"):
            inside.append(1)
            continue
        times = 1
        following = parts[index + 1] if index + 1 < len(parts) else None
        if following and following.kind == "bounded":
            times = int(re.findall(r"\d+", following.text)[-1])
        if part.kind == "close":
            times *= inside.pop()
        inside[-1] = max(inside[-1], times)
        worst = max(worst, times)
    return worst


def needle(pattern: str) -> str:
    """The longest words that every text matched by `pattern` contains, found with `in` before the pattern is tried."""
    runs, run = [], ""
    parts = tokens(pattern)
    if any(part.kind == "alternative" and part.depth == 0 for part in parts):
        return ""
    for part, following in zip(parts, [*parts[1:], Token("end", "", 0)], strict=True):
        if part.depth == 0 and _plain(part) and following.kind not in ("repeat", "bounded"):
            run += part.text[-1]
        else:
            runs.append(run)
            run = ""
    longest = max([*runs, run], key=len)
    return longest if len(re.findall(r"\w", longest)) >= 4 else ""


def longest(pattern: str) -> int:
    """Return a number of characters that no match of `pattern` has more of.

    Example:
        >>> longest(r"got \\w{1,40}(?::\\d{1,3})?")
        48
    """
    inside = [0]
    parts = tokens(pattern)
    for part, following in zip(parts, [*parts[1:], Token("end", "", 0)], strict=True):
        if part.kind in ("capture", "group"):
            inside.append(0)
        elif part.kind not in ("alternative", "repeat", "bounded"):
            width = inside.pop() if part.kind == "close" else 1
            times = int(re.findall(r"\d+", following.text)[-1]) if following.kind == "bounded" else 1
            inside[-1] += width * times
    return inside[0]


def wanders(pattern: str) -> bool:
    """Tell whether a search for `pattern` tries a long repeat from every letter: at its start, and without `\b`."""
    parts = tokens(pattern)
    index = 0
    while index < len(parts):
        part, following = parts[index], parts[index + 1] if index + 1 < len(parts) else Token("end", "", 0)
        if part.kind in ("capture", "group", "close"):
            index += 1
        elif following.kind == "bounded" and int(re.findall(r"\d+", following.text)[-1]) >= 10:
            return True
        elif following.text == "?":
            index += 2
        else:
            # It begins with this part, and if the group around it may be left out, with what follows that group.
            ends = (
                at for at in range(index, len(parts) - 1) if parts[at].kind == "close" and parts[at + 1].text == "?"
            )
            end = next((at for at in ends if parts[at].depth < part.depth), None)
            if end is None:
                return False
            index = end + 2
    return False


def glued(pattern: str) -> str:
    """The same pattern with every space optional: for text whose line ends were cut out, inside words or between."""
    written: list[str] = []
    for part in tokens(pattern):
        after_space = written[-1:] == [" ?"]
        if part.text == " " and part.kind == "literal":
            written.append(" ?")
        elif after_space and part.kind == "bounded":
            written[-1] = f" {{0,{re.findall(r'[0-9]+', part.text)[-1]}}}"
        elif not (after_space and part.kind == "repeat"):
            written.append(part.text)
    return "".join(written)


def javascript(pattern: str) -> str:
    """The same pattern as JavaScript writes it, to be compiled with the flag `u`."""
    return pattern.replace("(?P<", "(?<")

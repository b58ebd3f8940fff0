"""A Content-Security-Policy for each page: the site's own files are loaded and run, and nothing else is.

A static host sends no headers of ours, so the policy is the first element of `<head>`: what stood before it would
escape it. Material's inline scripts differ by page, so each page's policy names the hashes of its own. What the policy
would silently switch off, such as a script in a notebook's output, is a warning: it fails `mkdocs build --strict`.
"""

import base64
import hashlib
import re

from mkdocs.plugins import get_plugin_logger

log = get_plugin_logger("site_build")

_CONTENT = re.compile(r"<article\b.*</article>", re.DOTALL)
_SCRIPT = re.compile(r"<script\b(?![^>]*\s(?:src=|type=\"application/(?:ld\+)?json\"))[^>]*>(.*?)</script>", re.DOTALL)
_STYLE = re.compile(r"<style\b[^>]*>(.*?)</style>", re.DOTALL)
_TAG = re.compile(r"""<\w(?:[^>"']|"[^"]*"|'[^']*')*>""")
_VALUE = re.compile(r"""=\s*(?:"[^"]*"|'[^']*')""")
_FORBIDDEN = re.compile(r"\s(style|on\w+)=")


def with_policy(page: str, name: str, serving: bool) -> str:
    """Return the HTML of a page with its policy.

    `serving`: `mkdocs serve` puts a script of its own into what was built, with numbers that no hash can foresee, so
    there inline scripts are allowed.
    """
    template = _CONTENT.sub("", page)
    tags = " ".join(_VALUE.sub("=", tag) for tag in _TAG.findall(_SCRIPT.sub("", page)))
    inline = [f"the attribute {attribute}" for attribute in _FORBIDDEN.findall(tags)]
    inline += ["a script in its content"] * (len(_SCRIPT.findall(page)) - len(_SCRIPT.findall(template)))
    for forbidden in dict.fromkeys(inline):
        log.warning(f"'{name}' has {forbidden}, which the site's Content-Security-Policy switches off.")
    scripts = "'unsafe-inline'" if serving else _hashes(_SCRIPT, template)
    policy = {
        "default-src": "'none'",
        "script-src": f"'self' {scripts}",
        "style-src": f"'self' {_hashes(_STYLE, page)}",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self'",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'none'",
    }
    content = "; ".join(f"{directive} {sources}".strip() for directive, sources in policy.items())
    head, tag, rest = page.partition("<head>")
    assert tag, name
    return f'{head}{tag}<meta http-equiv="Content-Security-Policy" content="{content}">{rest}'


def _hashes(element: re.Pattern[str], page: str) -> str:
    digests = [hashlib.sha256(code.encode()).digest() for code in dict.fromkeys(element.findall(page))]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)

"""Where the project and its site are. `make repository` rewrites the one line below, as everywhere."""

from urllib.parse import urlencode

REPOSITORY = "https://github.com/your_name/same-device"

_FORM_LIMIT = 800  # characters that the form is given: GitHub refuses addresses over 8 kB, and one may take 9 of them


def site() -> str:
    """Return the address of the published site, with a slash at its end."""
    owner, name = REPOSITORY.split("/")[-2:]
    return f"https://{owner.lower()}.github.io/{name}/"


def error_page(message_id: str) -> str:
    return f"{site()}errors/{message_id.lower()}/"


def issue_form(text: str) -> str:
    """Return the address of the form for an unknown error, filled with the end of `text`; the reader may send it."""
    fields = {"template": "unknown-error.yml", "error": text[-_FORM_LIMIT:]}
    return f"{REPOSITORY}/issues/new?{urlencode(fields, errors='replace')}"

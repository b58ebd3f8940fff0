"""Where the project and its site are, once they are anywhere: until then nothing leads there.

`make repository` rewrites the address below, as everywhere. An answer that is text names a command in its place, such
as `samedevice explain SD001`, before and after: so the outputs that lessons and pages keep hold for both.
"""

from urllib.parse import urlencode

REPOSITORY = "https://github.com/your_name/same-device"

_NOBODY = "your_name"  # the owner until there is a repository, as in tools/repository.py, which leaves this word alone
_FORM_LIMIT = 800  # characters that the form is given: GitHub refuses addresses over 8 kB, and one may take 9 of them


def site() -> str | None:
    """Return the address of the published site, with a slash at its end; None until the project has one."""
    owner, name = REPOSITORY.split("/")[-2:]
    return None if owner == _NOBODY else f"https://{owner.lower()}.github.io/{name}/"


def page_on_site(path: str) -> str | None:
    """Return the address of one of the site's pages, such as "causes/input_not_moved/"; None until there is one."""
    address = site()
    return address and address + path


def error_page(message_id: str) -> str | None:
    """Return the address of the page of a message, by its id; None until there is one."""
    return page_on_site(f"errors/{message_id.lower()}/")


def issue_form(text: str) -> str | None:
    """Return the address of the form for an unknown error, filled with the end of `text`; None until there is one."""
    fields = {"template": "unknown-error.yml", "error": text[-_FORM_LIMIT:]}
    return site() and f"{REPOSITORY}/issues/new?{urlencode(fields, errors='replace')}"

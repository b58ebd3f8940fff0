"""What the page of a message and the page of a cause hold: which causes, which wordings; and both pages as text.

The site makes its pages of the same parts (tools/site_build/error_pages.py, cause_pages.py), so that what
`samedevice explain SD001` prints without a network is what stands there.
"""

from samedevice.catalog import Cause, Message
from samedevice.doctor.pages.cause_page import cause_page
from samedevice.doctor.pages.message_page import message_page


def page(entry: Message | Cause, width: int) -> str:
    """Write the page of a message or of a cause as text, in lines of at most `width` columns."""
    return message_page(entry, width) if isinstance(entry, Message) else cause_page(entry, width)

"""The paste box of the home page, for the tests that use it."""


class Box:
    """The paste box of a page, once what is known about errors is there."""

    def __init__(self, page):
        self.page = page
        self.text = page.get_by_label("Your error")
        self.result = page.locator(".diagnosis")
        self.spoken = page.locator(".doctor__spoken")
        self.note = page.locator(".doctor__note")
        self.shared = page.locator(".doctor__shared")
        self.edit = page.get_by_role("button", name="Edit")

    def paste(self, text):
        """Write it as if it was typed: the box stays unfolded."""
        self.text.fill(text)
        return self

    def paste_whole(self, text):
        """Paste it from the clipboard."""
        self.page.evaluate("text => navigator.clipboard.writeText(text)", text)
        self.text.press("Control+V")
        return self

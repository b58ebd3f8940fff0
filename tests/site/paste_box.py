"""The paste box of the home page, for the tests that use it."""

from axe_playwright_python.sync_playwright import Axe


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

    def assert_its_answer_can_be_read(self, width):
        """With everything unfolded axe finds nothing, and nothing scrolls sideways."""
        self.page.evaluate(
            "document.querySelectorAll('.diagnosis details').forEach((details) => (details.open = true))"
        )
        found = Axe().run(self.page, context=".diagnosis", options={"resultTypes": ["violations"]})
        assert found.violations_count == 0, found.generate_report()
        assert self.page.evaluate("document.documentElement.scrollWidth") <= width

"""What axe, the checker of accessibility, finds on the site's pages with everything unfolded, and whether they fit."""

from axe_playwright_python.sync_playwright import Axe

UNFOLD = "document.querySelectorAll('article details').forEach(details => details.open = true)"
SCHEMES = {"light": "default", "dark": "slate"}


def assert_axe_finds_nothing_and_nothing_scrolls_sideways(visit, site, address, scheme, width):
    page = visit("", width, color_scheme=scheme)
    for path in site.pages:
        page.goto(address + path)
        assert page.evaluate("document.body.dataset.mdColorScheme") == SCHEMES[scheme]
        page.wait_for_load_state("networkidle")  # Material adds its copy buttons late
        page.evaluate(UNFOLD)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        found = Axe().run(page)
        assert found.response["passes"] or found.response["incomplete"]
        assert found.violations_count == 0, found.generate_report()

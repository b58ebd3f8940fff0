"""What axe, the checker of accessibility, finds on the site's pages with everything unfolded, and whether they fit."""

from axe_playwright_python.sync_playwright import Axe

UNFOLD = "document.querySelectorAll('article details').forEach(details => details.open = true)"
# Pages of the kinds that a reader meets beside lessons, errors and causes.
ALWAYS = ["practice/", "notebooks/practice-1-start-here/", "sheet/", "two-minutes/", "placement-explorer/"]
SCHEMES = {"default", "slate"}
CHOICES = 3  # the system's, light, dark
# A rule of WCAG 2.2 at level AA that axe does not look at unless it is asked to.
RULES = {"rules": {"target-size": {"enabled": True}}, "resultTypes": ["violations"]}
# Material puts a copy button on each code block, and each table into a box that scrolls, after the page has loaded.
UNFINISHED = "article .highlight:not(.no-copy) > pre:not(:has(nav)), article table:not([class], .md-typeset__table *)"
STILL = "Promise.all(document.getAnimations().map(animation => animation.finished))"


def assert_axe_finds_nothing_and_nothing_scrolls_sideways(visit, site, tags, address, width):
    """No page scrolls sideways. In both schemes, axe sees a few that have every kind of element between them."""
    page = visit("", width)
    for_axe = of_every_kind(site, tags)
    for path in site.pages:
        page.goto(address + path)
        page.locator(UNFINISHED).first.wait_for(state="detached")
        page.evaluate(UNFOLD)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        if path not in for_axe:
            continue
        seen = set()
        for _ in range(CHOICES):
            if (scheme := page.evaluate("document.body.dataset.mdColorScheme")) not in seen:
                seen.add(scheme)
                found = Axe().run(page, options=RULES)
                assert found.response["passes"] or found.response["incomplete"]
                assert found.violations_count == 0, found.generate_report()
            page.locator("header label[for^=__palette]:visible").click()
            page.evaluate(STILL)
        assert seen == SCHEMES


def of_every_kind(site, tags):
    """Those, and a few with each element and class that any page has between them: axe takes 6 to 23 s a page."""
    kinds = {path: set(kinds_on(tags[site.folder / path / "index.html"])) for path in site.pages}
    chosen = [*ALWAYS]
    left = set().union(*kinds.values()).difference(*(kinds[path] for path in chosen))
    while left:
        chosen.append(max(kinds, key=lambda path: len(kinds[path] & left)))
        left -= kinds[chosen[-1]]
    return chosen


def kinds_on(found):
    for tag, attributes in found:
        yield from ((tag, name) for name in attributes.get("class", "").split() or [""])

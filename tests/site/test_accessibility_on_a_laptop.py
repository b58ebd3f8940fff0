"""axe finds nothing on a laptop. A file of its own, since it takes a minute and xdist runs a file in one process."""

from tests.site.accessibility import assert_axe_finds_nothing_and_nothing_scrolls_sideways


def test_axe_finds_nothing_and_nothing_scrolls_sideways_with_everything_unfolded(visit, site, tags, address):
    assert_axe_finds_nothing_and_nothing_scrolls_sideways(visit, site, tags, address, width=1280)

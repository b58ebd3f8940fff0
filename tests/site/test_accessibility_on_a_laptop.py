"""axe finds nothing on a laptop. A file of its own, since it takes minutes and xdist runs a file in one process."""

import pytest
from tests.site.accessibility import SCHEMES, assert_axe_finds_nothing_and_nothing_scrolls_sideways


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_and_nothing_scrolls_sideways_with_everything_unfolded(visit, site, address, scheme):
    assert_axe_finds_nothing_and_nothing_scrolls_sideways(visit, site, address, scheme, width=1280)

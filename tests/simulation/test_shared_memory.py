"""What is written on one device is seen on another only where CUDA shares the memory."""

import pytest
import shared_memory

WAYS = {source: [way for way in shared_memory.ways() if way.source == source] for source in "acg"}


@pytest.mark.filterwarnings("ignore")  # what is deprecated is asked for, too
@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize(
    "source",
    [pytest.param("a", id="of an array"), pytest.param("c", id="from the cpu"), pytest.param("g", id="from a gpu")],
)
def test_memory_is_shared_where_cuda_shares_it(source: str) -> None:
    answers = {way.code: shared_memory.asked(way) for way in WAYS[source]}
    assert answers == {way.code: (way.place, way.kind) for way in WAYS[source]}

"""Which blocks CUDA's caching allocator would hand out, and what it would keep in reserve.

The allocator asks a GPU for segments and cuts them into blocks. A block that is freed joins its free neighbours and
waits for the next tensor of that size, so what is reserved is more than what is allocated. The rules and the names of
the counts are those of c10/cuda/CUDACachingAllocator.cpp, as they are without PYTORCH_CUDA_ALLOC_CONF.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator

_BLOCK = 512  # bytes, kMinBlockSize
_SMALL = 2**20  # kSmallSize: what is larger comes from the large pool
_SMALL_SEGMENT = 2 * 2**20  # kSmallBuffer
_LARGE_SEGMENT = 20 * 2**20  # kLargeBuffer
_OWN_SEGMENT = 10 * 2**20  # kMinLargeAlloc: from here on a block has a segment of its own size,
_ROUNDED = 2 * 2**20  # rounded up to this (kRoundLarge)


class NoMemoryError(Exception):
    """A GPU has no memory for a segment of this size, even when it has given back what is not in use."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class Count:
    """What stands now, the most that stood, and the sums of what came and went (c10/core/Allocator.h, Stat)."""

    __slots__ = ("_peak", "allocated", "freed", "started")

    def __init__(self) -> None:
        self.allocated = self.freed = self._peak = 0
        self.started = 0  # what stood when the sums were reset

    @property
    def current(self) -> int:
        return self.started + self.allocated - self.freed

    @property
    def peak(self) -> int:
        """What stands grows until something is taken, so the most is looked at then (`take`), and here."""
        return max(self._peak, self.current)

    def take(self, amount: int) -> None:
        current = self.started + self.allocated - self.freed
        if current > self._peak:
            self._peak = current
        self.freed += amount

    def reset_peak(self) -> None:
        self._peak = self.current

    def reset_accumulated(self) -> None:
        self._peak, self.started = self.peak, self.current
        self.allocated = self.freed = 0

    def read(self) -> dict[str, int]:
        """The four numbers by PyTorch's names."""
        return {"current": self.current, "peak": self.peak, "allocated": self.allocated, "freed": self.freed}


class Block:
    """A piece of a segment."""

    __slots__ = ("address", "after", "before", "is_free", "pool", "requested", "size")
    requested: int
    pool: "_Pool"

    def __init__(self, address: int, size: int, pool: "_Pool") -> None:
        self.address, self.size, self.pool = address, size, pool
        self.before: Block | None = None  # its neighbours in the segment
        self.after: Block | None = None
        self.is_free = False

    @property
    def is_split(self) -> bool:
        """Whether the block is a part of its segment."""
        return self.before is not None or self.after is not None


class _Pool:
    """The small blocks, or the large ones, of one GPU; or, to count them together, all."""

    __slots__ = (
        "allocated_bytes",
        "allocation",
        "free",
        "inactive_split",
        "inactive_split_bytes",
        "least_rest",
        "requested_bytes",
        "reserved_bytes",
        "segment",
    )  # fmt: skip

    def __init__(self, least_rest: int = 0) -> None:
        self.least_rest = least_rest  # a block is cut where at least so much remains (should_split)
        self.free: list[tuple[int, int, Block]] = []  # sorted, for the smallest that is large enough
        self.allocation, self.segment, self.inactive_split = Count(), Count(), Count()
        self.allocated_bytes, self.reserved_bytes, self.inactive_split_bytes = Count(), Count(), Count()
        self.requested_bytes = Count()

    def counts(self) -> dict[str, Count]:
        """What is counted, by PyTorch's names.

        A block is active until no stream uses it. Here every operation is finished at once.
        """
        return {
            "allocation": self.allocation, "segment": self.segment, "active": self.allocation,
            "inactive_split": self.inactive_split, "allocated_bytes": self.allocated_bytes,
            "reserved_bytes": self.reserved_bytes, "active_bytes": self.allocated_bytes,
            "inactive_split_bytes": self.inactive_split_bytes, "requested_bytes": self.requested_bytes,
        }  # fmt: skip


class Allocator:
    """The pools of one GPU, which has so many bytes in total."""

    def __init__(self, index: int, total: int) -> None:
        self.index, self.total = index, total
        self.allowed: int | None = None  # what torch.cuda.set_per_process_memory_fraction leaves
        self.room = 0  # how much may be asked for before memory.py looks whether it fits
        self.small, self.large, self.all = _Pool(_BLOCK), _Pool(_SMALL + _BLOCK), _Pool()
        self._next_address = 0
        self.segments_made = self.segments_freed = 0
        self.retries = self.refusals = self.waits = 0  # num_alloc_retries, num_ooms, num_sync_all_streams

    @property
    def left(self) -> int:
        """How many bytes can still be reserved."""
        most = self.total if self.allowed is None else min(self.total, self.allowed)
        return most - self.all.reserved_bytes.current

    @property
    def certain(self) -> int:
        """How many bytes can be asked for, in pieces of any size, and are there for certain.

        A segment is made when no free block is large enough. So of each but the last of its pool, more than half is in
        use, and what is asked for takes at most twice as much and one segment of each pool.
        """
        return (self.left - _SMALL_SEGMENT - _LARGE_SEGMENT) // 2

    def forget_the_sums(self) -> None:
        """torch.cuda.reset_accumulated_memory_stats."""
        self.segments_made = self.segments_freed = self.retries = self.refusals = self.waits = 0
        for count in self.every_count():
            count.reset_accumulated()

    def every_count(self) -> Iterator[Count]:
        """All that is counted."""
        for pool in (self.all, self.small, self.large):
            yield from pool.counts().values()

    def read(self) -> dict[str, dict[str, dict[str, int]]]:
        """What is counted, by PyTorch's names."""
        pools = {"all": self.all.counts(), "small_pool": self.small.counts(), "large_pool": self.large.counts()}
        return {name: {pool: counts[name].read() for pool, counts in pools.items()} for name in pools["all"]}

    def fits(self, requested: int) -> bool:
        """Whether there is a block of so many bytes, or memory for one."""
        pool, size = self._pool_of(requested)
        if bisect_left(pool.free, (size,)) < len(pool.free):
            return True
        wanted = _segment_of(size) - self.left
        return wanted <= 0 or wanted <= sum(entry[0] for entry in self._unused())

    def allocate(self, requested: int, checked: bool = True) -> Block:
        """Hand out a block of at least this many bytes (DeviceCachingAllocator::malloc).

        Raises:
            NoMemoryError: the GPU has no memory for it, and that is `checked`.
        """
        pool, size = self._pool_of(requested)
        index = bisect_left(pool.free, (size,))
        block = pool.free.pop(index)[2] if index < len(pool.free) else self._new_segment(pool, size, checked)
        was_split = block.is_split
        cut = block.size - size >= pool.least_rest
        if cut:
            block = self._cut(block, size)
        block.is_free, block.requested = False, requested
        for counts in (self.all, pool):
            if was_split:
                counts.inactive_split_bytes.take(block.size)
                if not cut:
                    counts.inactive_split.take(1)
            elif cut:
                counts.inactive_split_bytes.allocated += block.after.size  # type: ignore[union-attr]
                counts.inactive_split.allocated += 1
            counts.allocation.allocated += 1
            counts.allocated_bytes.allocated += block.size
            counts.requested_bytes.allocated += requested
        return block

    def _pool_of(self, requested: int) -> tuple[_Pool, int]:
        """The pool of a block for this many bytes, and its size."""
        size = -(-requested // _BLOCK) * _BLOCK
        return (self.small if size <= _SMALL else self.large), size

    def _new_segment(self, pool: _Pool, size: int, checked: bool) -> Block:
        """cudaMalloc, once more where it fails, without the segments that are not in use (alloc_block)."""
        size = _segment_of(size)
        if checked and size > self.left:
            self.release()
            self.retries += 1
            if size > self.left:
                self.refusals += 1
                raise NoMemoryError(size)
        block = Block(self._next_address, size, pool)
        self._next_address += size
        self.segments_made += 1
        for counts in (self.all, pool):
            counts.segment.allocated += 1
            counts.reserved_bytes.allocated += size
        return block

    def _cut(self, block: Block, size: int) -> Block:
        """Cut so much off the front of a block; the rest waits."""
        front = Block(block.address, size, block.pool)
        front.before, front.after = block.before, block
        if block.before is not None:
            block.before.after = front
        block.before = front
        block.address += size
        block.size -= size
        block.is_free = True
        insort(block.pool.free, (block.size, block.address, block))
        return front

    def free(self, block: Block) -> None:
        """Take a block back, and join it with its free neighbours (free_block)."""
        pool, size = block.pool, block.size
        splits, split_bytes = 0, 0  # the change of what is free and part of a segment
        before, after = block.before, block.after
        if before is not None and before.is_free:
            self._leave(before)
            splits, split_bytes = splits - 1, split_bytes - before.size
            block.address = before.address
            block.size += before.size
            block.before = before.before
            if block.before is not None:
                block.before.after = block
        if after is not None and after.is_free:
            self._leave(after)
            splits, split_bytes = splits - 1, split_bytes - after.size
            block.size += after.size
            block.after = after.after
            if block.after is not None:
                block.after.before = block
        block.is_free = True
        insort(pool.free, (block.size, block.address, block))
        if block.is_split:
            splits, split_bytes = splits + 1, split_bytes + block.size
        for counts in (self.all, pool):
            counts.allocation.take(1)
            counts.allocated_bytes.take(size)
            counts.requested_bytes.take(block.requested)
            if split_bytes > 0:
                counts.inactive_split_bytes.allocated += split_bytes
            elif split_bytes < 0:
                counts.inactive_split_bytes.take(-split_bytes)
            if splits > 0:
                counts.inactive_split.allocated += splits
            elif splits < 0:
                counts.inactive_split.take(-splits)

    def _leave(self, block: Block) -> None:
        """Take a block out of those that wait."""
        del block.pool.free[bisect_left(block.pool.free, (block.size, block.address))]

    def _unused(self) -> Iterator[tuple[int, int, Block]]:
        """The segments in which nothing is allocated."""
        return (entry for pool in (self.small, self.large) for entry in pool.free if not entry[2].is_split)

    def release(self) -> None:
        """Give back the segments in which nothing is allocated (torch.cuda.empty_cache)."""
        self.waits += 1
        for size, _, block in list(self._unused()):
            self._leave(block)
            self.segments_freed += 1
            for counts in (self.all, block.pool):
                counts.segment.take(1)
                counts.reserved_bytes.take(size)


def _segment_of(size: int) -> int:
    """How large a segment is that is made for a block of this size (get_allocation_size)."""
    if size <= _SMALL:
        return _SMALL_SEGMENT
    return _LARGE_SEGMENT if size < _OWN_SEGMENT else -(-size // _ROUNDED) * _ROUNDED

"""A memory that runs out: what is asked for too much, what is counted then, and what helps."""

import contextlib
import gc


@contextlib.contextmanager
def allowed(mebibytes):
    """Let the first GPU reserve no more than this beside what is in use, and count anew."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_accumulated_memory_stats()
    torch.cuda.reset_peak_memory_stats()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + mebibytes * 2**20) / total)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def mib(number):
    """A tensor of so many MiB on the first GPU."""
    return torch.empty(int(number * 2**20), dtype=torch.uint8, device="cuda")


def tried(function, *args, **kwargs):
    """What an error says of the memory that was asked for."""
    try:
        function(*args, **kwargs)
        return "fits"
    except torch.OutOfMemoryError as error:
        return str(error).partition(". GPU")[0]


def counts():
    names = ("num_ooms", "num_alloc_retries", "num_sync_all_streams", "num_device_alloc", "num_device_free")
    return [torch.cuda.memory_stats()[name] for name in names]


with allowed(64): tried(mib, 65), counts()
with allowed(64): x = mib(64); counts()
with allowed(16): tried(mib, 2), counts()
with allowed(10): x = mib(10); tried(mib, 0.001), counts()
with allowed(64): x = mib(40); del x; y = mib(60); counts()
with allowed(64): x = mib(40); del x; y = mib(20); tried(mib, 30), counts()
with allowed(64): xs = [mib(0.5) for _ in range(8)]; del xs; y = mib(64); counts()
with allowed(64): x = mib(40); torch.cuda.empty_cache(); tried(mib, 40), counts()
with allowed(100): a = mib(30); b = mib(30); del a, b; c = mib(90); counts()
with allowed(32): [tried(torch.zeros, 2**24, device="cuda"), tried(torch.randn, 2**24, device="cuda")]
with allowed(32): [tried(torch.arange, 2**23, device="cuda"), tried(torch.eye, 4096, device="cuda")]
with allowed(32): tried(lambda: torch.zeros(2**24).cuda()), tried(lambda: torch.zeros(2**24).to("cuda", torch.float16))
with allowed(64): x = mib(40); tried(lambda: x + x), tried(lambda: x.add_(x)), tried(lambda: x.clone())
with allowed(64): x = mib(1); tried(lambda: x.repeat(100)), tried(lambda: x.expand(100, -1)), counts()
with allowed(64): x = torch.ones(2**13, device="cuda"); tried(lambda: x[:, None] * x), tried(lambda: x[:, None] < x)
with allowed(64): x = mib(30); tried(lambda: torch.cat([x, x])), tried(lambda: torch.stack([x]))
with allowed(64): x = mib(1); tried(lambda: x.untyped_storage().resize_(2**27)), x.untyped_storage().nbytes() // 2**20
with allowed(64): x = mib(40); x.untyped_storage().resize_(0); y = mib(40); tried(lambda: x.untyped_storage().resize_(40 * 2**20)), counts()
with allowed(64): m = nn.Linear(4096, 8192); tried(m.cuda), m.weight.device.type
with allowed(64): tried(torch.UntypedStorage, 2**27, device="cuda"), tried(torch.cuda.caching_allocator_alloc, 2**27)
with allowed(8): torch.cuda.set_per_process_memory_fraction(0.0); tried(mib, 0.1), tried(torch.empty, 0, device="cuda")
with allowed(64): tried(mib, 100); torch.cuda.reset_accumulated_memory_stats(); counts()
with allowed(64): tried(mib, 100); torch.cuda.memory_summary(abbreviated=True).splitlines()[3]
tried(torch.empty, 2**40, device="cuda")
torch.empty(2**60, device="cuda")
torch.empty(2**62, device="cuda")
torch.cuda.set_per_process_memory_fraction(0.001); x = round(torch.cuda.get_per_process_memory_fraction() * 10**12); torch.cuda.set_per_process_memory_fraction(1.0); x
torch.cuda.OutOfMemoryError is torch.OutOfMemoryError, issubclass(torch.OutOfMemoryError, RuntimeError)

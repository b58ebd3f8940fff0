"""What CUDA takes and what it refuses, beside tensors: ranks, streams, events, integers as devices, sparse and quantised."""

import contextlib
import io

import numpy as np
import torch.cuda.comm
import torch.distributed as dist
from torch.cuda import Event, ExternalStream, Stream


@contextlib.contextmanager
def group(backend):
    """A group of one process."""
    dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        dist.destroy_process_group()


class Index:
    def __index__(self):
        return 1


class Integer:
    def __int__(self):
        return 1


def bag(mode="sum", device="cuda", **options):
    """A bag of embeddings after one backward pass."""
    layer = nn.EmbeddingBag(4, 2, mode=mode, sparse=True, device=device, **options)
    layer(torch.tensor([0, 1, 2], device=device), torch.tensor([0, 2], device=device)).sum().backward()
    return layer


def file(thing):
    """A file that holds a scripted function, from its beginning."""
    buffer = io.BytesIO()
    torch.jit.save(thing, buffer)
    buffer.seek(0)
    return buffer


def saved(x):
    buffer = io.BytesIO()
    torch.save(x, buffer)
    buffer.seek(0)
    return buffer


def sparse(device="cuda"):
    return torch.eye(2, device=device).to_sparse()


def all_memory(function):
    """What a function adds to the memory in use, in bytes."""
    torch.cuda.init()
    before = torch.cuda.memory_allocated()
    kept = function()
    return torch.cuda.memory_allocated() - before


torch.ones(2, device=np.int64(1))
torch.ones(2, device=np.int32(0))
torch.ones(2, device=True)
torch.ones(2, device=1.0)
torch.ones(2, device=Index())
torch.ones(2, device=torch.tensor(1))
torch.ones(2, device=np.uint8(1))
torch.ones(2, device=5)
torch.ones(2, device=-1)
c(2).to(np.int64(1))
c(2).to(1)
c(2).to(True)
c(2).to(Index())
c(2).cuda(np.int64(1))
c(2).cuda(True)
c(2).cuda(Index())
c(2).cuda(1.0)
nn.Linear(2, 2).cuda(np.int64(1)).weight
nn.Linear(2, 2).to(np.int64(1)).weight
nn.Linear(2, 2, device=np.int64(1)).weight
torch.device("cuda", np.int64(1))
torch.device("cuda", True)
torch.device(np.int64(1))
torch.cuda.set_device(np.int64(1)); torch.cuda.current_device()
with torch.cuda.device(np.int64(1)): torch.cuda.current_device()
torch.cuda.get_device_name(np.int64(1)) is not None
torch.cuda.synchronize(np.int64(1))
torch.as_tensor([1], device=np.int64(1))
torch.tensor([1], device=np.int64(1))
torch.zeros_like(c(2), device=np.int64(1))
c(2).new_zeros(2, device=np.int64(1))
torch.randn(2, device=np.int64(1))
torch.load(saved(g(2)), map_location=np.int64(1))
torch.load(saved(g(2)), map_location={"cuda:0": "cuda:1"})
torch.load(saved(g(2)), map_location="cuda:1")
torch.load(saved(c(2)), map_location="cuda:1")
torch.load(saved(g(2)), map_location=torch.device("cpu"))
torch.load(saved(g(2)), map_location=lambda s, l: s)
torch.load(saved(h(2)), map_location=lambda s, l: s.cuda(0))
torch.load(saved(c(2)), map_location="cuda:5")
bag().weight.grad
bag("mean").weight.grad
bag("max").weight.grad
bag(device="cuda:1").weight.grad
bag(padding_idx=0).weight.grad
b = bag(); torch.optim.SGD(b.parameters(), 0.1).step(); b.weight
b = bag(); torch.optim.SparseAdam(b.parameters()).step(); b.weight
b = bag(); torch.optim.Adam(b.parameters()).step()
b = bag(); b.weight.grad.to_dense()
b = bag(); b.cpu(); b.weight.grad
F.embedding_bag(torch.tensor([0, 1], device="cuda"), g(4, 2), torch.tensor([0], device="cuda"), per_sample_weights=g(2))
F.embedding_bag(torch.tensor([0, 1], device="cuda"), g(4, 2), torch.tensor([0]))
F.embedding_bag(torch.tensor([0, 1]), g(4, 2), torch.tensor([0]))
F.embedding_bag(torch.tensor([[0, 1]], device="cuda"), h(4, 2))
F.embedding_bag(torch.tensor([0, 1], device="cuda"), g(4, 2).half(), torch.tensor([0], device="cuda"), per_sample_weights=g(2))
F.ctc_loss(g(40, 5).log_softmax(-1), torch.ones(10, dtype=torch.long, device="cuda"), torch.tensor(40), torch.tensor(10))
F.ctc_loss(g(40, 5).log_softmax(-1), torch.ones(10, dtype=torch.long, device="cuda"), torch.tensor(40, device="cuda"), torch.tensor(10, device="cuda"))
F.ctc_loss(g(40, 5).log_softmax(-1), torch.ones(10, dtype=torch.long), torch.tensor(40), torch.tensor(10))
F.ctc_loss(g(40, 2, 5).log_softmax(-1), torch.ones(2, 10, dtype=torch.long), (40, 40), (10, 10))
F.ctc_loss(g(40, 2, 5).log_softmax(-1), torch.ones(2, 10, dtype=torch.long, device="cuda"), torch.tensor([40, 40]), torch.tensor([10, 10], device="cuda"))
torch.cuda.comm.broadcast(sparse(), [0, 1])
torch.cuda.comm.broadcast_coalesced([sparse(), g(2)], [0, 1])
torch.cuda.comm.reduce_add([sparse(), sparse("cuda:1")])
torch.cuda.comm.reduce_add_coalesced([[sparse(), g(2)], [sparse("cuda:1"), h(2)]])
torch.cuda.comm.broadcast(torch.eye(2).to_sparse(), [0, 1])
sparse().half() + sparse().half()
sparse() + sparse("cpu")
sparse() + sparse("cuda:1")
torch._empty_affine_quantized([2], scale=1, zero_point=0, dtype=torch.quint8, device="cuda")
torch.quantize_per_tensor(g(2), 1.0, 0, torch.quint8)
torch.quantize_per_tensor(g(2), 1.0, 0, torch.qint8).dequantize()
torch.quantize_per_tensor(c(2), 1.0, 0, torch.qint8).cuda()
torch.quantize_per_tensor(g(2), torch.tensor(1.0), torch.tensor(0), torch.qint8)
torch.quantize_per_channel(g(2, 2), g(2), torch.zeros(2, device="cuda"), 0, torch.qint8)
torch.quantize_per_channel(g(2, 2), c(2), torch.zeros(2), 0, torch.qint8)
torch.fake_quantize_per_tensor_affine(g(2), 1.0, 0, 0, 255)
torch.fake_quantize_per_channel_affine(g(2, 2), c(2), torch.zeros(2, dtype=torch.int32), 0, 0, 255)
torch.jit.load(file(torch.jit.script(nn.Linear(2, 2))), map_location="cuda").weight
torch.jit.load(file(torch.jit.script(nn.Linear(2, 2))), map_location="cuda:1")(h(1, 2))
torch.jit.load(file(torch.jit.script(nn.Linear(2, 2))), map_location="cuda")(c(1, 2))
torch.jit.load(file(torch.jit.script(nn.Linear(2, 2))), map_location=torch.device("cuda")).weight
torch.jit.load(file(torch.jit.script(nn.Linear(2, 2)))).weight
torch.jit.load(file(torch.jit.script(nn.Linear(2, 2))), map_location="cuda:7")
with group("gloo"): x = g(2); dist.all_reduce(x); x
with group("cpu:gloo"): x = g(2); dist.all_reduce(x); x
with group("cpu:gloo"): x = c(2); dist.all_reduce(x); x
with group("cpu:gloo"): x = g(2); dist.broadcast(x, 0); x
with group("cpu:gloo"): x = g(2); dist.all_gather([g(2)], x)
with group("cuda:gloo"): x = c(2); dist.all_reduce(x); x
with group("cuda:gloo"): x = g(2); dist.all_reduce(x); x
with group("gloo"): y = [c(2)]; dist.all_gather(y, g(2)); y
with group("gloo"): y = [g(2)]; dist.all_gather(y, c(2)); y
with group("gloo"): y = [g(2)]; dist.all_gather(y, g(2)); y
with group("gloo"): y = [h(2)]; dist.all_gather(y, g(2)); y
with group("gloo"): y = [c(2)]; dist.gather(g(2), y); y
with group("gloo"): y = c(2); dist.scatter(y, [g(2)]); y
with group("gloo"): y = g(2); dist.scatter(y, [g(2)]); y
with group("gloo"): y = c(2); dist.all_gather_into_tensor(y, g(2)); y
with group("gloo"): y = c(2); dist.reduce_scatter_tensor(y, g(2)); y
with group("gloo"): y = c(2); dist.all_to_all_single(y, g(2)); y
with group("gloo"): y = [c(2)]; dist.all_to_all(y, [g(2)]); y
with group("gloo"): y = g(2); dist.reduce(y, 0); y
with group("gloo"): dist.barrier()
with group("gloo"): dist.all_reduce_coalesced([g(2), c(2)])
with group("cpu:gloo"): dist.all_gather_object([None], 1)
with group("cpu:gloo"): dist.broadcast_object_list([1], device=torch.device("cuda"))
with group("gloo"): nn.parallel.DistributedDataParallel(nn.Linear(2, 2).cuda())(g(1, 2))
with group("cpu:gloo"): nn.parallel.DistributedDataParallel(nn.Linear(2, 2).cuda())
with group("cpu:gloo"): nn.parallel.DistributedDataParallel(nn.Linear(2, 2))(c(1, 2))
a, b = Event(enable_timing=True), Event(enable_timing=True); a.record(Stream(0)); b.record(Stream(1)); a.elapsed_time(b)
a, b = Event(enable_timing=True), Event(enable_timing=True); a.record(Stream(0)); b.record(Stream(0)); a.synchronize(), b.synchronize(); a.elapsed_time(b) >= 0
a, b = Event(), Event(enable_timing=True); a.record(); b.record(); a.elapsed_time(b)
a, b = Event(enable_timing=True), Event(enable_timing=True); a.elapsed_time(b)
a = Event(); a.query(), a.record(), a.query()
a = Event(); a.record(Stream(1)); a.device
a = Event(); a.device
a = Event(); a.record(Stream(1)); a.wait(Stream(0)); a.record(Stream(0))
a = Event(); a.record(Stream(1)); torch.cuda.current_stream().wait_event(a)
a = torch.Event("cuda:1"); a.record(Stream(0))
s = Stream(1); ExternalStream(s.cuda_stream, 1) == s
s = Stream(1); e = ExternalStream(s.cuda_stream, device=1); e.device, e.cuda_stream == s.cuda_stream
s = Stream(0); e = ExternalStream(s.cuda_stream); e.device
s = Stream(1); torch.cuda.get_stream_from_external(s.cuda_stream, 1) == s
s = ExternalStream(Stream(1).cuda_stream, 1); torch.cuda.set_stream(s); torch.cuda.current_device()
with torch.cuda.stream(Stream(1)): torch.cuda.current_device(), torch.ones(2, device="cuda")
with torch.cuda.stream(None): torch.cuda.current_device()
s = Stream(1); s.wait_stream(torch.cuda.current_stream(0)), s.query(), s.synchronize()
Stream(1, priority=-1).device, Stream.priority_range()
s = Stream(5)
s = Stream("cpu")
s = Stream(device="cuda:1"); str(s.device), s.device_index, s.device_type
Stream(0) == Stream(0), torch.cuda.default_stream(0) == torch.cuda.default_stream(1), torch.cuda.default_stream() == torch.cuda.current_stream()
hash(torch.cuda.default_stream(0)) == hash(torch.cuda.current_stream(0)), len({torch.cuda.default_stream(0), torch.cuda.default_stream(1)})
with Stream(1): torch.cuda.current_device(), torch.cuda.current_stream(1) == torch.cuda.default_stream(1)
with torch.Stream("cuda:1"): torch.accelerator.current_device_index()
g(2).record_stream(Stream(1))
torch.cuda.set_stream(Stream(1)); torch.cuda.current_device(), torch.cuda.current_stream(0) == torch.cuda.default_stream(0)
x = g(1024); all_memory(lambda: x.resize_(4096))
x = g(1024); all_memory(lambda: x.untyped_storage().resize_(0))
x = g(1024); x.untyped_storage().resize_(0); all_memory(lambda: x.untyped_storage().resize_(8192))
x = torch.empty(0, device="cuda"); all_memory(lambda: torch.add(g(1024), 1, out=x) is None)
x = g(4096); all_memory(lambda: x.resize_(2))
x = g(1024); all_memory(lambda: x.set_(g(8192)))
x = nn.Parameter(g(1024)); all_memory(lambda: setattr(x, "data", torch.empty(0, device="cuda")))
all_memory(lambda: c(2).to("cuda").cpu())
all_memory(lambda: g(1024)[:1])
all_memory(lambda: g(1024)[:1].clone())

"""Saving, loading, pickling and copying."""

import copy
import io
import pickle


def saved(x, **options):
    file = io.BytesIO()
    torch.save(x, file, **options)
    file.seek(0)
    return file


def back(x, *args, **options):
    return torch.load(saved(x), *args, **options)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.register_buffer("mean", torch.zeros(2))
        self.plain = torch.zeros(2)


class Plain:
    pass


back(g(2))
back(h(2))
back(c(2))
back(g(2), map_location="cpu")
back(h(2), map_location="cuda:0")
back(c(2), map_location="cuda")
back(c(2), map_location="cuda:1")
back(c(2), map_location=torch.device("cuda"))
back(g(2), map_location={"cuda:0": "cuda:1"})
back([g(2), h(2)], map_location={"cuda:0": "cuda:1", "cuda:1": "cuda:0"})
back([g(2), c(2)], map_location={"cuda:0": "cpu"})
back(g(2), map_location={"cuda": "cpu"})
back(g(2), map_location=lambda storage, location: storage)
back([g(2), c(2)], map_location=lambda storage, location: storage.cuda(1))
back(g(2), map_location=lambda storage, location: None)
[back([g(2), h(2)], map_location=lambda storage, location: seen.append(location) or storage) for seen in [[]]]
seen = []; back([g(2), h(2), c(2)], map_location=lambda storage, location: seen.append(location)); seen
seen = []; back(g(2), map_location=lambda storage, location: seen.append(str(storage.device))); seen
back(g(2), map_location="cuda:2")
back(c(2), map_location="cuda:2")
back(c(2), map_location="gpu")
back(c(2), map_location="cuda:x")
back(g(2), map_location="meta")
back(g(2), map_location=0)
back(c(2), map_location=1)
back(g(2), "cpu")
back(g(2), weights_only=True)
back(g(2), weights_only=False)
back(nn.Linear(2, 2).cuda())
back(nn.Linear(2, 2).cuda(), weights_only=False).weight
back(nn.Linear(2, 2).cuda(), map_location="cpu", weights_only=False).weight
back(nn.Linear(2, 2).cuda().state_dict())
back(nn.Linear(2, 2).cuda().state_dict(), map_location="cpu")
back(nn.Parameter(g(2)))
back(g(2, requires_grad=True)).requires_grad
back({"model": nn.Linear(2, 2).cuda().state_dict(), "epoch": 3, "device": torch.device("cuda:1")})
back({"size": torch.Size([2]), "dtype": torch.float16, "x": h(2).half()})
back(torch.device("cuda", 1))
back(Plain())
back([g(2), Plain()])
back(g(2).storage(), weights_only=False).device
back(g(2).untyped_storage(), weights_only=False).device
x = g(4); y, z = back([x, x[2:]]); y.data_ptr() + 8 == z.data_ptr()
x = g(4); y, z = back([x, x]); y is z
back(g(4)[1:3])
back(g(2, 3).t()).stride()
back(g(2, 2).to(torch.bfloat16)), back(g(2, dtype=torch.long)), back(g(2, dtype=torch.bool)), back(g(2, dtype=torch.complex64))
back(torch.sparse_coo_tensor(torch.tensor([[0], [0]]), torch.ones(1), (2, 2)).cuda())
back(torch.sparse_coo_tensor(torch.tensor([[0], [0]]), torch.ones(1), (2, 2)).cuda(), map_location="cpu")
back(nn.utils.rnn.pack_padded_sequence(g(3, 1, 2), torch.tensor([3])), weights_only=False).data
back(torch.optim.Adam([nn.Parameter(g(2))]).state_dict())
p = nn.Parameter(g(2)); o = torch.optim.Adam([p]); p.sum().backward(); o.step(); back(o.state_dict())["state"]
p = nn.Parameter(g(2)); o = torch.optim.Adam([p]); p.sum().backward(); o.step(); back(o.state_dict(), map_location="cpu")["state"]
back(torch.cuda.get_rng_state())
back(torch.Generator("cuda"), weights_only=False)
back(torch.cuda.Stream(), weights_only=False)
back(torch.cuda.Event(), weights_only=False)
back(g(2), mmap=True)
saved(g(2), _use_new_zipfile_serialization=False).tell()
torch.load(saved(g(2), _use_new_zipfile_serialization=False))
torch.load(saved(h(2), _use_new_zipfile_serialization=False), map_location="cpu")
torch.load(saved(h(2), _use_new_zipfile_serialization=False), map_location={"cuda:1": "cuda:0"})
with torch.device("cuda"):
    back(c(2))
with torch.device("cpu"):
    back(g(2))
with torch.device("meta"):
    back(g(2))
with torch.cuda.device(1):
    back(g(2)), back(c(2), map_location="cuda")
with torch.serialization.set_default_load_endianness(None):
    back(g(2))
with torch.serialization.skip_data():
    saved(g(2)).tell()
with torch.serialization.safe_globals([Plain]):
    back(c(2))
torch.serialization.location_tag(g(2).storage()), torch.serialization.location_tag(h(2).untyped_storage()), torch.serialization.location_tag(c(2).storage())
torch.serialization.validate_cuda_device("cuda:1")
torch.serialization.validate_cuda_device("cuda:2")
torch.serialization.default_restore_location(c(2).untyped_storage(), "cuda:1").device
torch.serialization.default_restore_location(c(2).untyped_storage(), "cuda:5")
torch.serialization.get_default_load_endianness()
pickle.loads(pickle.dumps(g(2)))
pickle.loads(pickle.dumps(h(2, requires_grad=True))).requires_grad
pickle.loads(pickle.dumps(nn.Parameter(g(2))))
pickle.loads(pickle.dumps(torch.device("cuda:1")))
pickle.loads(pickle.dumps(nn.Linear(2, 2).cuda(1))).weight
pickle.loads(pickle.dumps(g(2) * nn.Parameter(g(2))))
pickle.dumps(torch.cuda.Stream())
pickle.dumps(torch.cuda.Event())
copy.copy(g(2))
copy.deepcopy(g(2))
copy.deepcopy(h(2, requires_grad=True)).requires_grad
copy.deepcopy(g(2, requires_grad=True) * 2)
copy.deepcopy(nn.Parameter(g(2)))
copy.deepcopy(nn.Linear(2, 2).cuda()).weight
copy.deepcopy(Net().cuda()).plain
copy.deepcopy([g(2), h(2)])
x = g(4); y, z = copy.deepcopy([x, x[2:]]); y.data_ptr() + 8 == z.data_ptr()
copy.deepcopy(torch.device("cuda:1"))
copy.deepcopy(torch.cuda.Stream())
copy.deepcopy(torch.Generator("cuda")).device
copy.deepcopy(torch.optim.SGD([nn.Parameter(g(2))], 0.1)).param_groups[0]["params"]
copy.deepcopy(g(2).storage()).device
copy.deepcopy(torch.nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)).cuda()).weight
nn.Linear(2, 2).cuda().load_state_dict(nn.Linear(2, 2).state_dict())
m = nn.Linear(2, 2).cuda(); m.load_state_dict(nn.Linear(2, 2).state_dict()); m.weight
m = nn.Linear(2, 2).cuda(); m.load_state_dict(nn.Linear(2, 2).state_dict(), assign=True); m.weight
m = nn.Linear(2, 2); m.load_state_dict(nn.Linear(2, 2).cuda().state_dict(), assign=True); m.weight
m = nn.Linear(2, 2); m.load_state_dict(nn.Linear(2, 2).cuda().state_dict()); m.weight
m = nn.Linear(2, 2).cuda(); m.load_state_dict(nn.Linear(2, 3).state_dict())
m = nn.Linear(2, 2, device="meta"); m.load_state_dict(nn.Linear(2, 2).cuda().state_dict(), assign=True); m.weight
m = nn.Linear(2, 2).cuda(); m.load_state_dict({"weight": g(2, 2)})
m = nn.Linear(2, 2).cuda(); m.load_state_dict({"weight": g(2, 2), "bias": [1.0, 2.0]})
Net().cuda().plain, Net().cuda().mean
nn.Linear(2, 2).cuda().share_memory().weight.is_shared()
g(2).share_memory_().is_shared(), c(2).is_shared()
g(2).numpy()
g(2).__array__()
g(2, requires_grad=True).numpy()
g(2).cpu().numpy().shape
g(2).numpy(force=True).shape
memoryview(g(2))
g(2).tolist() is None, len(g(2).tolist())
torch.from_numpy(c(2).numpy()).cuda()
torch.as_tensor(c(2).numpy(), device="cuda")
torch.tensor(c(2).numpy(), device="cuda:1")
torch.frombuffer(bytearray(8), dtype=torch.float32).cuda()
torch.utils.dlpack.to_dlpack(g(2))
torch.from_dlpack(c(2))
g(2).__dlpack_device__()[1], h(2).__dlpack_device__()[1]
torch.from_file("nothing", size=2, device="cuda")

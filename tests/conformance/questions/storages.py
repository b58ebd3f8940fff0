"""Storages, arrays of other libraries, files and state dicts: where memory is, and what may look at it."""

import collections
import copy
import io
import pickle

import numpy as np


def saved(x, **options):
    file = io.BytesIO()
    torch.save(x, file, **options)
    file.seek(0)
    return file


class Tagged(torch.Tensor):
    pass


class Extra(nn.Module):
    """A module that keeps more in its state dict than parameters."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("cache", torch.zeros(2), persistent=False)

    def get_extra_state(self):
        return {"table": torch.zeros(2)}

    def set_extra_state(self, state):
        self.table = state["table"]


# storages
g(3).untyped_storage().device, h(3).untyped_storage().nbytes(), c(3).untyped_storage().device
g(3).untyped_storage().size(), len(g(3).untyped_storage()), g(3).untyped_storage().is_cuda, g(3).untyped_storage().get_device()
g(3).storage().is_cuda, g(3).storage().dtype, g(3).storage().size(), h(3).storage().get_device()
type(g(3).storage()).__name__, type(g(3).untyped_storage()).__name__, g(2).storage_type().__name__
torch.UntypedStorage(8, device="cuda").device
torch.UntypedStorage(8, device="cuda:1").nbytes()
torch.UntypedStorage(8, device="cuda:5")
torch.UntypedStorage(8, device="gpu")
torch.UntypedStorage([1, 2, 3], device="cuda")
torch.UntypedStorage(device="cuda").size()
torch.TypedStorage(4, dtype=torch.float32, device="cuda").device
torch.TypedStorage([1.0, 2.0], dtype=torch.float32, device="cuda:1").size()
torch.TypedStorage(wrap_storage=g(2).untyped_storage(), dtype=torch.float32).device
torch.TypedStorage(wrap_storage=g(2).untyped_storage(), dtype=torch.float32, device="cpu")
torch.FloatStorage(4).device, torch.FloatStorage([1.0, 2.0]).size()
torch.cuda.FloatStorage(4).device
torch.cuda.FloatStorage([1.0, 2.0]).size()
g(2).untyped_storage().cpu().device, c(2).untyped_storage().cuda().device, c(2).untyped_storage().cuda(1).device
g(2).untyped_storage().to(device="cuda:1").device
g(2).untyped_storage().to("cpu").device
g(2).storage().cpu().device, g(2).storage().cuda(1).device, c(2).storage().cuda().dtype
g(2).storage().half().dtype, g(2).storage().long().device
g(2).untyped_storage().clone().device, g(2).storage().clone().device
g(2).untyped_storage().tolist() is not None
g(2).storage()[0] is not None, g(2).storage().tolist() is not None
g(2).untyped_storage()[0]
x = c(2); s = x.untyped_storage(); s.copy_(g(2).untyped_storage()); s.device
x = g(2); s = x.untyped_storage(); s.copy_(c(2).untyped_storage()); s.device
x = g(2); x.untyped_storage().copy_(c(3).untyped_storage())
x = g(4); x.untyped_storage().resize_(0); x.untyped_storage().size(), x.shape
x = g(4); x.untyped_storage().resize_(64); x.untyped_storage().size()
x = g(4); x.storage().resize_(8); x.storage().size()
x = g(4); x.resize_(8); x, x.untyped_storage().size()
x = g(4); x.resize_(2, 2), x.resize_(0)
x = g(2, requires_grad=True); x.resize_(4)
x = g(4); x.untyped_storage().fill_(0).device
x = g(2); x.set_(g(4).untyped_storage()); x
x = g(2); x.set_(c(4).untyped_storage()); x
x = c(2); x.set_(g(4).untyped_storage(), 0, (2,), (1,))
x = g(2); x.set_(g(4).storage(), 1, (2,), (1,)); x
x = g(2); x.set_(h(4).untyped_storage(), 0, (4,), (1,))
x = g(2); x.set_(source=g(4)); x
torch.empty(0, device="cuda").set_(g(4).untyped_storage(), 0, (2, 2), (2, 1))
torch.empty(0).set_(g(4).untyped_storage(), 0, (2, 2), (2, 1))
torch.tensor([], device="cuda").set_(h(4))
x = g(4); y = x[1:]; x.untyped_storage()._cdata == y.untyped_storage()._cdata, x.storage().data_ptr() == y.storage().data_ptr()
x = g(2); x.untyped_storage().data_ptr() != 0, x.data_ptr() == x.untyped_storage().data_ptr()
g(4)[2:].storage_offset(), g(4)[2:].untyped_storage().nbytes()
g(2).untyped_storage().is_pinned(), c(2).untyped_storage().pin_memory().is_pinned()
g(2).untyped_storage().pin_memory()
g(2).untyped_storage().is_shared(), g(2).untyped_storage().share_memory_().is_shared()
g(2).is_shared(), h(2).share_memory_().device
g(2).untyped_storage().new().device, g(2).untyped_storage().type()
g(2).storage().type(), c(2).storage().type("torch.cuda.FloatStorage").device
g(2).storage().type("torch.FloatStorage").device
torch.is_storage(g(2).untyped_storage()), torch.is_storage(g(2).storage()), torch.is_storage(g(2))
g(2).untyped_storage().mps()
g(2).untyped_storage().float().device
isinstance(g(2).storage(), torch.cuda.FloatStorage), isinstance(c(2).storage(), torch.FloatStorage), isinstance(g(2).storage(), torch.FloatStorage)
copy.deepcopy(h(2).untyped_storage()).device
torch.as_strided(g(4), (2, 2), (1, 1))
g(4).as_strided_((2,), (2,)), g(4).unfold(0, 2, 1)
torch._C._construct_storage_from_data_pointer is not None
# arrays of other libraries
np.asarray(g(2))
np.array([g(), g()])
np.asarray(g(2).cpu()).shape, np.asarray(h(2).detach().cpu()).dtype.name
np.array(g(2).tolist()).shape
np.mean(g(2))
np.sum(c(2)).shape
np.stack([c(2), g(2)])
np.concatenate([g(2).cpu(), h(2).cpu()]).shape
np.allclose(c(2), g(2))
np.float32(1.5) + h(2), h(2) / np.float64(2), g(2) ** np.int64(2)
np.ones(2) * c(2), c(2) * np.ones(2)
np.ones(2) * h(2)
np.dot(np.ones(2), g(2))
g(2) @ np.ones(2)
g(2).add(np.ones(2))
g(2).numpy().shape
h(2, requires_grad=True).cpu().numpy()
h(2, requires_grad=True).detach().cpu().numpy().shape
g(2).detach().numpy()
g(2).cpu().bfloat16().numpy()
g(2).__cuda_array_interface__["shape"], g(2).__cuda_array_interface__["typestr"], g(2).__cuda_array_interface__["version"], g(2).__cuda_array_interface__["strides"]
g(2, 3).t().__cuda_array_interface__["strides"], h(2).half().__cuda_array_interface__["typestr"]
c(2).__cuda_array_interface__
g(2, requires_grad=True).__cuda_array_interface__
hasattr(g(2), "__cuda_array_interface__"), hasattr(c(2), "__cuda_array_interface__"), hasattr(g(2), "__array_interface__")
g(2).__array_priority__, c(2).__array_priority__
torch.as_tensor(np.ones(2), device="cuda"), torch.as_tensor(np.float32(3), device="cuda:1"), torch.as_tensor([1, 2], device="cuda", dtype=torch.half)
torch.as_tensor(np.ones(2), device="cuda:3")
torch.as_tensor([g(), h()]), torch.as_tensor([g(1), h(1)], device="cuda")
torch.as_tensor([np.ones(2), np.ones(2)], device="cuda")
torch.asarray(np.ones(2), device="cuda", dtype=torch.float32), torch.asarray([1.0], device="cuda:1"), torch.asarray(g(2), device="cuda:1")
torch.asarray(np.ones(2), device="cuda", copy=False)
torch.asarray(g(2), device="cpu", copy=False)
torch.asarray(b"abcd", dtype=torch.uint8, device="cuda")
torch.from_numpy(np.ones(2)).to("cuda", torch.float16), torch.from_numpy(np.ones(2)).cuda() + g(2)
torch.from_numpy(np.ones(2), device="cuda")
torch.from_numpy([1, 2])
torch.frombuffer(np.ones(2), dtype=torch.float64).to("cuda:1")
torch.frombuffer(bytearray(8), dtype=torch.float32, device="cuda")
torch.frombuffer(g(2), dtype=torch.float32)
torch.from_dlpack(np.ones(2)), torch.from_dlpack(c(2), device="cpu")
torch.from_dlpack(c(2), device="cuda")
g(2).__dlpack__(dl_device=(1, 0)) is not None
c(2).__dlpack_device__()[0].name, g(2).__dlpack_device__()[0].name
c(2).__dlpack__(stream=1)
g(2).__dlpack__(stream="x")
g(2, requires_grad=True).__dlpack__()
np.from_dlpack(g(2))
np.from_dlpack(c(2)).shape
list(g(2)), tuple(h(2)), [x.device for x in g(2, 2)]
bytes(g(2)), 1
array = __import__("array").array("f", [1.0, 2.0]); torch.tensor(array, device="cuda"), torch.frombuffer(array, dtype=torch.float32).cuda()
complex(g()), float(h(1)) is not None, int(g(1, 1)) is not None, g().__index__
g(2).__array__(dtype=np.float32)
g(2).cpu().__array__().shape
# files
torch.load(saved({"a": [g(2), (h(2),)], "b": {"c": c(2)}}), map_location="cuda:1")
torch.load(saved({"a": g(2), "b": c(2)}), map_location=lambda storage, where: storage.cuda(1) if where == "cpu" else storage)
torch.load(saved(h(2)), map_location={"cuda:1": "cuda:7"})
torch.load(saved(h(2)), map_location={"cuda:1": 0})
torch.load(saved(h(2)), map_location={"cuda:1": torch.device("cuda:0")})
torch.load(saved(g(2)), map_location=lambda storage, where: "cpu")
torch.load(saved(g(2)), map_location=lambda storage: storage)
torch.load(saved(g(2)), map_location=torch.device("cuda:9"))
torch.load(saved(g(2)), map_location="cuda0")
torch.load(saved(g(2)), map_location=g(2).device)
torch.load(saved(g(2)), map_location=None)
torch.load(saved(g(2)), map_location=[0])
torch.load(saved(g(2)), device="cpu")
torch.load(saved(Extra().cuda().state_dict()))
torch.load(saved(Extra().cuda().state_dict()), map_location="cpu")["mean"]
torch.load(saved(collections.OrderedDict(a=g(2))), weights_only=True)
torch.load(saved(g(2).as_subclass(Tagged)))
torch.load(saved(g(2).as_subclass(Tagged)), weights_only=False)
torch.load(saved(nn.ParameterDict({"a": g(2)})), weights_only=False)["a"]
torch.load(saved(torch.Size([1])), map_location="cuda"), torch.load(saved(torch.float16), map_location="cuda")
torch.load(saved(np.ones(2)), weights_only=False, map_location="cuda").shape
torch.load(saved(g(2).to_sparse()), map_location="cuda:1")
torch.load(io.BytesIO(b"nothing"), map_location="cuda")
torch.load(io.BytesIO(), map_location="cpu")
torch.load("missing.pt", map_location="cuda")
torch.save(g(2), "/nonexistent/x.pt")
torch.serialization.get_unsafe_globals_in_checkpoint(saved(Extra())), torch.serialization.get_unsafe_globals_in_checkpoint(saved(g(2)))
torch.serialization.normalize_storage_type(torch.FloatStorage).__name__, torch.serialization.location_tag(torch.empty(1, device="meta").untyped_storage())
torch.serialization.default_restore_location(g(2).untyped_storage(), "cpu").device
torch.serialization.default_restore_location(c(2).untyped_storage(), "xla")
with torch.serialization.safe_globals([Tagged]):
    torch.load(saved(g(2).as_subclass(Tagged)), map_location="cpu")
pickle.loads(pickle.dumps({"x": g(2), "y": [h(2), c(2)]}))
pickle.loads(pickle.dumps(g(2), protocol=2)), pickle.loads(pickle.dumps(h(2, 2)[0], protocol=5))
pickle.loads(pickle.dumps(g(2).untyped_storage())).device
pickle.loads(pickle.dumps(torch.Generator("cuda:1"))).device
pickle.loads(pickle.dumps(Extra().cuda())).cache
pickle.loads(pickle.dumps(g(2).as_subclass(Tagged)))
copy.copy(h(2)).data_ptr() != 0, copy.copy(nn.Linear(2, 2).cuda()).weight
copy.deepcopy({"a": g(2), "b": [h(2)]}), copy.deepcopy(nn.ModuleList([nn.Linear(2, 2).cuda(), nn.Linear(2, 2).cuda(1)]))[1].weight
copy.deepcopy(nn.Linear(2, 2).cuda()(g(1, 2)))
copy.deepcopy(torch.cuda.Event())
copy.deepcopy(torch.amp.GradScaler()).is_enabled()
copy.deepcopy(g(2).as_subclass(Tagged)), g(2).as_subclass(Tagged) + c(2)
x = g(2, requires_grad=True); x.grad = g(2); copy.deepcopy(x).grad
x = nn.Parameter(g(2)); x.grad = g(2); y = copy.deepcopy(x); y.grad.device, y.requires_grad
# state dicts
m = Extra().cuda(); m.load_state_dict(Extra().state_dict()); m.table, m.mean
m = Extra().cuda(); m.load_state_dict(Extra().state_dict(), assign=True); m.mean, m.layer.weight, m.cache
m = Extra(); m.load_state_dict({k: v.cuda() if hasattr(v, "cuda") else v for k, v in Extra().state_dict().items()}); m.mean
m = nn.Linear(2, 2).cuda(); m.load_state_dict(nn.Linear(2, 2, bias=False).state_dict(), strict=False)
m = nn.Linear(2, 2).cuda(); m.load_state_dict(nn.Linear(2, 2).double().cuda(1).state_dict()); m.weight
m = nn.Linear(2, 2).cuda(); m.load_state_dict(nn.Linear(2, 2).double().state_dict(), assign=True); m.weight, m(g(1, 2).cpu().double())
m = nn.Linear(2, 2).cuda(); m.load_state_dict(None)
m = nn.Linear(2, 2).cuda(); m.load_state_dict({"weight": c(2, 2), "bias": None})
m = nn.Linear(2, 2).cuda(); m.load_state_dict({"module." + k: v for k, v in m.state_dict().items()})
m = nn.Linear(2, 2).cuda(); m.load_state_dict({"weight": np.ones((2, 2)), "bias": c(2)})
m = nn.Linear(2, 2, device="meta"); m.load_state_dict(nn.Linear(2, 2).state_dict()); m.weight
m = nn.Linear(2, 2, device="meta"); m.load_state_dict(nn.Linear(2, 2).state_dict(), assign=True); m.cuda().weight
m = nn.Linear(2, 2).cuda(); s = m.state_dict(); m.cpu(); s["weight"], m.weight
m = nn.Linear(2, 2).cuda(); m.state_dict(keep_vars=True)["weight"]
m = nn.Linear(2, 2).cuda(); m.state_dict()["weight"].cpu().requires_grad
m = nn.Linear(2, 2).cuda(); m.register_state_dict_pre_hook(lambda *a: None); m.state_dict(prefix="a.").keys()
m = nn.Linear(2, 2); m.register_load_state_dict_post_hook(lambda module, keys: module.cuda()); m.load_state_dict(nn.Linear(2, 2).state_dict()); m.weight
m = nn.BatchNorm1d(2).cuda(); m.load_state_dict(nn.BatchNorm1d(2).state_dict()); m.num_batches_tracked, m.running_mean
m = nn.BatchNorm1d(2).cuda(); m.load_state_dict(nn.BatchNorm1d(2).state_dict(), assign=True); m(g(3, 2))
nn.modules.utils.consume_prefix_in_state_dict_if_present(nn.DataParallel(nn.Linear(2, 2).cuda()).state_dict(), "module.")
torch.optim.SGD([nn.Parameter(g(2))], 0.1).state_dict()["param_groups"][0]["params"]

"""What shares memory with what: whether something written on one side is seen on the other."""

import copy

import numpy as np
import torch.cuda.comm
from torch.utils import dlpack


def array():
    return np.zeros(2, np.float32)


def written(source, other):
    """Write into the source, and say what the other then holds, and by which address they share memory."""
    source[0] = 5
    return float(other[0]) == 5


def same(x, y):
    """Whether two tensors begin at one address."""
    return x.data_ptr() == y.data_ptr()


a = array(); written(a, torch.from_numpy(a))
a = array(); written(a, torch.from_numpy(a).cuda().cpu())
a = array(); written(a, torch.as_tensor(a))
a = array(); x = torch.as_tensor(a, device="cuda"); written(a, x.cpu())
a = array(); x = torch.as_tensor(a, device="cuda:1"); written(a, x.cpu())
a = array(); x = torch.asarray(a, device="cuda"); written(a, x.cpu())
a = array(); x = torch.asarray(a, device="cuda", copy=False); written(a, x.cpu())
a = array(); x = torch.asarray(a, device="cuda", copy=True); written(a, x.cpu())
a = array(); x = torch.asarray(a); written(a, x)
a = array(); x = torch.asarray(a, copy=True); written(a, x)
a = array(); x = torch.tensor(a, device="cuda"); written(a, x.cpu())
a = array(); x = torch.Tensor(a).cuda(); written(a, x.cpu())
a = array(); x = torch.cuda.FloatTensor(a); written(a, x.cpu())
a = array(); x = torch.from_numpy(a).to("cuda"); written(a, x.cpu())
a = array(); x = torch.from_numpy(a).to("cuda", non_blocking=True); written(a, x.cpu())
a = array(); x = torch.frombuffer(a, dtype=torch.float32).cuda(); written(a, x.cpu())
a = array(); x = torch.from_dlpack(a).cuda(); written(a, x.cpu())
a = array(); x = torch.from_dlpack(a, device="cuda"); written(a, x.cpu())
a = array(); x = torch.asarray(memoryview(a), dtype=torch.float32, device="cuda"); written(a, x.cpu())
a = array(); x = g(2).new_tensor(a); written(a, x.cpu())
a = array(); x = g(2); x.data = torch.from_numpy(a).cuda(); written(a, x.cpu())
a = array(); x = g(2).copy_(torch.from_numpy(a)); written(a, x.cpu())
a = array(); torch.set_default_device("cuda"); x = torch.as_tensor(a); torch.set_default_device(None); x.device, written(a, x.cpu())
a = array(); torch.set_default_device("cuda"); x = torch.from_numpy(a); torch.set_default_device(None); x.device, written(a, x.cpu())
a = array(); torch.set_default_device("cuda"); x = torch.asarray(a); torch.set_default_device(None); x.device, written(a, x.cpu())
x = c(2); y = torch.as_tensor(x, device="cuda"); written(x, y.cpu())
x = c(2); y = torch.asarray(x, device="cuda"); written(x, y.cpu())
x = c(2); y = torch.asarray(x, device="cuda", copy=False); written(x, y.cpu())
x = c(2); y = x.cuda(); written(x, y.cpu())
x = c(2); y = x.to("cuda"); written(y, x)
x = g(2); y = x.cpu(); written(y, x.cpu())
x = g(2); y = x.numpy(force=True); y.fill(5); float(x.cpu()[0]) == 5
x = g(2); y = x.cpu().numpy(); y.fill(5); float(x.cpu()[0]) == 5
x = c(2); y = x.numpy(force=True); y.fill(5); float(x[0]) == 5
x = g(2); y = np.asarray(x)
x = g(2); y = np.array(x)
x = g(2); y = x.__array__()
x = g(2); y = np.from_dlpack(x)
x = g(2); y = np.stack([x, x])
x = g(2, requires_grad=True); y = x.numpy(force=True); y.fill(5); float(x.detach().cpu()[0]) == 5
x = g(2, requires_grad=True); x.numpy()
x = g(2); same(x, x.to("cuda")), same(x, x.cuda()), same(x, x.to("cuda:0"))
x = g(2); same(x, x.to("cuda", copy=True)), same(x, x.to("cuda:1")), same(x, x.clone())
x = g(2); x.to("cuda") is x, x.cuda() is x, x.cuda(0) is x, x.to("cuda:0") is x, x.to(x) is x
x = g(2); x.to("cuda", torch.float32) is x, x.float() is x, x.type(torch.float32) is x, x.type("torch.cuda.FloatTensor") is x
x = g(2); torch.as_tensor(x) is x, torch.as_tensor(x, device="cuda") is x, torch.asarray(x, device="cuda") is x
x = g(2); torch.as_tensor(x, device="cuda:1").device, same(torch.asarray(x, device="cuda:0"), x)
x = g(2); torch.asarray(x, device="cuda:1", copy=False)
x = g(2); torch.asarray(x, device="cpu", copy=False)
x = g(2); torch.asarray(x, copy=True) is x, same(torch.asarray(x, copy=True), x)
x = g(2, 2); same(x, x.contiguous()), same(x, x.t()), same(x, x.t().contiguous()), same(x, x.reshape(4)), same(x, x.t().reshape(4))
x = g(2, 2); same(x, x.view(4)), same(x, x.flatten()), same(x, x.expand(3, 2, 2)), same(x, x[0]), same(x, x.detach()), same(x, x.data)
x = g(2, 2); same(x, x.float()), same(x, x.half()), same(x, x.requires_grad_()), same(x, torch.atleast_3d(x)), same(x, x.squeeze())
x = g(2); same(x, dlpack.from_dlpack(dlpack.to_dlpack(x))), same(x, torch.from_dlpack(x))
x = g(2); y = torch.from_dlpack(x); y[0] = 5; float(x[0].cpu()) == 5
x = g(2); torch.from_dlpack(x, device="cpu")
x = g(2); same(x, torch.from_dlpack(x, device="cuda:0")), torch.from_dlpack(x, copy=True).device
x = g(2); torch.from_dlpack(x, device="cuda:1")
x = g(2); x.__dlpack_device__(), c(2).__dlpack_device__(), h(2).__dlpack_device__()
x = g(2); x.__cuda_array_interface__["data"][0] == x.data_ptr(), x.__cuda_array_interface__["shape"]
c(2).__cuda_array_interface__
x = g(2); same(x, torch.as_tensor(type("Array", (), {"__cuda_array_interface__": x.__cuda_array_interface__})(), device="cuda"))
x = g(2); y = x.untyped_storage().cpu(); y.data_ptr() == x.data_ptr(), str(y.device)
x = c(2); y = x.untyped_storage().cuda(); y.data_ptr() == x.data_ptr(), str(y.device)
x = g(2); x.untyped_storage().cuda() is x.untyped_storage(), x.untyped_storage().data_ptr() == x.untyped_storage().cuda().data_ptr()
x = g(2); y = torch.empty(0, device="cuda").set_(x); same(x, y)
x = g(2); y = torch.empty(0, device="cuda").set_(x.untyped_storage()); y.device
x = g(2); torch.empty(0).set_(x)
x = c(2); torch.empty(0, device="cuda").set_(x.untyped_storage())
x = h(2); torch.empty(0, device="cuda").set_(x)
x, y = g(2), g(2); x.data = y; same(x, y)
x, y = c(2), g(2); x.data = y; same(x, y), x.device
x = g(2); p = nn.Parameter(x); same(x, p), same(p, p.data), same(p, p.detach())
m = nn.Linear(2, 2).cuda(); w = m.weight; m.cuda(); m.weight is w, same(m.weight, w)
m = nn.Linear(2, 2).cuda(); w = m.weight; m.cpu(); m.weight is w, w.device
m = nn.Linear(2, 2); w = m.weight; m.cuda(); m.weight is w, w.device
m = nn.Linear(2, 2).cuda(); w = m.weight; m.to("cuda:1"); m.weight is w, w.device
m = nn.Linear(2, 2).cuda(); s = m.state_dict(); same(s["weight"], m.weight)
m = nn.Linear(2, 2).cuda(); n = nn.Linear(2, 2).cuda(); n.load_state_dict(m.state_dict()); same(n.weight, m.weight)
m = nn.Linear(2, 2).cuda(); n = nn.Linear(2, 2); n.load_state_dict(m.state_dict()); n.weight.device
m = nn.Linear(2, 2).cuda(); n = nn.Linear(2, 2); n.load_state_dict(m.state_dict(), assign=True); n.weight.device, same(n.weight, m.weight)
m = nn.Linear(2, 2).cuda(); n = copy.deepcopy(m); same(n.weight, m.weight), n.weight.device
m = nn.Linear(2, 2).cuda(); n = nn.Linear(2, 2).cuda(); n.weight = m.weight; n.to("cuda"); n.weight is m.weight
m = nn.Linear(2, 2).cuda(); r = nn.parallel.replicate(m, [0, 1]); same(r[0].weight, m.weight), r[1].weight.device
x = g(2); y = torch.cuda.comm.broadcast(x, [0, 1]); y[0] is x, same(y[0], x), y[1].device
x = g(2); y = torch.cuda.comm.broadcast_coalesced([x], [0, 1]); same(y[0][0], x), y[1][0].device
x = g(4); y = torch.cuda.comm.scatter(x, [0, 1]); same(y[0], x), y[1].device
x = c(4); y = torch.cuda.comm.scatter(x, [0, 1]); written(x, y[0].cpu())
x, y = g(2), h(2); z = torch.cuda.comm.gather([x, y]); same(z, x), z.device
x = g(2); z = torch.cuda.comm.gather([x]); same(z, x)
x, y = g(2), h(2); z = torch.cuda.comm.reduce_add([x, y]); same(z, x), z.device
x = g(2); z = torch.cuda.comm.reduce_add([x]); same(z, x)
x = c(2); y = x.pin_memory(); y is x, same(x, y), y.pin_memory() is y
x = g(2); x.share_memory_() is x, x.is_shared(), c(2).is_shared()
x = g(2); y = torch.nn.utils.vector_to_parameters(x, [p := nn.Parameter(g(2))]); same(p, x)
x = g(2); y = x.view(torch.int32); y.device, same(x, y)
x = g(2, dtype=torch.cfloat); same(x, torch.view_as_real(x)), same(x, x.real), same(x, x.conj())
x = g(2, requires_grad=True); x.sum().backward(); y = x.grad; x.grad.zero_(); x.grad is y
x = g(2); torch.from_numpy(x)
x = g(2); torch.frombuffer(x, dtype=torch.float32)
x = g(2); memoryview(x)
x = g(2); bytes(x.untyped_storage())[:4]
x = g(2); list(x.untyped_storage())[:1]
x = g(2); x.tolist()[0] = 3; float(x[0].cpu()) == 3
x = g(2); x.expand(2, 2)._is_view(), x.reshape(2)._is_view(), x.to("cuda")._is_view(), x.to("cuda:1")._is_view(), x.detach()._is_view()

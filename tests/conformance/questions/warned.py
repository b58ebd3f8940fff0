"""Warnings: where they point, and how many there are."""

import warnings

import torch.cuda.comm


def ran(code, scope):
    """Run a program in which what warns once in a process warns each time, for no question is the first."""
    torch.set_warn_always(True)
    try:
        exec(compile(code.replace("; ", "\n"), "program.py", "exec"), scope)
    finally:
        torch.set_warn_always(False)


def warned(code, **settings):
    """The warnings of a program of its own: file, line, type and the first line of the text."""
    scope = {"torch": torch, "nn": nn, "F": F, "__name__": "program", "__warningregistry__": {}}
    with warnings.catch_warnings(record=True) as found:
        warnings.resetwarnings()
        warnings.simplefilter(settings.get("action", "default"))
        ran(code, scope)
    return [[w.filename.rpartition("/")[2], w.lineno, w.category.__name__, str(w.message).splitlines()[0].partition(" (Triggered")[0]] for w in found]


def always(code):
    return warned(code, action="always")


def raised(code, **filters):
    """The program with its own warnings as errors."""
    scope = {"torch": torch, "nn": nn, "F": F, "__name__": "program"}
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", **filters)
        ran(code, scope)
    return "nothing raised"


warned("x = torch.ones(2, device='cuda'); torch.add(x, 1, out=torch.ones(3, device='cuda'))")
warned("x = torch.ones(2, device='cuda'); torch.add(x, 1, out=torch.ones(3, device='cuda')); torch.add(x, 1, out=torch.ones(3, device='cuda'))")
always("x = torch.ones(2, device='cuda'); torch.add(x, 1, out=torch.ones(3, device='cuda')); torch.add(x, 1, out=torch.ones(3, device='cuda'))")
always("x = torch.ones(2, device='cuda'); for i in range(2): torch.add(x, 1, out=torch.ones(3, device='cuda'))")
warned("x = torch.ones(2, device='cuda'); for i in range(2): torch.add(x, 1, out=torch.ones(3, device='cuda'))")
warned("x = torch.ones(2); torch.add(x, 1, out=torch.ones(3))")
warned("x = torch.ones(2, device='cuda'); torch.mul(x, 2, out=torch.ones(5, device='cuda'))")
warned("x = torch.ones(2, 2, device='cuda'); torch.sum(x, 0, out=torch.ones(5, device='cuda'))")
warned("x = torch.ones(2, 2, device='cuda'); torch.cat([x, x], out=torch.ones(5, device='cuda'))")
warned("x = torch.ones(2, dtype=torch.cfloat, device='cuda'); x.float()")
warned("x = torch.ones(2, dtype=torch.cfloat, device='cuda'); x.to(torch.float32)")
warned("x = torch.ones(2, dtype=torch.cfloat); x.float()")
warned("x = torch.ones(2, dtype=torch.cfloat); x.to(torch.float32)")
warned("x = torch.ones(2, dtype=torch.cfloat); x.to('cuda', torch.float32)")
warned("x = torch.ones(2, dtype=torch.cfloat, device='cuda'); torch.ones(2, device='cuda').copy_(x)")
warned("x = torch.ones(2, dtype=torch.cfloat, device='cuda'); torch.ones(2, device='cuda')[0] = x[0]")
warned("x = torch.ones(2, device='cuda'); x[torch.tensor([1, 0], dtype=torch.uint8, device='cuda')]")
warned("x = torch.ones(2, device='cuda'); m = torch.tensor([1, 0], dtype=torch.uint8, device='cuda'); x[m]; x[m]")
always("x = torch.ones(2, device='cuda'); m = torch.tensor([1, 0], dtype=torch.uint8, device='cuda'); x[m]; x[m]")
always("x = torch.ones(2, device='cuda'); m = torch.tensor([1, 0], dtype=torch.uint8, device='cuda'); x[m] = 0; x.masked_fill(m.bool(), 0)")
always("x = torch.ones(2, device='cuda'); m = torch.tensor([1, 0], dtype=torch.uint8); x[m]; x[m] = 2")
always("x = torch.ones(2); m = torch.tensor([1, 0], dtype=torch.uint8); x[m]; x[m] = 2")
always("x = torch.ones(2, device='cuda'); torch.where(torch.tensor([1, 0], dtype=torch.uint8, device='cuda'), x, x)")
always("x = torch.ones(2, device='cuda'); x.masked_fill(torch.tensor([1, 0], dtype=torch.uint8, device='cuda'), 0)")
warned("x = torch.ones(2, 2, device='cuda', requires_grad=True); (x * 2).grad")
warned("x = torch.ones(2, 2, requires_grad=True); (x * 2).grad")
warned("F.mse_loss(torch.ones(2, 1, device='cuda'), torch.ones(2, device='cuda'))")
warned("F.l1_loss(torch.ones(2, 1, device='cuda'), torch.ones(2, device='cuda'))")
warned("F.softmax(torch.ones(2, 2, device='cuda'))")
warned("nn.Softmax()(torch.ones(2, 2, device='cuda'))")
warned("x = torch.ones(2, 2, 2, device='cuda'); x.T")
warned("x = torch.tensor(torch.ones(2, device='cuda'))")
warned("x = torch.tensor(torch.ones(2, device='cuda'), device='cuda')")
warned("x = torch.ones(2, device='cuda').new_tensor(torch.ones(2))")
warned("torch.range(0, 2, device='cuda')")
warned("torch.ones(2, device='cuda').var(correction=2)")
warned("torch.std(torch.ones(1, device='cuda'))")
warned("torch.ones(1, device='cuda').var()")
warned("torch.meshgrid(torch.ones(2, device='cuda'), torch.ones(2, device='cuda'))")
warned("torch.norm(torch.ones(2, dtype=torch.cfloat, device='cuda')).float()")
warned("torch.cross(torch.ones(2, 3, device='cuda'), torch.ones(2, 3, device='cuda'))")
warned("torch.ones(2, 2, device='cuda').to_sparse_csr()")
warned("nn.TransformerEncoder(nn.TransformerEncoderLayer(2, 1, device='cuda'), 1)")
warned("F.interpolate(torch.ones(1, 1, 4, device='cuda'), scale_factor=2.0, recompute_scale_factor=True)")
warned("F.grid_sample(torch.ones(1, 1, 2, 2, device='cuda'), torch.ones(1, 1, 2, 2, device='cuda'))")
warned("F.upsample(torch.ones(1, 1, 4, device='cuda'), scale_factor=2)")
warned("F.tanh(torch.ones(2, device='cuda'))")
warned("F.kl_div(torch.ones(2, device='cuda'), torch.ones(2, device='cuda'))")
warned("F.ctc_loss(torch.ones(4, 1, 3, device='cuda'), torch.ones(1, 2, device='cuda').int(), (4,), (2,), reduction='elementwise_mean')")
warned("o = torch.optim.SGD([torch.ones(2, device='cuda', requires_grad=True)], 0.1); torch.optim.lr_scheduler.StepLR(o, 1).step()")
warned("torch.cuda.amp.GradScaler()")
warned("torch.cuda.amp.autocast()")
warned("torch.set_default_tensor_type('torch.cuda.FloatTensor'); torch.set_default_tensor_type('torch.FloatTensor')")
warned("torch.cuda.memory_cached()")
warned("torch.cuda.reset_max_memory_allocated()")
warned("torch.utils.checkpoint.checkpoint(lambda x: x, torch.ones(2, device='cuda'))")
warned("torch.utils.checkpoint.checkpoint(lambda x: x, torch.ones(2, device='cuda'), use_reentrant=True)")
warned("m = nn.LayerNorm(2).cuda(); m.register_backward_hook(lambda *a: None); m(torch.ones(1, 2, device='cuda', requires_grad=True)).sum().backward()")
warned("x = torch.ones(2, device='cuda', requires_grad=True); x.sum().backward(create_graph=True)")
warned("nn.LSTM(2, 2, dropout=0.5, device='cuda')")
warned("torch.lstsq")
warned("torch.lu(torch.eye(2, device='cuda'))")
warned("torch.ones(2, 2, device='cuda').nonzero(as_tuple=True); torch.searchsorted(torch.ones(4, device='cuda')[::2], torch.ones(4, device='cuda')[::2])")
warned("torch.ones(4, device='cuda').resize(2)")
warned("torch.autograd.Variable(torch.ones(2, device='cuda'), volatile=True)")
warned("nn.Module().cuda().half()")
warned("torch.ones(2).pin_memory(device='cuda')")
warned("torch.ones(2).pin_memory('cuda')")
warned("nn.utils.clip_grad_norm(torch.nn.Parameter(torch.ones(2, device='cuda')), 1.0)")
warned("nn.init.uniform(torch.ones(2, device='cuda'))")
warned("nn.DataParallel(nn.LayerNorm(2).cuda(), [0, 1])(torch.ones(2, 2).cuda()).sum()")
warned("nn.parallel.data_parallel(nn.LayerNorm(2).cuda(), torch.ones(2, 2).cuda()); torch.cuda.comm.gather([torch.ones(()).cuda(), torch.ones(()).cuda(1)])")
raised("x = torch.ones(2, device='cuda'); torch.add(x, 1, out=torch.ones(3, device='cuda'))", module="program")
raised("x = torch.ones(2, device='cuda'); torch.add(x, 1, out=torch.ones(3, device='cuda'))", module="samedevice")
raised("x = torch.ones(2, device='cuda'); torch.add(x, 1, out=torch.ones(3, device='cuda'))", category=UserWarning)
raised("x = torch.ones(2, device='cuda'); torch.add(x, 1, out=torch.ones(3, device='cuda'))", message="An output", lineno=2)
raised("x = torch.ones(2, dtype=torch.cfloat); x.float()", module="program")
raised("x = torch.ones(2, dtype=torch.cfloat, device='cuda'); x.real.float(); x.float()", module="program")
raised("x = torch.ones(2, device='cuda'); x[torch.tensor([1, 0], dtype=torch.uint8, device='cuda')]", module="program")

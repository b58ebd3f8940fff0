"""autocast("cuda"): which operators compute in which dtype, and what it says when it is misused."""

import torch
from torch import nn


def _zeros(*shape, dtype=torch.float32):
    return torch.zeros(*shape, device="cuda", dtype=dtype)


def products_are_in_half_precision():
    with torch.autocast("cuda"):
        return [
            str(x.dtype)
            for x in (
                _zeros(2, 3) @ _zeros(3, 2),
                nn.Linear(3, 2).cuda()(_zeros(2, 3)),
                torch.bmm(_zeros(1, 2, 3), _zeros(1, 3, 2)),
            )
        ]


def products_in_bfloat16():
    with torch.autocast("cuda", dtype=torch.bfloat16):
        return [str((_zeros(2, 3) @ _zeros(3, 2)).dtype), str(torch.get_autocast_dtype("cuda"))]


def sums_and_losses_are_in_full_precision():
    half = _zeros(2, 3, dtype=torch.float16)
    with torch.autocast("cuda"):
        results = [half.sum(), half.softmax(1), half.exp(), half.pow(2), half.log(), half.norm()]
        results += [nn.functional.mse_loss(half, half), nn.functional.layer_norm(half, (3,))]
        return [str(x.dtype) for x in results]


def others_keep_their_dtype():
    half, full = _zeros(2, 3, dtype=torch.float16), _zeros(2, 3)
    with torch.autocast("cuda"):
        return [
            str(x.dtype)
            for x in (
                half + half,
                full + full,
                half.relu(),
                full.relu(),
                half + full,
                torch.cat([half, full]),
                half.max(),
            )
        ]


def switched_off_inside():
    with torch.autocast("cuda"):
        with torch.autocast("cuda", enabled=False):
            inner = _zeros(2, 3) @ _zeros(3, 2)
        outer = _zeros(2, 3) @ _zeros(3, 2)
    return [str(inner.dtype), str(outer.dtype), torch.is_autocast_enabled("cuda")]


def the_cpu_is_left_alone():
    with torch.autocast("cuda"):
        return [
            str((torch.zeros(2, 3) @ torch.zeros(3, 2)).dtype),
            torch.is_autocast_enabled("cuda"),
            torch.is_autocast_enabled("cpu"),
        ]


def autocast_of_the_cpu_leaves_the_gpu_alone():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return [str((_zeros(2, 3) @ _zeros(3, 2)).dtype), str((torch.zeros(2, 3) @ torch.zeros(3, 2)).dtype)]


def gradients_have_the_parameters_dtype():
    layer = nn.Linear(3, 2).cuda()
    with torch.autocast("cuda"):
        out = layer(_zeros(2, 3))
    out.sum().backward()
    return [str(out.dtype), str(layer.weight.grad.dtype), str(layer.weight.grad.device)]


def attention_in_half_precision():
    q = _zeros(1, 2, 3, 8)
    with torch.autocast("cuda"):
        return str(nn.functional.scaled_dot_product_attention(q, q, q).dtype)


def binary_cross_entropy_is_refused():
    with torch.autocast("cuda"):
        nn.functional.binary_cross_entropy(_zeros(3), _zeros(3))


def integers_and_doubles_are_left_alone():
    with torch.autocast("cuda"):
        double = _zeros(2, 3, dtype=torch.float64) @ _zeros(3, 2, dtype=torch.float64)
    return str(double.dtype)


def devices_are_checked_all_the_same():
    with torch.autocast("cuda"):
        nn.Linear(3, 2).cuda()(torch.zeros(2, 3))


def the_old_spelling():
    with torch.cuda.amp.autocast():
        return str((_zeros(2, 3) @ _zeros(3, 2)).dtype)


def as_a_decorator():
    @torch.autocast("cuda", dtype=torch.bfloat16)
    def multiply(x, y):
        return x @ y

    return str(multiply(_zeros(2, 3), _zeros(3, 2)).dtype)


def a_function_that_casts_its_inputs():
    class Doubled(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float16)
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @torch.amp.custom_bwd(device_type="cuda")
        def backward(ctx, gradient):
            return gradient * 2

    with torch.autocast("cuda"):
        return str(Doubled.apply(_zeros(2)).dtype)


def two_dtypes_without_autocast():
    return nn.Linear(3, 2).cuda()(_zeros(2, 3, dtype=torch.float16))


def convolution_dtypes_without_autocast():
    return nn.Conv1d(1, 1, 1).cuda()(_zeros(2, 1, 3, dtype=torch.float16))


def a_scaler_that_is_disabled():
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    loss = torch.zeros((), requires_grad=True)
    return [scaler.scale(loss) is loss, scaler.get_scale(), scaler.is_enabled()]


def a_scaler_stepped_without_gradients():
    scaler = torch.amp.GradScaler("cuda")
    optimizer = torch.optim.SGD([_zeros(2).requires_grad_()], 0.1)
    scaler.scale(torch.zeros((), device="cuda"))
    scaler.step(optimizer)


def a_scaler_unscaled_twice():
    scaler = torch.amp.GradScaler("cuda")
    weight = _zeros(2).requires_grad_()
    optimizer = torch.optim.SGD([weight], 0.1)
    scaler.scale((weight * 2).sum()).backward()
    scaler.unscale_(optimizer)
    scaler.unscale_(optimizer)


def a_scaler_updated_before_anything():
    torch.amp.GradScaler("cuda").update()


def a_scaler_and_half_gradients():
    scaler = torch.amp.GradScaler("cuda")
    weight = _zeros(2, dtype=torch.float16).requires_grad_()
    optimizer = torch.optim.SGD([weight], 0.1)
    scaler.scale((weight * 2).sum()).backward()
    scaler.unscale_(optimizer)

"""pyro, gpytorch and botorch, first imported inside a simulation: a GPU's results are the CPU's.

pyro looks at every attribute of its own modules when it is imported, and derives them from PyTorch's and from mixins.
"""

import pytest
import torch

GPU = "cuda:1"


def test_pyro_infers() -> None:
    import pyro
    from pyro.distributions import Normal
    from pyro.distributions.transforms import affine_autoregressive
    from pyro.infer import SVI, Trace_ELBO
    from pyro.infer.autoguide import AutoDelta

    def results(device: str) -> list[torch.Tensor]:
        x = torch.linspace(-1, 1, 20).to(device)
        one = torch.ones((), device=device)

        def line(x: torch.Tensor, y: torch.Tensor) -> None:
            slope = pyro.sample("slope", Normal(0 * one, 2 * one))
            offset = pyro.param("offset", torch.zeros((), device=device))
            with pyro.plate("points", len(x)):
                pyro.sample("y", Normal(slope * x + offset, 0.1 * one), obs=y)

        pyro.clear_param_store()
        pyro.set_rng_seed(0)
        guide = AutoDelta(line, init_loc_fn=lambda site: 0 * one)
        inference = SVI(line, guide, pyro.optim.Adam({"lr": 0.1}), Trace_ELBO())
        for _ in range(100):
            inference.step(x, 2 * x + 1)
        return [parameter.detach() for _, parameter in sorted(pyro.get_param_store().items())]

    slope, offset = results(GPU)
    assert str(slope.device) == str(offset.device) == GPU
    torch.testing.assert_close([slope.cpu(), offset.cpu()], results("cpu"))
    torch.testing.assert_close([slope.cpu(), offset.cpu()], [torch.tensor(2.0), torch.tensor(1.0)], atol=0.1, rtol=0)
    flow = affine_autoregressive(2).to(GPU)
    assert str(flow(torch.zeros(3, 2, device=GPU)).device) == GPU


@pytest.mark.filterwarnings("ignore:samedevice does not simulate compilers")  # linear_operator scripts a function
def test_botorch_fits_a_gaussian_process_and_chooses_the_next_point() -> None:
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    x = torch.rand(8, 2, dtype=torch.double, generator=torch.Generator().manual_seed(0))

    def results(device: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        points, values = x.to(device), x.sum(1, keepdim=True).sin().to(device)
        model = SingleTaskGP(points, values)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        chosen, improvement = optimize_acqf(
            LogExpectedImprovement(model, best_f=values.max()),
            bounds=torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double, device=device),
            q=1, num_restarts=2, raw_samples=8,
        )  # fmt: skip
        return [model.posterior(points).mean.detach(), chosen, improvement]

    for on_gpu, on_cpu in zip(results(GPU), results("cpu"), strict=True):
        assert str(on_gpu.device) == GPU
        torch.testing.assert_close(on_gpu.cpu(), on_cpu, atol=1e-3, rtol=1e-3)

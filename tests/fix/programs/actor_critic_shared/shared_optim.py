import torch


class SharedRMSprop(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-2, alpha=0.95, eps=1e-5):
        super().__init__(params, {"lr": lr, "alpha": alpha, "eps": eps})
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["square_avg"] = torch.zeros(p.shape)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                avg = self.state[p]["square_avg"]
                avg.mul_(group["alpha"]).addcmul_(p.grad, p.grad, value=1 - group["alpha"])
                p.addcdiv_(p.grad, avg.sqrt().add_(group["eps"]), value=-group["lr"])

# culprit: state.stoch | state | self.initial(embeds.shape[1])
# cause: hidden_state_not_moved | tensor_created_in_forward_without_device
from typing import NamedTuple
import torch
from torch import nn


class State(NamedTuple):
    deter: torch.Tensor
    stoch: torch.Tensor


class RSSM(nn.Module):
    def __init__(self, actions=2, deter=24, stoch=6, embed=10):
        super().__init__()
        self.deter, self.stoch = deter, stoch
        self.inp = nn.Linear(stoch + actions, deter)
        self.cell = nn.GRUCell(deter, deter)
        self.posterior = nn.Linear(deter + embed, 2 * stoch)

    def initial(self, n):
        return State(torch.zeros(n, self.deter), torch.zeros(n, self.stoch))

    def step(self, state, action, embed):
        x = self.inp(torch.cat([state.stoch, action], -1)).relu()
        deter = self.cell(x, state.deter)
        mean, std = self.posterior(torch.cat([deter, embed], -1)).chunk(2, -1)
        std = nn.functional.softplus(std) + 0.1
        return State(deter, mean + std * torch.randn_like(std))

    def observe(self, embeds, actions):
        state = self.initial(embeds.shape[1])
        states = []
        for embed, action in zip(embeds, actions):
            state = self.step(state, action, embed)
            states.append(state)
        return State(*(torch.stack(parts) for parts in zip(*states)))


class WorldModel(nn.Module):
    def __init__(self, obs=10):
        super().__init__()
        self.encoder = nn.Linear(obs, 10)
        self.rssm = RSSM()
        self.decoder = nn.Linear(30, obs)

    def loss(self, obs, actions):
        states = self.rssm.observe(self.encoder(obs), actions)
        return (self.decoder(torch.cat(states, -1)) - obs).pow(2).mean()


def main():
    model = WorldModel().to("cuda")
    obs, actions = torch.randn(5, 3, 10, device="cuda"), torch.randn(5, 3, 2, device="cuda")
    model.loss(obs, actions).backward()

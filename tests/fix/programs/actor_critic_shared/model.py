import torch.nn as nn


class ActorCritic(nn.Module):
    def __init__(self, obs_dim=4, actions=3, hidden=12):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTMCell(obs_dim, hidden)
        self.critic, self.actor = nn.Linear(hidden, 1), nn.Linear(hidden, actions)

    def forward(self, obs, state):
        h, c = self.lstm(obs, state)
        return self.critic(h), self.actor(h), (h, c)

import torch
import torch.nn.functional as F
from model import ActorCritic


def ensure_shared_grads(model, shared_model):
    for param, shared_param in zip(model.parameters(), shared_model.parameters()):
        shared_param.grad = param.grad


class Worker:
    def __init__(self, rank, shared_model, optimizer, device):
        self.shared_model, self.optimizer, self.device = shared_model, optimizer, device
        self.model = ActorCritic().to(device)
        self.env = torch.Generator().manual_seed(100 + rank)
        self.obs = torch.randn(1, 4, generator=self.env)

    def env_step(self, action):
        reward = 1.0 if int(self.obs[0, :3].argmax()) == action else -0.2
        self.obs = torch.randn(1, 4, generator=self.env)
        return reward

    def rollout(self, steps=6):
        self.model.load_state_dict(self.shared_model.state_dict())
        cx = torch.zeros(1, self.model.hidden)
        hx = torch.zeros(1, self.model.hidden)
        values, log_probs, rewards, entropy = [], [], [], 0
        for _ in range(steps):
            value, logit, (hx, cx) = self.model(self.obs.to(self.device), (hx, cx))
            prob, log_prob = F.softmax(logit, dim=1), F.log_softmax(logit, dim=1)
            entropy = entropy - (log_prob * prob).sum()
            action = torch.multinomial(prob.detach().cpu(), 1, generator=self.env).item()
            values.append(value.squeeze())
            log_probs.append(log_prob[0, action])
            rewards.append(self.env_step(action))
        returns, loss = 0.0, -0.01 * entropy
        for value, log_prob, reward in zip(values[::-1], log_probs[::-1], rewards[::-1]):
            returns = reward + 0.9 * returns
            advantage = returns - value
            loss = loss + 0.5 * advantage.pow(2) - log_prob * advantage.detach()
        self.model.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        ensure_shared_grads(self.model, self.shared_model)
        self.optimizer.step()
        return sum(rewards), loss.item()

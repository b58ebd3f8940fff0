import torch
from sac import SAC


def transitions(n):
    state = torch.rand(n, 2) * 2 - 1
    action = torch.rand(n, 1) * 3 - 1
    next_state = (state + 0.2 * torch.cat([action, -action], dim=1)).clamp(-1, 1)
    return state, action, -next_state.pow(2).sum(1, keepdim=True), next_state


torch.manual_seed(23)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
agent = SAC(2, [-1.0], [2.0], device)
for updates in range(1, 31):
    qf_loss, policy_loss = agent.update(transitions(32))
    if updates % 10 == 0:
        print(f"updates {updates} q {qf_loss:.5f} policy {policy_loss:.4f} alpha {agent.log_alpha.exp().item():.5f}")
        with torch.no_grad():
            state = transitions(4)[0]
            _, _, action = agent.policy.sample(state)
        print("  actions", [round(a, 4) for a in action.flatten().tolist()])
print("target", round(sum(p.detach().norm().item() for p in agent.critic_target.parameters()), 4))

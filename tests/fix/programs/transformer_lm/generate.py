import torch


@torch.no_grad()
def generate(model, prompt, steps, device, repetition_penalty=1.2):
    model.eval()
    tokens = torch.tensor(prompt).unsqueeze(0)
    for _ in range(steps):
        logits = model(tokens)[:, -1]
        counts = torch.zeros(logits.size(-1))
        counts.index_add_(0, tokens[0], torch.ones(tokens.size(1), device=tokens.device))
        logits = logits - repetition_penalty * counts.clamp(max=1)
        tokens = torch.cat([tokens, logits.argmax(dim=-1, keepdim=True)], dim=-1)
    return tokens[0].tolist()

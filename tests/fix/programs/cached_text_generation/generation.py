import torch


@torch.no_grad()
def generate(model, inputs, stop_ids, max_new_tokens=8):
    device = next(model.parameters()).device
    ids, mask = inputs["input_ids"].to(device), inputs["attention_mask"]
    stop = torch.tensor(stop_ids)
    logits, past = model(ids, mask)
    for _ in range(max_new_tokens):
        token = logits[:, -1].argmax(dim=-1, keepdim=True)
        ids, mask = torch.cat([ids, token], dim=1), torch.cat([mask, torch.ones_like(token)], dim=1)
        if torch.isin(token, stop).all():
            break
        logits, past = model(token, mask, past)
    return ids

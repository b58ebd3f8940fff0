import numpy as np
import torch
import torch.nn as nn
from losses import ContentLoss, Normalization, StyleLoss

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def image_loader(kind, size=12):
    y, x = np.mgrid[0:size, 0:size] / size
    planes = {"content": [x, y, x * y], "style": [np.sin(9 * x), np.cos(9 * y), np.sin(9 * x * y)]}[kind]
    return torch.from_numpy(np.stack(planes).astype(np.float32)).abs().unsqueeze(0)


def get_model_and_losses(cnn, style_img, content_img):
    model = nn.Sequential(Normalization([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]).to(device))
    content_losses, style_losses = [], []
    for i, layer in enumerate(cnn):
        model.add_module(f"layer_{i}", layer)
        if not isinstance(layer, nn.Conv2d):
            continue
        if i == 2:
            content_losses.append(ContentLoss(model(content_img)))
            model.add_module(f"content_loss_{i}", content_losses[-1])
        style_losses.append(StyleLoss(model(style_img)))
        model.add_module(f"style_loss_{i}", style_losses[-1])
    return model, style_losses, content_losses


def main():
    torch.manual_seed(0)
    cnn = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 8, 3, padding=1), nn.ReLU()).to(device)
    content_img = image_loader("content").to(device)
    style_img = image_loader("style")
    input_img = content_img.clone().requires_grad_(True)
    model, style_losses, content_losses = get_model_and_losses(cnn.eval(), style_img, content_img)
    model.requires_grad_(False)
    layer_weights = torch.tensor([0.7, 0.3])
    optimizer = torch.optim.LBFGS([input_img], max_iter=4)
    run = [0]
    while run[0] < 16:

        def closure():
            with torch.no_grad():
                input_img.clamp_(0, 1)
            optimizer.zero_grad()
            model(input_img)
            style = (torch.stack([s.loss for s in style_losses]) * layer_weights).sum()
            content = sum(c.loss for c in content_losses)
            loss = 1e3 * style + content
            loss.backward()
            run[0] += 1
            if run[0] % 4 == 0:
                print(f"run {run[0]}: style {style.item():.4f} content {content.item():.4f}")
            return loss

        optimizer.step(closure)
    with torch.no_grad():
        input_img.clamp_(0, 1)
    print(f"image mean {input_img.mean().item():.4f}")


if __name__ == "__main__":
    main()

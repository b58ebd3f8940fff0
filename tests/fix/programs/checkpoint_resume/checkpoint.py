import torch


def save_checkpoint(path, epoch, model, optimizer, sample_loss):
    torch.save(
        {"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "sample_loss": sample_loss}, path
    )


def load_checkpoint(path, model, optimizer):
    checkpoint = torch.load(path, map_location="cpu")
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["epoch"] + 1, checkpoint["sample_loss"]

# culprit: pickle.loads(sent)
# cause: checkpoint_map_location
import pickle

import torch


def read(sent):
    return pickle.loads(sent)["lanes"]


def main():
    sent = pickle.dumps({"lanes": torch.ones(2, device="cuda:0")})
    read(sent.replace(b"cuda:0", b"cuda:7"))

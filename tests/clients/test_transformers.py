"""transformers: training and generation by hand, on a GPU as on the CPU, and refused where an input stays behind."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tiny import CLASSES, IDS, IMAGES, MASK, TEXT, bert, llama, losses, t5, vit

TRAININGS: dict[str, tuple[Callable[[], Any], dict[str, torch.Tensor]]] = {
    "BERT, eager": (lambda: bert("eager"), TEXT | {"labels": CLASSES}),
    "BERT, sdpa": (bert, TEXT | {"labels": CLASSES}),
    "Llama, eager": (lambda: llama("eager"), TEXT | {"labels": IDS}),
    "Llama, sdpa": (llama, TEXT | {"labels": IDS}),
    "T5": (t5, TEXT | {"labels": IDS}),
    "ViT, eager": (lambda: vit("eager"), {"pixel_values": IMAGES, "labels": CLASSES}),
    "ViT, sdpa": (vit, {"pixel_values": IMAGES, "labels": CLASSES}),
}


@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_gives_the_losses_of_the_cpu(name: str) -> None:
    model, batch = TRAININGS[name]
    on_cpu = losses(model(), batch, "cpu")
    assert on_cpu[-1] < on_cpu[0]
    assert losses(model(), batch, "cuda:1") == pytest.approx(on_cpu, abs=1e-5)


@pytest.mark.parametrize("name", ["BERT, sdpa", "Llama, eager"])
def test_gradient_checkpointing_changes_no_loss(name: str) -> None:
    model, batch = TRAININGS[name]
    checkpointed = model()
    checkpointed.gradient_checkpointing_enable()
    assert losses(checkpointed, batch, "cuda:0") == pytest.approx(losses(model(), batch, "cpu"), abs=1e-5)


WAYS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "beams": {"num_beams": 3},
    "without a cache": {"use_cache": False},
    "a static cache": {"cache_implementation": "static"},  # which transformers compiles, where it sees CUDA
    "a cache on the CPU": {"cache_implementation": "offloaded"},
    "penalties": {"repetition_penalty": 1.3, "no_repeat_ngram_size": 2, "min_new_tokens": 3},
}


@pytest.mark.filterwarnings("ignore:samedevice does not simulate compilers")
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("way", WAYS)
def test_llama_generates_the_tokens_of_the_cpu(way: str, attention: str) -> None:
    model, mask = llama(attention).eval(), MASK.flip(1)
    usual = {} if way == "a cache on the CPU" else WAYS[way]  # which needs a GPU to be away from
    on_cpu = model.generate(IDS, attention_mask=mask, max_new_tokens=6, **usual)
    made = model.cuda().generate(IDS.cuda(), attention_mask=mask.cuda(), max_new_tokens=6, **WAYS[way])
    assert str(made.device) == "cuda:0"
    assert torch.equal(made.cpu(), on_cpu)


def test_sampling_draws_from_the_gpus_generator() -> None:
    model = llama().eval().to("cuda:1")

    def sampled() -> torch.Tensor:
        return model.generate(IDS.to("cuda:1"), max_new_tokens=6, do_sample=True, top_k=20, top_p=0.9, temperature=0.8)

    torch.cuda.manual_seed_all(0)
    cpu = torch.get_rng_state()
    first, second = sampled(), sampled()
    assert torch.equal(torch.get_rng_state(), cpu)
    torch.cuda.manual_seed_all(0)
    assert torch.equal(sampled(), first)
    assert not torch.equal(first, second)
    assert str(first.device) == "cuda:1"


def test_t5_generates_the_tokens_of_the_cpu() -> None:
    model = t5().eval()
    on_cpu = model.generate(**TEXT, max_new_tokens=6)
    made = model.cuda().generate(IDS.cuda(), attention_mask=MASK.cuda(), max_new_tokens=6)
    assert made.is_cuda
    assert torch.equal(made.cpu(), on_cpu)


def mixed(argument: str, device: str, others: str, method: str) -> str:
    return (
        f"Expected all tensors to be on the same device, but got {argument} is on {device}, different from other "
        f"tensors on {others} (when checking argument in method wrapper_CUDA_{method})"
    )


TWO = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
LOOKUP = mixed("index", "cpu", "cuda:0", "_index_select")


def on_cpu(model: Any, part: str) -> Any:
    """The model on the GPU, but for a part of it."""
    model.cuda().get_submodule(part).cpu()
    return model


REFUSALS: dict[str, tuple[Callable[[], object], str]] = {
    "BERT's input": (lambda: bert().cuda()(**TEXT), LOOKUP),
    "BERT's token types": (
        lambda: bert().cuda()(IDS.cuda(), token_type_ids=torch.zeros_like(IDS)),
        LOOKUP,
    ),
    "BERT's positions": (
        lambda: bert().cuda()(IDS.cuda(), position_ids=torch.arange(12)[None]),
        mixed("index", "cpu", "cuda:0", "gather"),
    ),
    "BERT's labels": (
        lambda: bert().cuda()(IDS.cuda(), labels=CLASSES),
        mixed("target", "cpu", "cuda:0", "nll_loss_forward"),
    ),
    "BERT's labels, on another GPU": (
        lambda: bert().cuda()(IDS.cuda(), labels=CLASSES.cuda(1)),
        mixed("target", "cuda:1", "cuda:0", "nll_loss_forward"),
    ),
    "BERT's norm": (
        lambda: on_cpu(bert(), "bert.embeddings.LayerNorm")(IDS.cuda()),
        mixed("weight", "cpu", "cuda:0", "_native_layer_norm"),
    ),
    "Llama's input": (lambda: llama().cuda()(**TEXT), LOOKUP),
    "Llama's input, on another GPU": (
        lambda: llama().cuda()(IDS.cuda(1)),
        mixed("index", "cuda:1", "cuda:0", "_index_select"),
    ),
    "Llama's positions": (lambda: llama().cuda()(IDS.cuda(), position_ids=torch.arange(12)[None]), TWO),
    "Llama's embeddings": (lambda: llama().cuda()(inputs_embeds=torch.randn(4, 12, 32)), TWO),
    "Llama's norm": (lambda: on_cpu(llama(), "model.norm")(IDS.cuda()), TWO),
    "a layer of Llama's": (
        lambda: on_cpu(llama(), "model.layers.1.mlp.up_proj")(IDS.cuda()),
        mixed("mat2", "cpu", "cuda:0", "mm"),
    ),
    "Llama's cache": (
        lambda: llama().cuda()(IDS[:, :1].cuda(), past_key_values=llama()(IDS).past_key_values),
        mixed("tensors", "cuda:0", "cpu", "cat"),
    ),
    "a mask in generate": (lambda: llama().cuda().generate(IDS.cuda(), attention_mask=MASK, max_new_tokens=2), TWO),
    "T5's input": (lambda: t5().cuda()(**TEXT, labels=IDS.cuda()), LOOKUP),
    "T5's labels": (lambda: t5().cuda()(IDS.cuda(), labels=IDS), LOOKUP),
    "T5's input in generate": (lambda: t5().cuda().generate(IDS, max_new_tokens=2), LOOKUP),
    "ViT's images": (
        lambda: vit().cuda()(IMAGES),
        "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same or input should be "
        "a MKLDNN tensor and weight is a dense tensor",
    ),
    "ViT's images, on another GPU": (
        lambda: vit().cuda()(IMAGES.cuda(1)),
        mixed("weight", "cuda:0", "cuda:1", "_cudnn_convolution"),
    ),
}


@pytest.mark.parametrize("left", REFUSALS)
def test_what_stays_behind_is_refused_in_pytorchs_words(left: str) -> None:
    use, text = REFUSALS[left]
    with pytest.raises(RuntimeError) as refusal:
        use()
    assert str(refusal.value) == text


def test_masks_and_labels_that_transformers_moves_itself_may_stay() -> None:
    for model in (bert(), llama()):
        assert model.cuda()(IDS.cuda(), attention_mask=MASK).logits.is_cuda
    assert llama().cuda()(IDS.cuda(), labels=IDS).loss.is_cuda
    assert vit().cuda()(IMAGES.cuda(), labels=CLASSES).loss.is_cuda

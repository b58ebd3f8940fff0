"""Models that accelerate dispatched: a tensor that no hook moves, another model's KV cache, an adapter on the CPU.

Inputs that were moved to meta, and weights that were moved while the hooks remain, too.
"""

import traceback

import pytest
import torch
from torch import nn

from samedevice import explain, simulate_cuda

accelerate = pytest.importorskip("accelerate")


@pytest.fixture(autouse=True)
def two_gpus():
    with simulate_cuda(devices=2):
        yield


def first_culprit(run):
    try:
        run()
    except RuntimeError as error:
        return explain(error).culprits[0]
    pytest.fail("the program ran to its end")


def split():
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4))
    return accelerate.dispatch_model(model, {"0": 0, "1": 1})


def a_vector_moved_to_the_first_device():
    model = split()
    vector = torch.randn(4).to("cuda:0")

    def steer(layer, args, output):
        return output + vector

    model[1].register_forward_hook(steer)
    model(torch.randn(2, 8))


def a_vector_moved_there_in_the_line():
    model = split()
    vector = torch.randn(4)

    def steer(layer, args, output):
        return output + vector.to("cuda:0")

    model[1].register_forward_hook(steer)
    model(torch.randn(2, 8))


@pytest.mark.parametrize("run", [a_vector_moved_to_the_first_device, a_vector_moved_there_in_the_line])
def test_a_tensor_of_ones_own_is_moved_to_the_output_that_it_meets(run):
    culprit = first_culprit(run)
    assert culprit.expression.startswith("vector")
    assert culprit.case == "own_tensor_under_device_map"
    (edit,) = culprit.edits
    assert edit.text == "return output + vector.to(output.device)"


def test_without_a_hook_of_accelerate_it_is_another_cause():
    model = nn.Sequential(nn.Linear(8, 4)).to("cuda:1")
    vector = torch.randn(4).to("cuda:0")
    model[0].register_forward_hook(lambda layer, args, output: output + vector)
    culprit = first_culprit(lambda: model(torch.randn(2, 8, device="cuda:1")))
    assert culprit.case != "own_tensor_under_device_map"


def llama(device_map):
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=50, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2
    )
    return accelerate.dispatch_model(transformers.LlamaForCausalLM(config), device_map)


HALVES = {
    "model.embed_tokens": 0, "model.rotary_emb": 0, "model.layers.0": 0,
    "model.layers.1": 1, "model.norm": 1, "lm_head": 1,
}  # fmt: skip


def test_a_cache_is_to_be_filled_by_the_model_that_uses_it():
    words = torch.randint(50, (1, 6))
    cache = llama({"": 0})(words.to("cuda:0"), use_cache=True).past_key_values
    model = llama(HALVES)
    culprit = first_culprit(lambda: model(words, past_key_values=cache))
    assert culprit.case == "own_tensor_under_device_map"
    assert "by the model that uses it" in culprit.fix


@pytest.mark.filterwarnings("ignore")  # of peft and tqdm
def test_an_adapter_beside_an_offloaded_layer_is_to_be_loaded_by_peft(tmp_path):
    peft = pytest.importorskip("peft")
    lora = peft.LoraConfig(r=4, target_modules=["q_proj"], init_lora_weights=False)
    peft.get_peft_model(llama({"": "cpu"}), lora).save_pretrained(tmp_path)
    model = llama(HALVES | {"model.layers.1": "cpu"})
    model.load_adapter(str(tmp_path))
    culprit = first_culprit(lambda: model(torch.randint(50, (1, 6))))
    assert culprit.case == "adapter_beside_offloaded_layer"
    assert culprit.fix.startswith("model = PeftModel.from_pretrained(model, folder)")


def inputs_moved_in_the_call():
    model, words = llama(HALVES | {"model.embed_tokens": "cpu"}), torch.randint(50, (1, 6))
    model(words.to(model.device))


def inputs_moved_before():
    model, words = llama(HALVES | {"model.embed_tokens": "cpu"}), torch.randint(50, (1, 6))
    ids = words.to(model.device)
    model(ids)


def inputs_of_a_model_that_is_an_attribute():
    class Chat:
        def __init__(self):
            self.model = llama(HALVES | {"model.embed_tokens": "cpu"})

        def answer(self, words):
            words = words.to(self.model.device)
            return self.model(input_ids=words)

    Chat().answer(torch.randint(50, (1, 6)))


WITH_VALUES = "next(p.device for p in {}.parameters() if not p.is_meta)"


@pytest.mark.parametrize(
    ("run", "expression", "line"),
    [
        (inputs_moved_in_the_call, "words.to(model.device)", f"model(words.to({WITH_VALUES.format('model')}))"),
        (inputs_moved_before, "ids", f"ids = words.to({WITH_VALUES.format('model')})"),
        (
            inputs_of_a_model_that_is_an_attribute,
            "words",
            f"words = words.to({WITH_VALUES.format('self.model')})",
        ),
    ],
)
def test_inputs_on_meta_are_to_be_moved_to_the_first_weight_that_has_values(run, expression, line):
    culprit = first_culprit(run)
    assert (culprit.expression, culprit.case) == (expression, "inputs_moved_to_meta")
    assert culprit.edits[0].text == line


def weights_moved():
    model = split()
    model.to("cuda:0")
    model(torch.randn(2, 8))


def weights_of_a_llama_moved():
    model = llama(HALVES)
    model.to("cuda:0")
    model(torch.randint(50, (1, 6)))


def weights_moved_with_an_adapter():
    peft = pytest.importorskip("peft")
    model = peft.get_peft_model(llama(HALVES), peft.LoraConfig(r=4, target_modules=["q_proj"]))
    model = model.to("cuda:0")
    model(torch.randint(50, (1, 6)))


@pytest.mark.filterwarnings("ignore")  # of peft
@pytest.mark.parametrize(
    ("run", "weight"),
    [
        (weights_moved, "model[1].weight"),
        (weights_of_a_llama_moved, "model.model.layers[1].input_layernorm.weight"),
        (weights_moved_with_an_adapter, "model.base_model.model.model.layers[1].input_layernorm.weight"),
    ],
)
def test_of_weights_that_were_moved_the_first_is_named_that_its_hook_expects_elsewhere(run, weight):
    culprit = first_culprit(run)
    assert (culprit.expression, culprit.device, culprit.case) == (weight, "cuda:0", "moved_under_hooks")
    assert culprit.fix.startswith("remove_hook_from_submodules(model)")


def text_of_the_error(run):
    with pytest.raises(Exception) as raised:
        run()
    return "".join(traceback.format_exception(raised.value))


def test_the_traceback_alone_tells_that_inputs_were_moved_to_meta():
    assert explain(text_of_the_error(inputs_moved_before)).causes[0].case == "inputs_moved_to_meta"


def test_the_warning_above_a_traceback_tells_that_the_weights_were_moved():
    warning = "You shouldn't move a model that is dispatched using accelerate hooks.\n"
    traced = text_of_the_error(weights_of_a_llama_moved)
    assert explain(warning + traced).causes[0].case == "moved_under_hooks"
    assert explain(traced).causes[0].case != "moved_under_hooks"

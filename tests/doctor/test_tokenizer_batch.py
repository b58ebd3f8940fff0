"""What `explain` says of a tensor in what a tokenizer returned, which is a dict inside another object."""

import traceback

import pytest
import torch
from torch import nn

from samedevice import explain, simulate_cuda
from samedevice.catalog import load

transformers = pytest.importorskip("transformers")


def test_it_is_in_the_batch_and_not_in_a_dict_named_data():
    with simulate_cuda(devices=1):
        model = nn.Embedding(5, 2).to("cuda")
        inputs = transformers.BatchEncoding({"input_ids": torch.ones(1, 3, dtype=torch.long)})
        with pytest.raises(RuntimeError) as raised:
            model(inputs["input_ids"])
        culprit = explain(raised.value).culprits[0]
    assert culprit.owner == "in the batch that a tokenizer or a processor returned"


SIZE = {"vocab_size": 11, "num_hidden_layers": 1, "hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 2}


def writer():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZE, bos_token_id=1)).to("cuda")


def summariser():
    config = transformers.T5Config(
        vocab_size=11, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2, decoder_start_token_id=0
    )
    return transformers.T5ForConditionalGeneration(config).to("cuda")


def inputs_on_the_cpu():
    ids = torch.ones(1, 3, dtype=torch.long)
    return transformers.BatchEncoding({"input_ids": ids, "attention_mask": torch.ones_like(ids)})


def ids_alone_were_moved():
    model, inputs = writer(), inputs_on_the_cpu()
    ids = inputs["input_ids"].to("cuda")
    model.generate(ids, attention_mask=inputs["attention_mask"], max_new_tokens=2)


def batch_was_not_moved():
    model, inputs = summariser(), inputs_on_the_cpu()
    model.generate(**inputs, max_new_tokens=2)


def ids_are_in_no_batch():
    model, ids = summariser(), torch.ones(1, 3, dtype=torch.long)
    model.generate(ids, max_new_tokens=2)


@pytest.mark.parametrize("run", [ids_alone_were_moved, batch_was_not_moved, ids_are_in_no_batch])
def test_what_generate_was_given_leads_to_the_section_on_generate(run):
    with simulate_cuda(devices=1), pytest.raises(RuntimeError) as raised:
        run()
    diagnosis = explain(raised.value)
    assert diagnosis.culprits[0].case == "generate_inputs_on_cpu"
    assert load().causes["generate_inputs_on_cpu"].failure == "a-review-to-continue"
    assert load().lessons[load().causes["generate_inputs_on_cpu"].lesson].title in diagnosis.more


def test_the_traceback_alone_leads_there_too():
    with simulate_cuda(devices=1), pytest.raises(RuntimeError) as raised:
        batch_was_not_moved()
    cases = [cause.case for cause in explain("".join(traceback.format_exception(raised.value))).causes]
    assert "generate_inputs_on_cpu" in cases

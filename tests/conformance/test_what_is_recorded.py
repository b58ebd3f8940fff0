"""What counts as an answer about devices: checks on devices do, whatever they guard; a missing library does not."""

import pytest

from record.errors import not_asked

ACCUSED = (
    "Expected all tensors to be on the same device, but got weight is on cpu, different from other tensors on cuda:0"
)


@pytest.mark.parametrize("kernel", ["_cudnn_batch_norm", "_cudnn_convolution", "_cudnn_rnn", "_cusparse_mm"])
def test_a_check_in_front_of_a_librarys_kernel_is_an_answer(kernel):
    assert not not_asked(f"{ACCUSED} (when checking argument in method wrapper_CUDA_{kernel})")


@pytest.mark.parametrize(
    "said",
    [
        "cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
        "CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
        "CUDA error: cublas64 was not found",
        "cusparse error: CUSPARSE_STATUS_NOT_INITIALIZED",
        "Invalid learning rate: 0.10000000149011612",  # compared by no kernel
    ],
)
def test_a_library_that_is_not_there_and_a_value_that_was_not_computed_are_no_answers(said):
    assert not_asked(said)


def test_a_question_may_take_as_an_answer_what_is_none_elsewhere():
    assert not_asked("Could not run 'aten::exp' with arguments from the 'SparseCUDA' backend")
    assert not not_asked("Could not run 'aten::exp' with arguments from the 'SparseCUDA' backend", "Could not run")

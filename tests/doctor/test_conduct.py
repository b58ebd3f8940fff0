"""How the doctor looks at a program that failed: it runs none of its code, keeps nothing of it, and never raises."""

import gc
import sys
import time
import weakref
from typing import ClassVar

import pytest
import torch
from torch import nn

from samedevice import explain, simulate_cuda
from samedevice.doctor import examine
from samedevice.doctor.causes.registry import Cause


def failure(run):
    try:
        run()
    except Exception as error:
        return error
    pytest.fail("the program ran to its end")


class Touchy:
    """An object that notes each piece of its code that is run."""

    ran: ClassVar[list[str]] = []

    def __init__(self):
        self.scale = torch.ones(8)
        self.ran.clear()

    def __getattr__(self, name):
        self.ran.append(f"__getattr__ {name}")
        raise AttributeError(name)

    def __repr__(self):
        self.ran.append("__repr__")
        return "Touchy"

    def __eq__(self, other):
        self.ran.append("__eq__")
        return False

    def __bool__(self):
        self.ran.append("__bool__")
        return True

    def __len__(self):
        self.ran.append("__len__")
        return 1

    def __iter__(self):
        self.ran.append("__iter__")
        return iter(())

    def __getitem__(self, key):
        self.ran.append("__getitem__")
        return torch.ones(8)

    @property
    def weight(self):
        self.ran.append("property")
        return torch.ones(8, device="cuda")

    @property
    def __class__(self):
        self.ran.append("__class__")
        return Touchy

    __hash__ = None


class ItsOwnTextError(RuntimeError):
    def __str__(self):
        Touchy.ran.append("__str__")
        return "nothing"


def test_no_code_of_the_program_runs():
    def program():
        touchy = Touchy()
        x = torch.ones(8, device="cuda")
        Touchy.ran.clear()
        return x * touchy.scale

    with simulate_cuda(2):
        diagnosis = explain(failure(program))
        assert diagnosis.culprits[0].expression == "touchy.scale"
        str(diagnosis)
    assert Touchy.ran == []


def test_a_property_is_read_and_not_run():
    ran = []

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self._scale = torch.ones(8)

        @property
        def scale(self):
            ran.append("property")
            return self._scale

        def forward(self, x):
            return x * self.scale

    with simulate_cuda(1):
        model = Scaled()
        error = failure(lambda: model(torch.ones(8, device="cuda")))
        ran.clear()
        assert explain(error).culprits[0].expression == "self.scale"
    assert ran == []


def test_a_large_model_and_deep_frames_take_little_time():
    class Block(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.norm, self.inner, self.scale = nn.LayerNorm(4), inner, torch.ones(4)

        def forward(self, x):
            return self.inner(self.norm(x)) if self.inner is not None else x * self.scale

    def program():
        block = None
        for _ in range(10):
            block = Block(block)
        model = nn.Sequential(nn.ModuleList(nn.Linear(4, 4) for _ in range(1000)), block).cuda()
        models.append(model)
        return model[1](torch.ones(2, 4, device="cuda"))

    def took(call):
        def once():
            begins = time.process_time()
            call()
            return time.process_time() - begins

        return min(once() for _ in range(4))

    models = []
    with simulate_cuda(1):
        error = failure(program)
        assert explain(error).culprits[0].expression == "self.scale"
        # Beside a walk of PyTorch's own through the same model, since machines differ: 12 to 27 times were measured.
        assert took(lambda: explain(error)) < 60 * took(lambda: list(models[0].named_parameters()))


def test_an_exceptions_own_text_is_not_asked_for():
    def program():
        raise ItsOwnTextError(
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
        )

    Touchy.ran.clear()
    assert explain(failure(program)).message.id == "SD002"
    assert Touchy.ran == []


def test_a_tensors_own_operators_are_not_run():
    class Counted(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if Touchy.ran is not None:
                Touchy.ran.append(str(func))
            return super().__torch_function__(func, types, args, kwargs)

    def program():
        mask = torch.ones(8).as_subclass(Counted)
        try:
            return torch.ones(8, device="cuda") * mask
        finally:
            Touchy.ran.clear()

    with simulate_cuda(1):
        error = failure(program)
        Touchy.ran.clear()
        assert explain(error).culprits[0].expression == "mask"
    assert Touchy.ran == []


def test_nothing_is_kept_alive():
    kept = []

    def program():
        model, x = nn.Linear(8, 4), torch.ones(2, 8, device="cuda")
        kept.extend([weakref.ref(model), weakref.ref(model.weight)])
        model(x)

    def look():
        return explain(failure(program))

    with simulate_cuda(1):
        diagnosis = look()
        assert diagnosis.culprits
        gc.collect()
        assert [one() for one in kept] == [None, None]


def test_a_failure_of_the_doctors_own_leaves_what_the_text_tells(monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("samedevice.doctor.explanation.find_culprits", broken)
    with simulate_cuda(1):
        diagnosis = explain(failure(lambda: nn.Linear(8, 4).cuda()(torch.ones(2, 8))))
    assert diagnosis.message.id == "SD001"
    assert diagnosis.causes
    assert diagnosis.culprits == ()
    assert "ZeroDivisionError" in diagnosis.note
    assert diagnosis.note in " ".join(str(diagnosis).split())


def test_a_traceback_that_cannot_be_read_leaves_the_message(monkeypatch):
    def broken(_):
        raise ZeroDivisionError

    monkeypatch.setattr("samedevice.doctor.explanation.traceback_text", broken)
    with simulate_cuda(1):
        diagnosis = explain(failure(lambda: nn.Linear(8, 4).cuda()(torch.ones(2, 8))))
    assert diagnosis.message.id == "SD001"
    assert diagnosis.culprits[0].expression == "torch.ones(2, 8)"


def test_a_cause_that_the_catalog_lacks_leaves_what_the_text_tells(monkeypatch):
    monkeypatch.setattr(examine, "detected", lambda evidence: Cause("no_such_cause"))
    with simulate_cuda(1):
        diagnosis = explain(failure(lambda: nn.Linear(8, 4).cuda()(torch.ones(2, 8))))
    assert diagnosis.causes
    assert "KeyError" in diagnosis.note


@pytest.mark.parametrize("error", [ValueError("x"), KeyError(1), RuntimeError(), ExceptionGroup("g", [ValueError(1)])])
def test_an_error_that_is_not_about_devices_has_no_culprits(error):
    diagnosis = explain(error)
    assert (diagnosis.message, diagnosis.culprits) == (None, ())


def test_the_error_is_found_behind_the_one_that_wraps_it():
    def program():
        x = torch.ones(2, 8)
        try:
            nn.Linear(8, 4).cuda()(x)
        except RuntimeError as error:
            raise ValueError("step 3 failed") from error

    with simulate_cuda(1):
        assert explain(failure(program)).culprits[0].expression == "x"


def test_without_an_argument_the_last_uncaught_error_counts(monkeypatch):
    for name in ("last_exc", "last_value"):
        monkeypatch.delattr(sys, name, raising=False)
    assert "no error to explain" in explain().says
    with simulate_cuda(1):
        error = failure(lambda: torch.ones(1, device="cuda") + torch.ones(3))
        monkeypatch.setattr(sys, "last_value", error, raising=False)
        assert explain().culprits[0].expression == "torch.ones(3)"


def test_what_is_no_error_is_refused():
    with pytest.raises(TypeError, match="exception or the text of one"):
        explain(3)


def test_the_name_of_a_device_is_said_to_ask_for_it():
    with simulate_cuda(1):
        diagnosis = explain(failure(lambda: nn.Linear(2, 2).to("cuda:5")))
    assert diagnosis.culprits[0].sentence == '`"cuda:5"` asks for cuda:5.'

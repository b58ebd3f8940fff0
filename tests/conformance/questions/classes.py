"""Classes of tensors: what isinstance, type, subclasses and single dispatch say of them."""

import collections.abc
import copy
import functools
import pickle
import typing


class Own(torch.Tensor):
    """A subclass as people write it."""

    def doubled(self):
        return self * 2


class Noted(torch.Tensor):
    """A subclass that overrides functions."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


class Weight(nn.Parameter):
    pass


class Buffered(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("mean", torch.ones(2))


@functools.singledispatch
def kind(x):
    return "something"


@kind.register
def _(x: torch.Tensor):
    return "a tensor"


@functools.singledispatch
def finer(x):
    return "something"


@finer.register
def _(x: torch.Tensor):
    return "a tensor"


@finer.register
def _(x: nn.Parameter):
    return "a parameter"


@finer.register
def _(x: Own):
    return "one's own"


class Described:
    @functools.singledispatchmethod
    def of(self, x):
        return "something"

    @of.register
    def _(self, x: torch.Tensor):
        return "a tensor"


def matched(x):
    match x:
        case nn.Parameter():
            return "a parameter"
        case torch.Tensor(shape=(2,)):
            return "a tensor of two"
        case torch.Tensor():
            return "a tensor"
    return "something"


isinstance(g(2), torch.Tensor)
isinstance(c(2), type(g(2)))
isinstance(g(2), type(c(2)))
isinstance(h(2), type(g(2)))
isinstance(nn.Parameter(c(2)), type(g(2)))
isinstance(nn.Parameter(g(2)), type(g(2)))
isinstance(g(2), type(nn.Parameter(g(2))))
isinstance(g(2), nn.Parameter)
isinstance(nn.Parameter(g(2)), nn.Parameter)
isinstance(nn.Parameter(c(2)), type(nn.Parameter(g(2))))
isinstance(2, type(g(2)))
issubclass(type(g(2)), torch.Tensor)
issubclass(torch.Tensor, type(g(2)))
issubclass(nn.Parameter, type(g(2)))
issubclass(nn.Parameter, type(nn.Parameter(g(2))))
issubclass(type(nn.Parameter(g(2))), torch.Tensor)
issubclass(int, type(g(2)))
issubclass(Own, type(g(2)))
type(g(2)) == torch.Tensor
type(g(2)) == type(c(2))
type(g(2)) == type(h(2))
type(g(2)) != torch.Tensor
type(g(2)) in (torch.Tensor, nn.Parameter)
type(g(2)) in {torch.Tensor: 1}
{torch.Tensor: "tensor", nn.Parameter: "parameter"}[type(nn.Parameter(g(2)))]
{type(g(2)): 1}[torch.Tensor]
type(g(2)).__name__, type(g(2)).__module__, type(g(2)).__qualname__
type(nn.Parameter(g(2))).__name__
type(nn.Parameter(g(2))) == nn.Parameter
type(nn.Linear(2, 2).cuda().weight) == nn.Parameter
type(nn.Linear(2, 2, device="cuda").weight) == nn.Parameter
str(type(g(2)))
g(2).__class__ == torch.Tensor
g(2).__class__.__mro__[-1] is object
Own in type(g(2).as_subclass(Own)).__mro__
isinstance(g(2).as_subclass(Own), Own)
type(g(2).as_subclass(Own)) == Own
type(g(3).as_subclass(Own)[0]) == Own
type(g(3).as_subclass(Own) + 1) == Own
type(g(3).as_subclass(Own).cpu()) == Own
type(c(3).as_subclass(Own).cuda()) == Own
type(c(3).as_subclass(Own).to("cuda:1")[0:1]) == Own
type(g(3).as_subclass(Own).sum()) == Own
type(g(3).as_subclass(Own).view(3, 1)) == Own
type(g(3).as_subclass(Own).clone()) == Own
type(g(3).as_subclass(Own).detach()) == Own
type(torch.stack([g(2).as_subclass(Own), g(2)])) == Own
type(copy.deepcopy(g(2).as_subclass(Own))) == Own
type(pickle.loads(pickle.dumps(g(2).as_subclass(Own)))) == Own
g(2).as_subclass(Own).doubled()
g(2).as_subclass(Own)
g(2).as_subclass(Own) + c(2)
g(2).as_subclass(Own) + h(2).as_subclass(Own)
g(2).as_subclass(Noted) * 2
g(2).as_subclass(Noted) * c(2)
type(g(2).as_subclass(Noted) * 2) == Noted
Own(g(2)).device
Own(g(2))
isinstance(Own(g(2)), Own)
torch.Tensor._make_subclass(Own, g(2))
type(torch.Tensor._make_subclass(Own, g(2), True)) == Own
g(2).as_subclass(torch.Tensor)
type(g(2).as_subclass(Own).as_subclass(torch.Tensor)) == torch.Tensor
Weight(g(2))
isinstance(Weight(g(2)), Weight)
type(Weight(g(2))) == Weight
m = nn.Module(); m.w = Weight(c(2)); type(m.cuda().w) == Weight
m = nn.Module(); m.w = Weight(c(2)); m.cuda().w
m = Buffered().cuda(); type(m.weight) == nn.Parameter, type(m.mean) == torch.Tensor
m = Buffered().cuda(); [type(p).__name__ for p in m.parameters()], [type(p).__name__ for p in m.buffers()]
m = Buffered().cuda(); [isinstance(x, nn.Parameter) for x in vars(m)["_parameters"].values()]
m = Buffered().cuda(); m.weight = g(2)
m = Buffered().cuda(); m.weight = nn.Parameter(g(2)); m.weight
m = Buffered().cuda(); m.mean = nn.Parameter(g(2)); len(list(m.parameters()))
kind(g(2)), kind(c(2)), kind(nn.Parameter(g(2))), kind(2)
kind(nn.Parameter(c(2))), kind(nn.Linear(2, 2).cuda().weight)
kind(g(2).as_subclass(Own)), kind(Weight(g(2)))
kind.dispatch(type(nn.Parameter(g(2))))(1)
finer(g(2)), finer(nn.Parameter(g(2))), finer(g(2).as_subclass(Own)), finer(Weight(g(2)))
Described().of(g(2)), Described().of(nn.Parameter(h(2))), Described().of(1)
matched(g(2)), matched(g(3)), matched(nn.Parameter(g(2))), matched(1)
isinstance(g(2), torch.Tensor | int)
isinstance(g(2), typing.Union[nn.Parameter, int])
isinstance(g(2), (int, torch.Tensor))
isinstance(g(2), collections.abc.Sized), isinstance(g(2), collections.abc.Iterable), isinstance(g(2), collections.abc.Sequence)
isinstance(g(2), torch.cuda.FloatTensor), isinstance(g(2), torch.FloatTensor), isinstance(c(2), torch.FloatTensor)
isinstance(g(2).half(), torch.cuda.HalfTensor), isinstance(h(2), torch.cuda.FloatTensor)
isinstance(g(2), torch.autograd.Variable), isinstance(c(2), torch.autograd.Variable)
isinstance(nn.Parameter(g(2)), nn.Buffer), isinstance(nn.Buffer(g(2)), nn.Buffer)
isinstance(nn.UninitializedParameter(device="cuda"), nn.Parameter)
type(nn.UninitializedParameter(device="cuda")) == nn.UninitializedParameter
torch.is_tensor(g(2)), torch.is_storage(g(2).untyped_storage())
torch.overrides.is_tensor_like(g(2)), torch.overrides.has_torch_function((g(2),)), torch.overrides.is_tensor_like(nn.Parameter(g(2)))
sorted(vars(g(2)))
sorted(vars(nn.Parameter(g(2))))
x = g(2); x.name = "mine"; vars(x)
x = g(2).as_subclass(Own); x.name = "mine"; copy.copy(x).name, vars(copy.deepcopy(x))
hasattr(g(2), "foo"), hasattr(type(g(2)), "cpu"), "foo" in dir(g(2))
sorted(set(dir(g(2))) ^ set(dir(c(2))))
sorted(set(dir(type(g(2)))) ^ set(dir(torch.Tensor)))
g(2).__reduce_ex__(2)[0].__name__
torch.nn.utils.parameters_to_vector([nn.Parameter(g(2)), nn.Parameter(g(2))])
torch.utils._pytree.tree_map_only(torch.Tensor, lambda x: x.cpu(), {"a": g(2), "b": 1})
torch.utils._pytree.tree_map_only(nn.Parameter, lambda x: x.cpu(), {"a": g(2), "b": nn.Parameter(g(2))})
torch.utils.data.default_convert([g(2), 1]), torch.utils.data.default_collate([g(2), g(2)])
torch.utils.data.default_collate([g(2), c(2)])

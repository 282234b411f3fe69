"""What modules do with attributes, state, hooks, modes and copies, as programs that print the same on both."""

from __future__ import annotations

from typing import Any

import pytest

BEGIN = """
import copy, pickle
from collections import OrderedDict
nn = torch.nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.factor = nn.Parameter(torch.ones(3))
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("shift", torch.ones(1), persistent=False)
        self.last = nn.Linear(3, 1, bias=False)
    def forward(self, x, scale=1.0):
        return self.last((self.first(x) - self.mean) * self.factor) * scale + self.shift
net = Net()
net.first.weight.data = (net.first.weight * 8).round() / 8; net.first.bias.data = (net.first.bias * 8).round() / 8
net.last.weight.data = (net.last.weight * 8).round() / 8
x = torch.tensor([[1.0, 2.0], [3.0, -1.0]])
def attempt(f):
    try:
        print(f())
    except Exception as error:
        print(type(error).__name__, str(error))
"""

PROGRAMS = {
    "what is there": """
print(net)
for kind in ("named_parameters", "named_buffers", "named_children", "named_modules"):
    print([(n, type(v).__name__) for n, v in getattr(net, kind)()])
print([n for n, _ in net.named_parameters(prefix="p", recurse=False)], [n for n, _ in net.named_modules(prefix="m")])
print(len(list(net.parameters())), len(list(net.buffers(recurse=False))), len(list(net.children())), len(list(net.modules())))
print([n for n in dir(net) if n in ("first", "factor", "mean", "shift", "last", "training")])
print(net.get_submodule("first"), net.get_submodule("") is net, net.get_parameter("first.bias").shape)
print(net.get_buffer("mean").shape)
for bad in ("first.nothing", "mean", "nothing"):
    attempt(lambda: net.get_submodule(bad)); attempt(lambda: net.get_parameter(bad))
attempt(lambda: net.get_buffer("factor"))
net.set_submodule("first", nn.Linear(2, 3, bias=False)); print(net.first)
attempt(lambda: net.set_submodule("", nn.Identity()))
""",
    "shared modules and parameters": """
net.last = net.first; net.again = net.factor
print([n for n, _ in net.named_parameters()], [n for n, _ in net.named_parameters(remove_duplicate=False)])
print([n for n, _ in net.named_modules()], [n for n, _ in net.named_modules(remove_duplicate=False)], len(list(net.children())))
print(list(net.state_dict()))
""",
    "attributes": """
attempt(lambda: setattr(net, "factor", torch.ones(3))); attempt(lambda: setattr(net, "factor", 1))
attempt(lambda: setattr(net, "first", 1)); attempt(lambda: setattr(net, "first", torch.ones(1)))
attempt(lambda: setattr(net, "mean", 1)); attempt(lambda: setattr(net, "mean", torch.ones(2))); print(net.mean)
net.factor = None; net.first = None; net.mean = None
print(net.factor, net.first, net.mean, list(net.state_dict()), [n for n, _ in net.named_parameters()])
net.first = nn.Linear(1, 1); net.mean = nn.Parameter(torch.ones(2)); net.other = 3
print([n for n, _ in net.named_parameters()], [n for n, _ in net.named_buffers()])
del net.first; del net.shift; del net.other
attempt(lambda: net.first); attempt(lambda: net.other); attempt(lambda: delattr(net, "nothing")); print(net)
net.shift = torch.ones(1); print([n for n, _ in net.named_buffers()])
net.stat = nn.Buffer(torch.ones(2)); net.temporary = nn.Buffer(torch.ones(2), persistent=False)
print([n for n, _ in net.named_buffers()], list(net.state_dict()), type(net.stat).__name__)
""",
    "registering": """
attempt(lambda: net.register_parameter("a.b", None)); attempt(lambda: net.register_parameter("", None))
attempt(lambda: net.register_parameter("first", nn.Parameter(torch.ones(1)))); attempt(lambda: net.register_parameter(3, None))
attempt(lambda: net.register_parameter("w", torch.ones(1)))
attempt(lambda: net.register_buffer("a.b", None)); attempt(lambda: net.register_buffer("", None))
attempt(lambda: net.register_buffer("w", 3))
attempt(lambda: net.register_buffer("forward", torch.ones(1)))
attempt(lambda: net.add_module("a.b", None)); attempt(lambda: net.add_module("", None))
attempt(lambda: net.add_module("w", 3))
attempt(lambda: net.add_module("forward", nn.Identity())); attempt(lambda: net.add_module(3, nn.Identity()))
net.register_module("more", nn.Identity()); net.register_parameter("nothing", None); print(net, net.nothing)
print(list(net.state_dict()))
class Early(nn.Module):
    def __init__(self, what):
        self.part = what
for what in (nn.Identity(), nn.Parameter(torch.ones(1)), nn.Buffer(torch.ones(1))):
    attempt(lambda: Early(what))
attempt(lambda: nn.Module(1)); attempt(lambda: nn.Module(size=1)); attempt(lambda: nn.Module()(1))
""",
    "state": """
state = net.state_dict(); print(list(state), state._metadata, type(state).__name__)
print([v.requires_grad for v in state.values()], [v.requires_grad for v in net.state_dict(keep_vars=True).values()])
print(list(net.state_dict(prefix="p.")), list(net.state_dict(destination=OrderedDict(), prefix="q.")))
state["mean"].add_(1); print(net.mean)
other = Net(); print(other.load_state_dict(state)); print(other(x))
del state["first.bias"]; state["first.more"] = torch.ones(1); state["unknown"] = torch.ones(1); state["factor"] = torch.ones(4)
attempt(lambda: other.load_state_dict(state)); attempt(lambda: other.load_state_dict(state, strict=False))
del state["factor"]; print(other.load_state_dict(state, strict=False))
attempt(lambda: other.load_state_dict(3)); attempt(lambda: other.load_state_dict({"mean": 3}, strict=False))
given = {k: torch.zeros_like(v) for k, v in Net().state_dict().items()}
kept = other.factor; print(other.load_state_dict(given, assign=True))
print(other.factor is kept, type(other.factor).__name__, other.factor)
print(other.mean is given["mean"], other.factor.requires_grad)
one = nn.Module(); one.register_buffer("n", torch.tensor(0)); one.load_state_dict({"n": torch.tensor([5])}); print(one.n)
""",
    "hooks of states": """
net.register_state_dict_pre_hook(lambda m, prefix, keep: print("before", prefix, keep))
handle = net.register_state_dict_post_hook(lambda m, state, prefix, metadata: state.pop("mean", None) and None)
print(list(net.state_dict())); handle.remove()
bad = net.register_state_dict_post_hook(lambda *_: 3); attempt(lambda: net.state_dict()); bad.remove()
net.register_load_state_dict_pre_hook(lambda m, state, prefix, *_: state.update({prefix + "mean": torch.ones(3)}))
net.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
print(net.load_state_dict({}, strict=False), net.mean)
class Extra(nn.Module):
    def get_extra_state(self): return {"epoch": 3}
    def set_extra_state(self, state): self.found = state
extra = nn.Sequential(Extra()); state = extra.state_dict(); print(state); extra.load_state_dict(state); print(extra[0].found)
attempt(lambda: extra.load_state_dict({})); attempt(lambda: nn.Sequential(nn.Identity()).load_state_dict(state))
""",
    "modes and dtypes": """
print(net.training, net.eval().training, net.last.training, net.train().last.training); attempt(lambda: net.train(3))
kept = net.factor; net.register_buffer("count", torch.tensor(3))
net(x).sum().backward(); net.double(); print(kept is net.factor, kept.dtype, kept.grad.dtype, net.mean.dtype, net.count.dtype)
net.to(torch.float32); print(net.factor.dtype, net.count.dtype, net.to("cpu") is net)
print(net.to(torch.ones(1, dtype=torch.float64)).mean.dtype)
attempt(lambda: net.to(torch.int64)); net.half(); print(net.factor.dtype)
net.float(); print(net.mean.dtype, net.type(torch.float64).mean.dtype)
net.requires_grad_(False); print([p.requires_grad for p in net.parameters()]); net.float().requires_grad_()
net(x).sum().backward(); net.zero_grad(set_to_none=False); print(net.factor.grad, net.first.weight.grad)
net.zero_grad(); print(net.factor.grad)
order = []; net.apply(lambda m: order.append(type(m).__name__)); print(order, net.share_memory() is net)
""",
    "hooks of forward": """
net.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
net.register_forward_pre_hook(lambda m, args: args[0] + 1, prepend=True)
net.register_forward_pre_hook(lambda m, args, kwargs: (args, {"scale": 3.0}), with_kwargs=True)
net.register_forward_hook(lambda m, args, out: out.round())
net.register_forward_hook(lambda m, args, kwargs, out: print(args, kwargs, out), with_kwargs=True, prepend=True)
print(net(x)); print(net(x, scale=5.0))
bad = net.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True); attempt(lambda: net(x)); bad.remove()
with net.register_forward_hook(lambda m, a, o: o * 0): print(net(x))
class Fails(nn.Module):
    def forward(self, x): raise KeyError("no")
fails = Fails(); fails.register_forward_hook(lambda *_: print("not called"))
fails.register_forward_hook(lambda m, a, o: print("called", o), always_call=True)
fails.register_forward_hook(lambda m, a, o: o.nothing, always_call=True)
attempt(lambda: fails(x))
""",
    "hooks of gradients": """
def show(name, result=None):
    def hook(m, *gradients):
        print(name, gradients); return result(*gradients) if result else None
    return hook
y = x.clone().requires_grad_()
net.first.register_full_backward_hook(show("first"))
net.last.register_full_backward_hook(show("last", lambda gi, go: (gi[0] * 2,)))
net.last.register_full_backward_pre_hook(show("before last", lambda go: (go[0] * 10,)))
net.register_full_backward_hook(show("net"), prepend=True)
out = net(y, scale=2.0); print(out.grad_fn.name()); out.sum().backward(); print(y.grad, net.factor.grad)
net(x).sum().backward()
with torch.no_grad(): print(net(y).grad_fn)
bad = net.last.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0])); attempt(lambda: net(y).sum().backward())
bad.remove()
bad = net.register_full_backward_hook(lambda m, gi, go: (go[0],)); attempt(lambda: net(x).sum().backward())
""",
    "several outputs, create_graph": """
class Two(nn.Module):
    def forward(self, x, n, y): return x * y, y * y * n
two = Two(); two.register_full_backward_hook(lambda m, gi, go: print(gi, go))
a, b = torch.ones(2, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
p, q = two(a, 2, b); p.sum().backward()
(p, q), two = two(a, 2, b), two
g, = torch.autograd.grad((q ** 2 + p).sum(), b, create_graph=True); print(g, torch.autograd.grad(g.sum(), b))
class Dict(nn.Module):
    def forward(self, x): return {"out": x}
d = Dict(); d.register_full_backward_hook(lambda *_: None); print(d(a))
""",
    "copies": """
twin = copy.deepcopy(net); print(twin.factor is net.factor, twin(x)); twin.factor.data.add_(1); print(net(x), twin(x))
again = pickle.loads(pickle.dumps(nn.Linear(2, 2).requires_grad_(False))); print(again, again.weight, again.weight.requires_grad)
net.tied = net.last.weight; twin = copy.deepcopy(net); print(twin.tied is twin.last.weight)
""",
    "running": """
def run(net, x): return net(x, scale=3.0)
print(run(net, x)); torch.func.functional_call(net, {"factor": torch.zeros(3)}, (x,), {"scale": 2.0})
print(torch.func.functional_call(net, {"mean": torch.ones(3), "last.weight": torch.zeros(1, 3)}, x), net.last.weight)
""",
    "sequential": """
a, b, c = nn.Linear(2, 2), nn.ReLU(), nn.Identity()
s = nn.Sequential(a, b, c); print(s, len(s), s[0] is a, s[-1] is c, s[1:], [type(m).__name__ for m in s])
for bad in (3, -4, "x"): attempt(lambda: s[bad])
s[1] = nn.Tanh(); print(s[1]); del s[0]; print(list(s._modules), s); s.append(a).insert(0, b); print(s)
s.insert(-1, nn.Sigmoid()); print(s)
attempt(lambda: s.insert(9, a)); attempt(lambda: s.append(3))
s.extend(nn.Sequential(nn.GELU(), nn.SiLU())); print(s.pop(0), s.pop(-1), s); del s[1:3]; print(s, list(s._modules))
named = nn.Sequential(OrderedDict(first=a, act=b))
print(named, named[1:], named.act is b, list(named.state_dict()), named.first is named[0])
print(named + s, named * 2, 2 * nn.Sequential(b))
named += nn.Sequential(c); print(named); attempt(lambda: named.__setitem__(5, a)); print(nn.Sequential(), nn.Sequential()(3))
""",
    "lists and dicts of modules": """
l = nn.ModuleList([nn.Linear(1, 1) for _ in range(3)]); print(l, len(l), l[-1] is l[2], l[1:], list(l.state_dict()))
l.append(nn.ReLU()); l.extend([nn.ReLU(), nn.Tanh()]); l.insert(0, nn.Identity()); print(l); print(l.pop(1), list(l._modules))
l[0] = nn.Sigmoid(); del l[1]; del l[-2:]; print(l, l + [nn.GELU()], nn.ModuleList()); attempt(lambda: l[7])
attempt(lambda: l(1)); attempt(lambda: l.extend(3))
l += [nn.Identity()]; print(l); attempt(lambda: nn.ModuleList([3])); attempt(lambda: l.append(3))
d = nn.ModuleDict({"a": nn.Linear(1, 2), "b": nn.ReLU()})
print(d, len(d), "a" in d, list(d), list(d.keys()), list(d.values())[1], d["b"])
d["c"] = nn.Tanh(); d.update({"d": nn.Identity()}); d.update([("e", nn.GELU())]); print(d.pop("a"), d, list(d.items())[0])
del d["b"]; attempt(lambda: d["b"]); attempt(lambda: d.update(3)); attempt(lambda: d.__setitem__("pop", nn.ReLU())); d.clear()
print(d)
""",
    "lists and dicts of parameters": """
p = nn.ParameterList([torch.ones(2), nn.Parameter(torch.ones(1, 3)), 5])
print(p, len(p), type(p[0]).__name__, list(p.state_dict()))
p.append(torch.zeros(1)); p.extend([torch.ones(2, 2)]); p += [torch.ones(3)]
print(p, p[-1], p[1:3], [type(x).__name__ for x in p])
p[0] = torch.zeros(5); print(p[0], len(p)); attempt(lambda: p[9]); attempt(lambda: p()); attempt(lambda: p.extend(torch.ones(2)))
d = nn.ParameterDict({"a": torch.ones(2), "b": 3}); print(d, "a" in d, list(d), list(d.state_dict()), d["a"])
d["c"] = torch.ones(1); d.update({"d": torch.zeros(2)})
print(len(d), list(d.keys()), d.get("x"), d.setdefault("e", torch.ones(1)), d.pop("b"))
print(d | {"f": torch.ones(1)}, list(reversed(d)), d.popitem()[0], d.copy(), d.fromkeys(["u"], torch.ones(1))); del d["a"]
attempt(lambda: d["a"])
d.clear(); print(d); attempt(lambda: d(1))
""",
    "lazy layers": """
l = nn.LazyLinear(3); print(l, l.weight, list(l.state_dict()), l.weight.dtype); attempt(lambda: l.weight.shape)
state = nn.Linear(2, 3).state_dict(); other = nn.LazyLinear(3); print(other.load_state_dict(state), other(x), other)
torch.manual_seed(1); print(l(x), l, type(l).__name__, l.weight); torch.manual_seed(1); print(nn.Linear(2, 3)(x))
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_modules(name: str, same: Any) -> None:
    same(BEGIN + PROGRAMS[name])

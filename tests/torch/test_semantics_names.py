# ruff: noqa: E501 (programs are kept on few lines)
"""Names that programs import, and what stands behind them, on the facade and the original."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

import funcgrad.torch as torch
from funcgrad.torch import names
from tests.torch.semantics import Row, rows_of

TABLE = r"""
## grid_sample
F = torch.nn.functional
x = torch.sin(torch.arange(180.0, dtype=torch.float64)).reshape(2, 3, 5, 6).requires_grad_()
g = (1.5 * torch.cos(torch.arange(48.0, dtype=torch.float64) ** 2)).reshape(2, 4, 3, 2).requires_grad_()
for mode in ("bilinear", "nearest", "bicubic"):
    for padding in ("zeros", "border", "reflection"):
        for aligned in (True, False):
            y = F.grid_sample(x, g, mode, padding, aligned)
            dx, dg = torch.autograd.grad((y**2).sum(), [x, g], allow_unused=True, materialize_grads=True)
            print(mode, padding, aligned, "%.6f %.6f %.6f" % (y.sum().item(), (dx**2).sum().item(), (dg**2).sum().item()))
print("%.6f" % F.grid_sample(torch.sin(torch.arange(60.0)).reshape(1, 1, 3, 4, 5), torch.cos(torch.arange(24.0)).reshape(1, 2, 2, 2, 3), align_corners=False).sum())
=>
...

## affine_grid
F = torch.nn.functional
t = torch.tensor([[[1.0, 0.2, 0.1], [0.0, 0.8, -0.3]]], dtype=torch.float64, requires_grad=True)
y = F.affine_grid(t, (1, 1, 2, 3), align_corners=False); print(y.detach()); (y**2).sum().backward(); print((t.grad + 1).tolist()[0][0])
print(F.affine_grid(t, (1, 1, 2, 3), align_corners=True).sum().item() < 10, F.affine_grid(torch.eye(4)[None, :3], (1, 1, 2, 2, 2), align_corners=True).shape)
=>
...

## pruning
prune = __import__("importlib").import_module(torch.__name__ + ".nn.utils.prune")
torch.manual_seed(0); lin = torch.nn.Linear(4, 3)
prune.l1_unstructured(lin, "weight", 0.5); print((lin.weight == 0).tolist(), list(dict(lin.named_parameters())), list(dict(lin.named_buffers())))
prune.ln_structured(lin, "weight", 0.33, n=2, dim=0); print((lin.weight == 0).sum().item(), prune.is_pruned(lin))
lin(torch.ones(4)).sum().backward(); print(lin.weight_orig.grad)
prune.random_unstructured(lin, "bias", 1); prune.random_structured(lin, "weight", 1, dim=1); print((lin.bias == 0).sum().item())
prune.remove(lin, "weight"); print(list(dict(lin.named_parameters())), type(lin.weight).__name__, lin.weight.is_leaf)
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 2))
prune.global_unstructured([(net[0], "weight"), (net[1], "weight")], pruning_method=prune.L1Unstructured, amount=0.4)
print([(layer.weight == 0).sum().item() for layer in net])
prune.remove(lin, "weight")
=>
...

## assert_close
same = torch.testing.assert_close
same(torch.ones(2), torch.ones(2) + 1e-7); same([1, {"a": None}], [1, {"a": None}])
for a, b in ((torch.ones(2), torch.tensor([1.0, 2.0])), (torch.ones(2), torch.ones(3)), ([1.0, 2.0], [1.0, 2.5]), ({"a": torch.ones(1)}, {"a": torch.zeros(1)}), (torch.ones(1), torch.ones(1).double()), ([1], [1, 2])):
    try: same(a, b)
    except AssertionError as error: print(str(error).split("\n"))
torch.manual_seed(0)
print(torch.testing.make_tensor((2, 3), dtype=torch.float32, device="cpu", low=0, high=1), torch.testing.make_tensor(3, dtype=torch.int64, device="cpu", low=0, high=9))
=>
...

## sparse matrices
import warnings; warnings.simplefilter('ignore')
i, v = torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0], requires_grad=True)
s, d = torch.sparse_coo_tensor(i, v, (2, 3)), torch.arange(6.0).reshape(3, 2).requires_grad_()
y = torch.sparse.mm(s, d); y.pow(2).sum().backward()
print(y, v.grad, d.grad, s.to_dense().detach(), s.shape)
e = torch.eye(3).to_sparse(); print(e.indices(), e.values(), e @ torch.ones(3, 2), (2 * e).to_dense())
print(torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (2, 2)).coalesce().values())
torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (2, 2)).values()
=>
...

## func
import warnings; warnings.simplefilter('ignore')
y, push = torch.func.linearize(torch.sin, torch.tensor([0.0, 1.0])); print(y, push(torch.ones(2)), push(torch.zeros(2)))
print(torch.func.functionalize(lambda x: x.clone().add_(1))(torch.zeros(2)))
torch.func.vmap(lambda x: print(torch.func.debug_unwrap(x)) or x)(torch.arange(2))
net = torch.nn.Sequential(torch.nn.BatchNorm1d(2)); torch.func.replace_all_batch_norm_modules_(net); print(net[0].running_mean, net[0].track_running_stats)
=>
...

## swap_tensors
a, b = torch.zeros(2), torch.nn.Parameter(torch.ones(2)); (b * 2).sum().backward()
torch.utils.swap_tensors(a, b); print(type(a).__name__, a.requires_grad, a.grad, b, b.grad)
(a * 3).sum().backward(); print(a.grad, b.requires_grad)
=>
...

## gradients that are scaled
scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
p = torch.nn.Parameter(torch.ones(2)); o = torch.optim.SGD([p], lr=0.1)
scaler.scale((p**2).sum()).backward(); scaler.unscale_(o); print(p.grad); scaler.step(o); scaler.update(); print(p.tolist(), scaler.get_scale())
o.zero_grad(); scaler.scale((p * float("inf")).sum()).backward(); scaler.step(o); scaler.update(); print(p.tolist(), scaler.state_dict())
off = torch.amp.GradScaler("cuda", enabled=False); print(off.is_enabled(), off.scale(torch.ones(1)), off.get_scale())
scaler.unscale_(o); scaler.unscale_(o)
=>
...

## autocast that is off, and modules of one device
with torch.amp.autocast("cpu", enabled=False): print((torch.ones(2, 2) @ torch.ones(2, 2)).dtype)
net = torch.nn.DataParallel(torch.nn.Linear(2, 2)); print(list(net.state_dict()), net(torch.ones(1, 2)).shape)
print(torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1)), torch.jit.is_scripting(), torch.accelerator.is_available(), torch.cuda.memory_allocated())
=>
...

## SparseAdam and Muon
e = torch.nn.Embedding(5, 2); e.weight.data.copy_(torch.arange(10.0).reshape(5, 2))
o = torch.optim.SparseAdam(e.parameters(), lr=0.1)
print(torch.optim.Muon([torch.nn.Parameter(torch.ones(2, 3))]).defaults["momentum"])
torch.optim.Muon([torch.nn.Parameter(torch.ones(2))])
=>
...
"""


@pytest.mark.parametrize("row", rows_of(TABLE), ids=str)
def test_programs_print_what_the_original_prints(row: Row, same: Any) -> None:
    same(row.program)


IMPORTED = """
torch.utils.data.dataloader DataLoader default_collate; torch.utils.data.sampler SubsetRandomSampler; torch.utils.data.dataset random_split
torch.nn.modules.conv Conv2d; torch.nn.modules.utils _pair; torch.nn.modules.loss MSELoss; torch.nn.modules.module Module
torch.autograd.graph GradientEdge; torch.autograd.grad_mode no_grad; torch.autograd.anomaly_mode detect_anomaly
torch.backends.cudnn benchmark; torch.backends.mkldnn is_available; torch.backends.mps is_available; torch.cuda.amp autocast GradScaler
torch.nn.attention SDPBackend sdpa_kernel; torch.nn.parallel DataParallel DistributedDataParallel; torch.profiler profile ProfilerActivity
torch.onnx export; torch.multiprocessing Process Queue; torch.utils.checkpoint create_selective_checkpoint_contexts CheckpointPolicy
torch.serialization safe_globals add_safe_globals; torch.utils.benchmark Timer Compare; torch.amp GradScaler; torch.hub load; torch.jit script
"""


@pytest.mark.parametrize("line", [x.strip() for x in IMPORTED.replace("\n", ";").split(";") if x.strip()])
def test_what_programs_import_is_there(line: str) -> None:
    module, *wanted = line.split()
    found = importlib.import_module(module.replace("torch", "funcgrad.torch", 1))
    assert all(hasattr(found, name) for name in wanted)


def test_each_entry_of_the_table_is_found_or_refuses() -> None:
    for path, entries in names.TABLE.items():
        module = sys.modules[f"funcgrad.torch.{path}"]
        assert dir(module)
        for name, entry in (entries if isinstance(entries, dict) else {}).items():
            found = getattr(module, name)
            if isinstance(entry, names.Refuses):
                with pytest.raises(NotImplementedError, match=rf"torch\.{path}\.{name}: ..."):
                    found()
            elif isinstance(entry, names.Gives):
                assert found(1, x=2) is entry.value
    with pytest.raises(AttributeError, match=r"torch\.onnx' has no attribute 'nothing'"):
        torch.onnx.nothing  # noqa: B018


def test_measurements() -> None:
    from funcgrad.torch.utils.benchmark import Compare, Timer

    found = [
        Timer("x + 1", globals={"x": 1}, label="sum", sub_label=name).blocked_autorange(min_run_time=0.002)
        for name in "ab"
    ]
    assert all(m.median > 0 and m.iqr >= 0 and "sum" in repr(m) for m in found)
    assert len(str(Compare(found)).splitlines()) == 3


def test_muon_steps_along_an_orthogonal_matrix() -> None:
    torch.manual_seed(0)
    w = torch.nn.Parameter(torch.randn(3, 4))
    before = w.detach().clone()
    optimizer = torch.optim.Muon([w], lr=0.1, weight_decay=0.0)
    (w**2).sum().backward()
    optimizer.step()
    values = torch.linalg.svdvals((before - w.detach()) / 0.1)
    assert ((values > 0.6) & (values < 1.3)).all()


def test_sparse_adam_leaves_other_rows_alone() -> None:
    table = torch.nn.Embedding(5, 2, sparse=True)
    before = table.weight.detach().clone()
    optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.1)
    table(torch.tensor([1, 3, 3])).sum().backward()
    optimizer.step()
    moved = (before - table.weight.detach()).tolist()
    assert [row == [0, 0] for row in moved] == [True, False, True, False, True]
    assert moved[1] == pytest.approx([0.1, 0.1], rel=1e-5)

"""An optimizer's state as a dict, interchangeable with PyTorch's: parameters numbered by groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import count
from typing import Any

import numpy as np

from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.tensors.tensor import Tensor, make_tensor

Groups = list[dict[str, Any]]


def packed(state: dict[Any, Any], param_groups: Groups) -> dict[str, Any]:
    """State and settings, with numbers for parameters."""
    numbers: dict[int, int] = {}
    fresh = count()
    groups = []
    for group in param_groups:
        for p in group["params"]:
            if id(p) not in numbers:
                numbers[id(p)] = next(fresh)
        groups.append(
            {k: v for k, v in group.items() if k != "params"}
            | {"params": [numbers[id(p)] for p in group["params"]]}
        )
    kept = {(numbers[id(p)] if isinstance(p, Tensor) else p): v for p, v in state.items()}
    return {"state": kept, "param_groups": groups}


def unpacked(state_dict: dict[str, Any], param_groups: Groups) -> tuple[defaultdict[Any, Any], Groups]:
    """The state, with parameters for numbers, and the groups with the saved settings."""
    saved = state_dict["param_groups"]
    if len(saved) != len(param_groups):
        raise ValueError("loaded state dict has a different number of parameter groups")
    if any(len(old["params"]) != len(new["params"]) for old, new in zip(param_groups, saved)):
        raise ValueError(
            "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
        )
    numbers = [n for group in saved for n in group["params"]]
    parameters = dict(zip(numbers, (p for group in param_groups for p in group["params"])))
    state: defaultdict[Any, Any] = defaultdict(dict)
    with no_grad():
        for n, entry in state_dict["state"].items():
            state[parameters.get(n, n)] = _converted(entry, parameters.get(n))
    return state, [_group(old, new) for old, new in zip(param_groups, saved)]


def _group(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    names = {"param_names": old["param_names"]} if "param_names" in old else {}
    return {k: v for k, v in new.items() if k != "param_names"} | names | {"params": old["params"]}


def _converted(value: Any, param: Any, key: Any = None) -> Any:
    """A copy of saved state, in the dtype of its parameter; the count of steps stays as it is."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = make_tensor(np.array(value))
    if isinstance(value, Tensor):
        if key == "step" or param is None or param.value.dtype.kind not in "fc":
            return value.detach().clone()
        return value.detach().to(param.dtype, copy=True)
    if isinstance(value, dict):
        return {k: _converted(v, param, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(_converted(v, param) for v in value)  # type: ignore[call-arg]
    return value

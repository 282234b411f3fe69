"""Parameter groups: what may be optimized, and with which settings."""

from __future__ import annotations

import warnings
from typing import Any

from funcgrad.torch.tensors.tensor import Tensor


class _Required:
    """The default of a setting that each group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def checked(param_group: Any, defaults: dict[str, Any], others: list[dict[str, Any]]) -> dict[str, Any]:
    """A parameter group as an optimizer keeps it; raises TypeError or ValueError for what it can't be."""
    if not isinstance(param_group, dict):
        raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
    given = param_group["params"]
    if isinstance(given, (set, frozenset)):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change "
            "between runs. Please use a list instead."
        )
    _put_parameters(param_group, [given] if isinstance(given, Tensor) else list(given))
    differentiable = param_group.get("differentiable", defaults.get("differentiable"))
    for p in param_group["params"]:
        _check_parameter(p, differentiable)
    for name, default in defaults.items():
        if default is required and name not in param_group:
            raise ValueError(
                f"parameter group didn't specify a value of required optimization parameter {name}"
            )
        param_group.setdefault(name, default)
    _check_apart(param_group, others)
    return param_group


def _put_parameters(group: dict[str, Any], given: list[Any]) -> None:
    """The parameters, and their names if they came as pairs."""
    named = [isinstance(p, tuple) for p in given]
    if any(named) and not all(named):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    if any(named):
        group["params"], group["param_names"] = [p for _, p in given], [name for name, _ in given]
    else:
        group["params"] = given


def _check_parameter(p: Any, differentiable: Any) -> None:
    if not isinstance(p, Tensor):
        raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
    if not differentiable and not (p.is_leaf or p.retains_grad):
        raise ValueError("can't optimize a non-leaf Tensor")


def _check_apart(group: dict[str, Any], others: list[dict[str, Any]]) -> None:
    mine = [id(p) for p in group["params"]]
    if len(set(mine)) < len(mine):
        warnings.warn(
            "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
            "github.com/pytorch/pytorch/issues/40967 for more information",
            stacklevel=5,
        )
    if set(mine) & {id(p) for other in others for p in other["params"]}:
        raise ValueError("some parameters appear in more than one parameter group")
    if others and ("param_names" in group) != ("param_names" in others[0]):
        have = "with names" if "param_names" in others[0] else "without names"
        raise ValueError(
            f"all optimizer param groups should be with/without names. The existing groups are {have}"
        )

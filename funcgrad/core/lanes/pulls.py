"""Pulls generated from a rule's formulas: small functions that give each what it names, and multiply."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from funcgrad.core.engine.cotangent import Masked
from funcgrad.core.memory.owned import scaled, scaled_by
from funcgrad.core.memory.plain import LARGE, loud, ndarray, quiet

if TYPE_CHECKING:
    from funcgrad.core.engine.kinds import Elementwise
    from funcgrad.core.engine.named import Named
    from funcgrad.core.engine.primitive import Primitive


def elementwise_pull(rule: Elementwise, name: str, slots: tuple[int, ...], keeps: tuple[str, ...]) -> Any:
    """`pull` as a small function of its own, source built from the partials' parameter names."""
    space: dict[str, Any] = {"scaled": scaled, "scaled_by": scaled_by, "ndarray": ndarray}
    lines, parts = [], []
    for i in slots:
        p = rule.partials[i]
        if p is None or p == 1:
            parts.append("None" if p is None else "ct")
            continue
        space[f"partial{i}"] = p
        if i in rule.applied:
            parts.append(f"partial{i}({', '.join(('ct', *rule.names[i]))})")
            continue
        value = f"partial{i}({', '.join(rule.names[i])})" if callable(p) else repr(p)
        if i == slots[-1] and "ct" not in parts:  # the last use of ct: its buffer may be overwritten
            # -ct is no product where a complex part is inf
            real = "" if callable(p) else " and ct.dtype.kind == 'f'"
            lines.append(f"if type(ct) is ndarray and ct.size >= {LARGE}{real}:")
            last = (
                f"scaled_by(ct, partial{i}, {', '.join(rule.names[i])})"
                if callable(p)
                else f"scaled(ct, {value})"
            )
            lines.append(f"    return ({', '.join([*parts, last])},)")
        parts.append("-ct" if p == -1 else f"ct * {value}")
    unpack = f"    ({', '.join(keeps)},) = saved\n" if keeps else ""
    body = "".join(f"    {line}\n" for line in lines)
    source = f"def pull(ct, saved):\n{unpack}{body}    return ({', '.join(parts)},)\n"
    exec(compile(source, f"<funcgrad pull of {name}>", "exec"), space)
    return space["pull"]


def general_pull(rule: Elementwise, slots: tuple[int, ...], keeps: tuple[str, ...]) -> Any:
    """The pull that takes no time to make."""

    def pull(ct: Any, saved: Any) -> list[Any]:
        values = dict(zip(keeps, saved, strict=True))
        parts: list[Any] = []
        for i in slots:
            partial = rule.partial(i, values)
            if type(partial) in (int, float) and partial in (1, -1):
                parts.append(ct if partial == 1 else -ct)
            else:
                parts.append(rule.times(ct, partial))
        return parts

    return pull


def masked_pull(rule: Elementwise, name: str, slots: tuple[int, ...], keeps: tuple[str, ...]) -> Any:
    """The same for a masked cotangent. Whatever a partial is where nothing is live does not matter."""
    space: dict[str, Any] = {"quiet": quiet, "loud": loud, "Masked": Masked}
    parts = []
    for i in slots:
        p = space[f"partial{i}"] = rule.partials[i]
        if i in rule.applied:
            parts.append(f"ct.like(partial{i}({', '.join(('ct.value', *rule.names[i]))}))")
        elif callable(p):
            parts.append(f"ct.like(ct.value * partial{i}({', '.join(rule.names[i])}))")
        elif p is not None and math.isfinite(p):  # type: ignore[arg-type]
            parts.append("Masked(ct.value, ct.live)" if p == 1 else f"Masked(ct.value * {p!r}, ct.live)")
        else:
            parts.append("None" if p is None else f"ct.like(ct.value * partial{i})")
    unpack = f"({', '.join(keeps)},) = saved" if keeps else "pass"
    lines = [
        "token = quiet()",
        "try:",
        f"    {unpack}",
        f"    return ({', '.join(parts)},)",
        "finally:",
        "    loud(token)",
    ]
    source = "def pull(ct, saved):\n" + "".join(f"    {line}\n" for line in lines)
    exec(compile(source, f"<funcgrad pull of {name}>", "exec"), space)
    return space["pull"]


def named_pull(
    rule: Named, primitive: Primitive, present: dict[str, Any], needed: Any, wanted: Any, general: Any
) -> Any:
    """The pull where every formula takes all that is saved, unsorted; `present` are the call's operands."""
    if all(name in present or name == "out" for name in needed):
        take = "".join(f"    {name} = saved[{name!r}]\n" for name in needed)
        arguments = {name: ", ".join(_arguments(rule.pulls[name], rule.names[name])) for name in wanted}
    else:  # what is not among the parameters of a call is not saved
        take, arguments = "", dict.fromkeys(wanted, "**saved")
    parts = [f"pull_{name}(ct, {arguments[name]})" for name in wanted]
    has_one = getattr(primitive.function, "nout", None) == 1  # output: a ufunc tells
    several = "" if has_one else "    if type(ct) is list:\n        return general(ct, saved)\n"
    source = f"def pull(ct, saved):\n{several}{take}    return ({', '.join(parts)},)\n"
    space: dict[str, Any] = {f"pull_{name}": rule.pulls[name] for name in wanted}
    space["general"] = general
    exec(compile(source, f"<funcgrad pull of {primitive.name}>", "exec"), space)
    return space["pull"]


def lane_save(needed: dict[str, bool], owners: list[str]) -> str:
    """What to save, as source for a lane whose operands are x and y (with node_x, node_y) and no params."""
    letters = dict(zip(owners, "xy")) | {"out": "out"}
    items = [(n, letters[n], spec_only) for n, spec_only in needed.items() if n in letters]
    return (
        "{"
        + ", ".join(
            f"'{n}': " + (f"node_{letter}.spec" if spec_only else letter) for n, letter, spec_only in items
        )
        + "}"
    )


def _arguments(formula: Any, names: tuple[str, ...]) -> list[str]:
    """How a formula is given what it names: by position, which is faster, where it takes that."""
    code = getattr(formula, "__code__", None)
    by_position = code is not None and code.co_varnames[: code.co_argcount][1:] == names
    return list(names) if by_position else [f"{name}={name}" for name in names]

"""The rule kinds whose formulas take the arguments of the call by name: Linear, Multilinear, Custom."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core.arrays.spec import spec
from funcgrad.core.engine.cotangent import Masked, dense, select
from funcgrad.core.engine.kinds import Formula, Plan, Rule, Unknown, at_first_pull, names_in, total
from funcgrad.core.engine.primitive import Call
from funcgrad.core.engine.trace import bind
from funcgrad.core.lanes.pulls import lane_save, named_pull
from funcgrad.core.memory.plain import ndarray
from funcgrad.errors import NonDifferentiableError
from funcgrad.typed import override

if TYPE_CHECKING:
    from funcgrad.core.engine.primitive import Primitive


Pulls = Formula | dict[str, Formula | Unknown | None]


class Named(Rule):
    """A rule whose formulas take arguments by the names of the call; the common part of the kinds below."""

    by_spec = False  # does a formula see only the Spec of the operand that it differentiates in?
    moves = False  # does it only move, copy and add up elements, so that zeros by structure can follow?
    repeats = False  # do its formulas take a cotangent that one small value stands for?
    reach: Formula | None = None  # how zeros by structure can follow where it does more

    def __init__(self, pulls: Pulls, push: Formula | None = None, joint: Formula | None = None) -> None:
        self.pulls: dict[str, Formula | Unknown | None] = pulls if isinstance(pulls, dict) else {"": pulls}
        self.push_formula, self.joint = push, joint
        self.names = {name: names_in(f) for name, f in self.pulls.items() if callable(f)}
        self.joint_names = names_in(joint) if joint else ()
        self.push_names = names_in(push) if push else ()

    @override
    def check(self, primitive: Primitive) -> None:
        if "" in self.pulls:  # one formula alone is for the first operand
            first = primitive.operand_names[0]
            self.pulls, self.names = {first: self.pulls[""]}, {first: self.names[""]}
        allowed = {*primitive.signature.parameters, *primitive.operand_names, "out", "wanted", "live"}
        for name in self.pulls:
            if name not in primitive.operand_names:
                raise ValueError(
                    f"{primitive.name}: a pull for {name!r}, which is not among {primitive.operand_names}"
                )
        for names in (*self.names.values(), self.joint_names):
            if primitive.open_ended is False and not set(names) <= allowed:
                raise ValueError(
                    f"{primitive.name}: unknown names {sorted(set(names) - allowed)} in a formula"
                )

    @override
    def plan(self, primitive: Primitive, slots: tuple[int, ...], call: Call) -> Plan:
        if "" in self.pulls:
            self.check(primitive)
        plan = Plan(primitive, slots)
        owners = _owners(call)
        wanted = tuple(dict.fromkeys(owners[i] for i in slots))
        self._check_known(primitive, wanted)
        needed = self._needed(wanted)
        plan.keeps = tuple(name for name, spec_only in needed.items() if not spec_only)
        plan.constants = tuple(i for i, name in enumerate(owners) if name in plan.keeps and i not in slots)
        plan.save = self._saver(primitive, call, needed)
        positions = [
            (owners[i], i - call.slots(owners[i]).start, owners[i] in primitive.lists) for i in slots
        ]
        plan.pull = general = lambda ct, saved: self._pulled(ct, saved, wanted, positions)
        is_joint = self._joint_for(wanted) is not None
        if not (is_joint or primitive.lists or any(set(self.names[n]) != set(needed) for n in wanted)):
            present = dict(call.layout)
            at_first_pull(
                plan, "pull", lambda: named_pull(self, primitive, present, needed, wanted, general), general
            )
        if self.repeats:
            plan.pull_foreign = lambda ct, saved: (plan.pull_masked if type(ct) is Masked else plan.pull)(
                ct, saved
            )
        plan.masks = self.moves or self.reach is not None
        if len(owners) <= 2 and not primitive.lists:
            plan.lane_save = lane_save(needed, owners)
        plan.pull_masked = lambda ct, saved: self._pulled_masked(ct, saved, wanted, positions)
        return plan

    def _joint_for(self, wanted: tuple[str, ...]) -> Formula | None:
        """`joint`, unless there is a formula for the one operand that is wanted."""
        return None if len(wanted) == 1 and self.pulls.get(wanted[0]) is not None else self.joint

    def _check_known(self, primitive: Primitive, wanted: Iterable[str]) -> None:
        """Refuse to differentiate in an operand in which there is no derivative."""
        for name in () if self.joint is not None else wanted:
            pull = self.pulls.get(name)
            if not callable(pull):
                operand = pull.operand if isinstance(pull, Unknown) else repr(name)
                raise NonDifferentiableError(
                    f"{primitive.title} has no known derivative with respect to {operand}, which depends on a tracer. "
                    "Use funcgrad.stop_gradient on it if its derivative is not meant to count."
                )

    def _needed(self, wanted: tuple[str, ...]) -> dict[str, bool]:
        """The names to save, and whether the Spec is enough."""
        if self._joint_for(wanted) is not None:
            return dict.fromkeys(self.joint_names, False)
        needed: dict[str, bool] = {}
        for slot in wanted:
            for name in self.names[slot]:
                needed[name] = needed.get(name, True) and self.by_spec and name == slot
        return needed

    def _saver(
        self, primitive: Primitive, call: Call, needed: dict[str, bool]
    ) -> Callable[[Call, Any], dict[str, Any]]:
        """The function that saves what is needed, by name."""
        present = dict(call.layout)
        single = [
            (n, call.slots(n).start, spec_only)
            for n, spec_only in needed.items()
            if present.get(n, 0) is None
        ]
        lists = [
            (n, call.slots(n), spec_only) for n, spec_only in needed.items() if present.get(n) is not None
        ]
        params = [n for n in needed if n not in present and n != "out"]
        wants_out = "out" in needed

        def save(call: Call, out: Any) -> dict[str, Any]:
            operands = call.operands
            saved = {n: spec(operands[i]) if spec_only else operands[i] for n, i, spec_only in single}
            for n, where, spec_only in lists:
                saved[n] = [spec(operands[i]) if spec_only else operands[i] for i in where]
            for n in params:
                if n in call.params:
                    value = call.params[n]
                    saved[n] = value.copy() if type(value) is ndarray else value
            if wants_out:
                saved["out"] = out
            return saved

        return save

    def _one(self, name: str, ct: Any, saved: dict[str, Any]) -> Any:
        formula = self.pulls[name]
        assert callable(formula)
        return formula(ct, **{n: saved[n] for n in self.names[name] if n in saved})

    def _pulled(self, ct: Any, saved: dict[str, Any], wanted: Any, positions: Any) -> list[Any]:
        # several outputs: a formula that names `live` gets their masks, None where all of one is live
        if type(ct) is list:
            saved = {**saved, "live": [c.live if type(c) is Masked else None for c in ct]}
            ct = [dense(c) for c in ct]
        joint = self._joint_for(wanted)
        if joint is not None:
            arguments = {n: saved[n] for n in self.joint_names if n in saved}
            if "wanted" in self.joint_names:
                arguments["wanted"] = wanted
            parts = dict(zip(self.pulls, joint(ct, **arguments), strict=True))
        else:
            parts = {name: self._one(name, ct, saved) for name in wanted}
        return [
            parts[name][k] if is_list and parts[name] is not None else parts[name]
            for name, k, is_list in positions
        ]

    def _pulled_masked(self, ct: Masked, saved: dict[str, Any], wanted: Any, positions: Any) -> list[Any]:
        return self._pulled(ct.value, saved, wanted, positions)

    @override
    def push(self, primitive: Primitive, call: Call, out: Any, tangents: dict[int, Any]) -> Any:
        if "" in self.pulls:
            self.check(primitive)
        owners = _owners(call)
        self._check_known(primitive, {owners[i] for i in tangents})
        return self._push(primitive, call, out, tangents)

    def _push(self, primitive: Primitive, call: Call, out: Any, tangents: dict[int, Any]) -> Any:
        raise NotImplementedError


def _owners(call: Call) -> list[str]:
    """The name of each operand, by position."""
    owners: list[str] = []
    for name, length in call.layout:
        owners += [name] * (1 if length is None else length)
    return owners


class Linear(Named):
    """Linear in all its operands together (as concatenate is): push is the function itself."""

    kind = "linear"
    by_spec = True

    def __init__(self, pulls: Pulls, *, moves: bool = False) -> None:
        super().__init__(pulls)
        self.moves = moves

    @override
    def _pulled_masked(self, ct: Masked, saved: dict[str, Any], wanted: Any, positions: Any) -> list[Any]:
        if not self.moves:
            return self._pulled(ct.value, saved, wanted, positions)
        return ct.through(lambda c: self._pulled(c, saved, wanted, positions))

    @override
    def _push(self, primitive: Primitive, call: Call, out: Any, tangents: dict[int, Any]) -> Any:
        if self.moves and any(type(t) is Masked for t in tangents.values()):
            value = self._pushed(primitive, call, {i: dense(t) for i, t in tangents.items()})
            lives = {i: t.live * 1.0 if type(t) is Masked else np.ones(t.shape) for i, t in tangents.items()}
            return Masked(value, self._pushed(primitive, call, lives) != 0)
        return self._pushed(primitive, call, {i: dense(t) for i, t in tangents.items()})

    def _pushed(self, primitive: Primitive, call: Call, tangents: dict[int, Any]) -> Any:
        owners = _owners(call)
        operands = [
            tangents[i]
            if i in tangents
            else np.zeros(spec(x).shape, np.float32)
            if owners[i] in self.pulls
            else x
            for i, x in enumerate(call.operands)
        ]
        return bind(primitive, call.with_operands(operands))


class Multilinear(Named):
    """Linear in each operand: push replaces one operand at a time, pull transposes one at a time."""

    kind = "multilinear"
    by_spec = True

    @override
    def _push(self, primitive: Primitive, call: Call, out: Any, tangents: dict[int, Any]) -> Any:
        terms = []
        for i, t in tangents.items():
            operands = list(call.operands)
            operands[i] = dense(t)
            terms.append(bind(primitive, call.with_operands(operands)))
        return total(terms, out)


class Custom(Named):
    """A pull of its own; push is given, or derived by transposing pull (which is linear in the cotangent).

    `reach` sends weights of outputs to the elements of the first operand that they depend on (as the pull of
    a sum does): so zeros by structure can follow, as in the rows of a reduction along an axis.
    """

    kind = "custom"

    def __init__(
        self,
        pulls: Pulls,
        push: Formula | None = None,
        joint: Formula | None = None,
        reach: Formula | None = None,
    ) -> None:
        super().__init__(pulls, push, joint)
        self.reach, self.reach_names = reach, names_in(reach) if reach else ()

    @override
    def _needed(self, wanted: tuple[str, ...]) -> dict[str, bool]:
        return {**super()._needed(wanted), **dict.fromkeys(self.reach_names, False)}

    @override
    def _pulled_masked(self, ct: Masked, saved: dict[str, Any], wanted: Any, positions: Any) -> list[Any]:
        if self.reach is None:
            return self._pulled(ct.value, saved, wanted, positions)
        with np.errstate(all="ignore"):
            parts = self._pulled(ct.value, saved, wanted, positions)
        first = next(iter(self.pulls))
        live = dense(self.reach(ct.live * 1.0, **{n: saved[n] for n in self.reach_names if n in saved})) != 0
        return [
            _limited(part, live) if name == first and part is not None else part
            for part, (name, _, _) in zip(parts, positions, strict=True)
        ]

    @property
    @override
    def pushes(self) -> bool:
        """Is there a push of its own?"""
        return self.push_formula is not None

    @override
    def _push(self, primitive: Primitive, call: Call, out: Any, tangents: dict[int, Any]) -> Any:
        assert self.push_formula is not None
        values = [dense(tangents.get(i)) for i in range(len(call.operands))]
        named = {**call.named(call.operands), **call.params, "out": out}
        t = call.named(values)
        argument = t if len(self.pulls) > 1 else t[next(iter(self.pulls))]
        return self.push_formula(argument, **{n: named[n] for n in self.push_names if n in named})


def _limited(part: Any, live: Any) -> Masked:
    """`part` where `live`, zero by structure elsewhere, and where it was so before."""
    return select(np.logical_and(live, part.live), part.value) if type(part) is Masked else select(live, part)

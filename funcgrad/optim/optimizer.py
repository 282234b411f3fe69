"""Optimizers as pure functions: `init` makes a state, `update` gives the next parameters and the next state."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, NamedTuple

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import CotangentError, NonDifferentiableError
from funcgrad.optim.leaves import is_plain, update_in_place, updated
from funcgrad.optim.rules import UpdateRule, check


class State(NamedTuple):
    """What an optimizer keeps between two updates; a pytree.

    `step` counts the updates made. `slots` has, under their names, trees of arrays like the parameters;
    `numbers` has what is kept once.
    """

    step: int
    slots: dict[str, Any]
    numbers: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Optimizer:
    """Base of the optimizers. Parameters are pytrees of floating-point or complex arrays.

    Each hyperparameter may be a number, or a schedule: a function of the number of updates made so far (0 at
    first) that gives a number. Numbers that are tracers are differentiated like everything else.
    """

    rule: ClassVar[UpdateRule]

    def __post_init__(self) -> None:
        check(vars(self))

    def init(self, params: Any) -> State:
        """The state to begin with: arrays of the shapes and dtypes of `params`.

        Raises NonDifferentiableError for parameters that are no floating-point or complex numbers.

        >>> from funcgrad import optim
        >>> optim.SGD(lr=0.1, momentum=0.9).init({"w": np.ones(2)})
        State(step=0, slots={'momentum_buffer': {'w': array([0., 0.])}}, numbers={})
        """
        h = self._at(0)
        leaves, structure = self._parameters(params)
        start = self.rule.start(h)
        slots = {
            name: tree.unflatten(structure, [_filled_like(x, start.get(name, 0)) for x in leaves])
            for name in self.rule.slots(h)
        }
        return State(0, slots, dict(self.rule.carried(h)))

    def update(self, gradients: Any, state: State, params: Any) -> tuple[Any, State]:
        """The next parameters and the next state; what is given is left alone.

        `gradients` is a tree like `params`, as `grad` gives it: for complex parameters the step is along its
        conjugate, which descends. The new parameters have the dtypes of the old ones. Everything may be a
        tracer: an update can be differentiated. Raises ValueError if the trees do not match, CotangentError
        if shapes do not.

        >>> from funcgrad import grad, optim
        >>> def loss(w):
        ...     return np.sum((w - 3.0) ** 2)
        >>> optimizer, w = optim.Adam(lr=0.5), np.zeros(2)
        >>> state = optimizer.init(w)
        >>> for _ in range(200):
        ...     w, state = optimizer.update(grad(loss)(w), state, w)
        >>> np.round(w, 2)
        array([3., 3.])

        A gradient through an update, with respect to the learning rate:

        >>> def after_one_step(lr):
        ...     optimizer, w = optim.SGD(lr), np.zeros(2)
        ...     return loss(optimizer.update(grad(loss)(w), optimizer.init(w), w)[0])
        >>> round(float(grad(after_one_step)(0.1)), 6)
        -57.6
        """
        h, rule = self._at(state.step), self.rule
        leaves, structure = self._parameters(params)
        columns = self._columns(structure, gradients, state, rule.slots(h))
        k, numbers = rule.numbers(h, state.step + 1, state.numbers)
        plain = all(map(is_plain, tree.leaves(h))) and all(map(is_plain, tree.leaves(state.numbers)))
        with np.errstate(all="ignore"):
            rows = [_next(self, k, x, row, plain) for x, *row in zip(leaves, *columns)]
        results = (
            [tree.unflatten(structure, list(column)) for column in zip(*rows)]
            if rows
            else [params] * len(columns)
        )
        return results[0], State(state.step + 1, dict(zip(rule.slots(h), results[1:])), numbers)

    def update_in_place(self, gradients: Any, state: State, params: Any) -> State:
        """`update` in place, written into `params` and `state`, without allocating; returns the next state.

        Raises TypeError unless they are writable NumPy arrays.

        >>> from funcgrad import optim
        >>> optimizer, w = optim.SGD(lr=0.5), np.ones(3)
        >>> state = optimizer.update_in_place(np.array([0.0, 1.0, 2.0]), optimizer.init(w), w)
        >>> w
        array([1. , 0.5, 0. ])
        """
        h, rule = self._at(state.step), self.rule
        leaves, structure = self._parameters(params)
        columns = self._columns(structure, gradients, state, rule.slots(h))
        k, numbers = rule.numbers(h, state.step + 1, state.numbers)
        for x, y, *slots in zip(leaves, *columns):
            for array in (x, *slots):
                if type(array) is not np.ndarray or not array.flags.writeable:
                    raise TypeError(
                        f"optim.{type(self).__name__}.update_in_place: parameters and state must be writable NumPy arrays, "
                        f"found {type(array).__name__}. Call update, which makes new ones."
                    )
            with np.errstate(all="ignore"):
                update_in_place(rule.kernel, x, _gradient(self, x, y), tuple(slots), k)
        return State(state.step + 1, state.slots, numbers)

    def _at(self, step: Any) -> dict[str, Any]:
        """The hyperparameters of an update; schedules are asked."""
        return {name: _asked(x, step) for name, x in vars(self).items()}

    def _parameters(self, params: Any) -> tuple[list[Any], tree.Structure]:
        pairs, structure = tree.flatten_with_path(params)
        leaves = [
            x if hasattr(x, "dtype") else np.asarray(x, float if isinstance(x, int) else None)[()]
            for _, x in pairs
        ]
        for (path, _), x in zip(pairs, leaves):
            if x.dtype.kind not in "fc":
                raise NonDifferentiableError(
                    f"optim.{type(self).__name__}: params{tree.keystr(path)} has dtype {x.dtype}, and only floating-point or "
                    "complex numbers can be optimized. Write x.astype(float), or keep it out of params."
                )
        return leaves, structure

    def _columns(
        self, structure: Any, gradients: Any, state: State, names: tuple[str, ...]
    ) -> list[list[Any]]:
        """Gradients and slots, as lists of leaves."""
        missing = [name for name in names if name not in state.slots]
        if missing:
            raise ValueError(
                f"optim.{type(self).__name__}.update: the state has no {', '.join(missing)}. "
                "Make it with the init of the same optimizer."
            )
        trees = [("gradients", gradients), *((f"state.slots['{name}']", state.slots[name]) for name in names)]
        return [tree.flatten_like(structure, part, what=what) for what, part in trees]


def _asked(x: Any, step: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(_asked(each, step) for each in x)
    return x(step) if callable(x) and not isinstance(x, Tracer) else x


def _filled_like(x: Any, number: Any) -> Any:
    """An array like `x`, filled; a complex one has the number as real and as imaginary part."""
    return np.zeros(x.shape, x.dtype) + (number * (1 + 1j) if x.dtype.kind == "c" else number)


def _gradient(self: Optimizer, x: Any, y: Any) -> Any:
    """The gradient of `x`, in its dtype, conjugated."""
    y = y if hasattr(y, "dtype") else np.asarray(y)
    if y.shape != x.shape:
        raise CotangentError(
            f"optim.{type(self).__name__}.update: a gradient has shape {y.shape}, its parameter {x.shape}; they must be the same"
        )
    y = y if y.dtype == x.dtype else y.astype(x.dtype)
    return y.conj() if x.dtype.kind == "c" else y


def _next(self: Optimizer, k: Any, x: Any, row: list[Any], plain: bool) -> tuple[Any, ...]:
    """The next values of one parameter and of its slots."""
    y, slots = _gradient(self, x, row[0]), row[1:]
    if not (plain and all(map(is_plain, (x, y, *slots)))):
        return updated(self.rule.kernel, x, y, tuple(slots), k)
    arrays = [np.array(z) for z in (x, *slots)]
    update_in_place(self.rule.kernel, arrays[0], np.asarray(y), tuple(arrays[1:]), k)
    return tuple(new if type(old) is np.ndarray else new[()] for new, old in zip(arrays, (x, *slots)))

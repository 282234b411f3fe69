"""Ufuncs as primitives: operands x, y, z; options out=, where=, dtype=; methods reduce, outer, ..."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from funcgrad.core.arrays import folds
from funcgrad.core.arrays.arguments import TAKEN, as_operand, out_refused
from funcgrad.core.arrays.foreign import OwnOperation, check_number, is_labelled, takes_over
from funcgrad.core.arrays.methods import BINARY, RUNNERS, astype
from funcgrad.core.engine.batch import is_batched
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.kinds import OPERANDS, Rule
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.trace import RUNNING, Tracer, concrete, is_foreign
from funcgrad.core.lanes.batch import at_once
from funcgrad.core.memory.orders import example, in_order
from funcgrad.core.memory.plain import is_finite, loud, quiet
from funcgrad.core.memory.views import clash
from funcgrad.errors import NonDifferentiableError, TracerWriteError, UnsupportedFunctionError, user_line
from funcgrad.typed import override

# ufunc.reduce and ufunc.accumulate are these functions, which have rules of their own.
REDUCTIONS = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min,
    np.fmax: np.nanmax, np.fmin: np.nanmin, np.logical_and: np.all, np.logical_or: np.any,
}  # fmt: skip
# People write these as operators, which round otherwise than the ufuncs do: of numbers, `x ** y` is C's pow,
# and np.power is not.
OPERATORS = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.divide: operator.truediv,
    np.power: operator.pow, np.absolute: abs,
}  # fmt: skip
_NUMBERS = frozenset([np.float64, np.float32, np.complex128, np.complex64, float, int, np.ndarray])
ACCUMULATIONS = {np.add: np.cumsum, np.multiply: np.cumprod}


NAMES = {ufunc: name for name, ufunc in BINARY.items()}  # of the operators
_OUT_AND_WHERE = {"out", "where"}
OPTIONS = (
    "/, out=None, *, where=True, dtype=None, casting=None, order='K', subok=True, signature=None, axes=None, axis=None, "
    "keepdims=None"
)


class Ufunc(Primitive):
    """A ufunc."""

    def __init__(
        self, function: np.ufunc, rule: Rule, *, batch: Any = None, name: str | None = None, note: str = ""
    ) -> None:
        names = (
            OPERANDS[: function.nin]
            if function.nin <= len(OPERANDS)
            else tuple(f"x{i}" for i in range(function.nin))
        )
        signature = f"{', '.join(names)}, {OPTIONS}"
        options = {"batch": batch, "name": name, "note": note, "axis": "as is"}
        super().__init__(function, rule, operands=" ".join(names), signature=signature, **options)
        self.layout = tuple((name, None) for name in self.operand_names)

    @cached_property
    def at_once(self) -> Callable[..., Any]:
        """What runs a call without keywords on plain arrays inside one vmap; its result is None otherwise."""
        return at_once(self)

    def general(self, *operands: Any) -> Any:
        """The general lane, for a call without keywords."""
        try:
            return super().__call__(*operands)
        except OwnOperation as own:
            return own.answer("__array_ufunc__", self.function, "__call__", *operands)
        except NonDifferentiableError:
            answer = self._answered(*operands) if len(operands) == 2 else NotImplemented
            if answer is NotImplemented:
                raise
            return answer

    def _answered(self, x: Any, y: Any) -> Any:
        """What an object that is no array makes of the tracer before it: `y.__rmul__(x)`."""
        name = NAMES.get(self.function)
        if name is None or not isinstance(x, Tracer) or not takes_over(y, name, x):
            return NotImplemented
        return getattr(y, f"__r{name}__")(x)

    @override
    def split(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
        """Bind `args`; there are no params, since the options are taken apart in `__call__`."""
        if len(args) != len(self.layout):
            raise TypeError(
                f"np.{self.name} takes {len(self.layout)} operands, but {len(args)} were given at {user_line()}"
            )
        return Call([x if type(x) in TAKEN else self._operand(x) for x in args], self.layout, {})

    def _operand(self, x: Any) -> Any:
        """An operand, whose labels (if it has any) do not count."""
        if isinstance(x, Tracer):
            return as_operand(x)
        if (
            is_labelled(x, elementwise=self.function.signature is None)
            and (trace := RUNNING.get()) is not None
        ):
            trace.has_series = True
        x = as_operand(x)
        check_number(x, self.function)
        return x

    @override
    def run(self, call: Call) -> Any:
        """The operator, where there is one, else the ufunc."""
        operate, kinds = OPERATORS.get(self.function), [*map(type, call.operands)]
        if operate is None or not (_NUMBERS.issuperset(kinds) or complex in kinds and np.complex128 in kinds):
            return super().run(call)
        return operate(*call.operands)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and len(args) == len(self.layout):
            out = self.at_once(*args)
            return self.general(*args) if out is None else out
        if kwargs.keys() <= _OUT_AND_WHERE and len(args) == len(self.layout) and self.function.nout == 1:
            return self._into(
                self._at(kwargs.get("where", True), args), kwargs.get("out"), kwargs.get("where", True)
            )
        options = {
            k: v for k, v in self.bind_arguments(*args, **kwargs).items() if k not in self.operand_names
        }
        operands = args[: len(self.layout)]
        if options["signature"] is not None:
            raise UnsupportedFunctionError(
                f"np.{self.name} with signature= at {user_line()} has no rule: write dtype= instead."
            )
        if any(options[k] is not None for k in ("axes", "axis", "keepdims")):
            return self._along(operands, kwargs)
        if options["dtype"] is not None or options["casting"] is not None:
            self._check_casts(operands, options)
        if options["dtype"] is not None:
            operands = tuple(CATALOGUE[astype](as_array(x), np.dtype(options["dtype"])) for x in operands)
        result, out = self._at(options["where"], operands), options["out"]
        if options["order"] not in ("K", None) and out is None:
            result = _in_order(result, operands, options["order"])
        if self.function.nout > 1:
            return self._delivered_each(result, out, options)
        return self._into(result, out, options["where"], options["casting"] or "same_kind")

    def _into(self, result: Any, out: Any, where: Any, casting: str = "same_kind") -> Any:
        """The one `result` of a call with these options."""
        out = out[0] if isinstance(out, tuple) else out
        if where is not True:
            result = CATALOGUE[np.where](where, result, 0 if out is None else out)
        return delivered(result, out, self.name, casting)

    def _at(self, where: Any, operands: Sequence[Any]) -> Any:
        """The call on all elements. As NumPy does, it warns only of what happens at `where`."""
        lane = RUNNERS[self.function]
        if where is True:
            return lane(*operands)
        token = quiet()
        try:
            result = lane(*operands)
        finally:
            loud(token)
        is_known = type(concrete(result)) in (np.ndarray, np.float64) and not any(
            map(is_batched, (*operands, where))
        )
        if is_known and not is_finite(concrete(result)):
            self.function(
                *(concrete(as_operand(x)) for x in operands),
                where=np.asarray(concrete(where), bool),
                out=None,
            )
        return result

    def _check_casts(self, operands: Sequence[Any], options: dict[str, Any]) -> None:
        """NumPy's own refusal of an unfit dtype= or casting=: it is asked on arrays without elements."""
        if self.function.signature is None:
            requested = {k: options[k] for k in ("dtype", "casting") if options[k] is not None}
            dtypes = [
                x if isinstance(x, (bool, int, float, complex)) else as_array(x).dtype for x in operands
            ]
            self.function(*(np.empty(0, d) if isinstance(d, np.dtype) else d for d in dtypes), **requested)

    def _delivered_each(self, results: Sequence[Any], outs: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        if options["where"] is not True:
            raise UnsupportedFunctionError(
                f"np.{self.name} with where= at {user_line()} has no rule: use np.where."
            )
        outs = outs or (None,) * len(results)
        if clash(*outs):
            raise TracerWriteError(
                f"out= of np.{self.name} at {user_line()} names two arrays that overlap in memory: NumPy leaves open which "
                "result stays. Leave out= away, and assign the results."
            )
        pairs = [*zip(results, outs, strict=True)]
        # of one array, the first result stays
        return tuple(delivered(*pair, self.name) for pair in pairs[::-1])[::-1]

    def _along(self, operands: Sequence[Any], options: dict[str, Any]) -> Any:
        """A generalised ufunc (matmul, vecdot) along other axes than the last: moved there, and back."""
        options = dict(options)
        axes, axis, keepdims = (options.pop(k, None) for k in ("axes", "axis", "keepdims"))
        takes = (
            self.function.signature is not None
            if axes is not None
            else str(self.function.signature).endswith("->()")
        )
        if not takes or (axes is not None and axis is not None):
            raise TypeError(
                f"np.{self.name} at {user_line()} does not take these of axis=, axes=, keepdims=. Move the axes first."
            )
        if axes is None:
            axes = [-1 if axis is None else axis] * len(operands)
        axes = [(a,) if isinstance(a, (int, np.integer)) else tuple(a) for a in axes]
        moved = [np.moveaxis(as_array(x), a, range(-len(a), 0)) for x, a in zip(operands, axes)]
        result = self(*moved, **options)
        if keepdims:
            return np.expand_dims(result, axes[0][0])
        back = axes[len(operands)] if len(axes) > len(operands) else ()
        return np.moveaxis(result, range(-len(back), 0), back) if back else result

    def method(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """ufunc.reduce, .accumulate, .reduceat, .at, .outer. (NumPy has checked that the method exists.)"""
        if method in FOLDS:
            return self._fold(method, *args, **kwargs)
        if method == "at":
            return CATALOGUE[np.ufunc.at](self, *args)
        x, y = (as_array(a) for a in args)
        return self(x.reshape(x.shape + (1,) * y.ndim), y, **kwargs)

    def _fold(self, method: str, *args: Any, **kwargs: Any) -> Any:
        options = inspect.signature(FOLDS[method]).bind(self.function, *args, **kwargs).arguments
        positional = [options.pop(name) for name in ("ufunc", "array", "indices") if name in options]
        out = options.pop("out", None)
        if method != "reduce" and np.ndim(positional[1]) == 0:
            raise TypeError(f"np.{self.name}.{method}: cannot {method} on a scalar")
        if options.get("dtype", 0) is None:
            del options["dtype"]
        known = {"reduce": REDUCTIONS, "accumulate": ACCUMULATIONS}.get(method, {})
        if self.function in known:
            result = CATALOGUE[known[self.function]](positional[1], **{"axis": 0, **options})
        else:
            result = FOLDS[method](*positional, **options)
        return delivered(
            result, out[0] if isinstance(out, tuple) else out, f"{self.name}.{method}", "unsafe", is_fold=True
        )


FOLDS = {"reduce": folds.reduce, "accumulate": folds.accumulate, "reduceat": folds.reduceat}


def _in_order(result: Any, operands: Sequence[Any], order: str) -> Any:
    """`result` (or each of several) in the memory order asked for ("A": Fortran's if all operands are)."""
    if isinstance(result, tuple):
        return tuple(_in_order(x, operands, order) for x in result)
    is_fortran = order == "F" or order == "A" and all(example(as_array(x)).flags.fnc for x in operands)
    return in_order(result, range(np.ndim(result))[:: -1 if is_fortran else 1])


def delivered(result: Any, out: Any, name: str, casting: Any = "same_kind", *, is_fold: bool = False) -> Any:
    """`result` as a call with this out= gives it: a tracer is written into (by a fold, in the same shape)."""
    if out is None:
        return result
    if not isinstance(out, Tracer):
        raise out_refused(name)
    shape = np.shape(result)
    if shape == out.shape and getattr(result, "dtype", None) == out.dtype and result is not out:
        out[...] = result
        return out
    if shape != out.shape and (is_fold or np.broadcast_shapes(shape, out.shape) != out.shape):
        raise ValueError(
            f"non-broadcastable output operand with shape {out.shape} doesn't match the shape {shape} of np.{name}"
        )
    CATALOGUE[np.copyto](out, result, casting)
    return out


def as_result(x: Any) -> Any:
    """`x` as most functions return it: without axes, it is a scalar, which can't be written to."""
    return x if np.ndim(x) else x[()]


def as_array(x: Any) -> Any:
    """`x` as an array or tracer."""
    x = as_operand(x)
    return x if isinstance(x, Tracer) or is_foreign(x) else np.asarray(x)

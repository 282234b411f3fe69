"""Functions with a derivative of one's own, in autograd's way: `primitive`, and the verbs that give it rules.

A primitive is one step for funcgrad's engine. Its rule for cotangents is asked when the sweep comes by, with
the values of the call; a rule for tangents, if there is one, when they are pushed. Where only one of them is
given, the other direction is its transpose.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compat.autograd.spaces import vspace
from funcgrad.core.engine.primitive import Call
from funcgrad.core.engine.trace import Trace, Tracer, bind, concrete
from funcgrad.transforms.custom_calls import Arguments, CustomCall, leaves_like
from funcgrad.transforms.opaque import Outputs, PullCall, PushCall, flat_call, stripped

Maker = Callable[..., Any]
# By primitive: (argnums, ans, args, kwargs) -> (g -> cotangents), or (argnums, gs, ...) -> tangent.
primitive_vjps: dict[Any, Maker] = {}
primitive_jvps: dict[Any, Maker] = {}


def getval(x: Any) -> Any:
    """The plain value of `x`, beneath all transforms; of a tree, with plain leaves."""
    if isinstance(x, Tracer):
        return concrete(x)
    return tree.map(concrete, x) if isinstance(x, (list, tuple, dict)) else x


def isbox(x: Any) -> bool:
    """Is `x` an array that a transform watches?"""
    return isinstance(x, Tracer)


def is_traced(x: Any) -> bool:
    """Is `x`, or a leaf of it, watched?"""
    return (
        isinstance(x, Tracer)
        or isinstance(x, (list, tuple, dict))
        and any(isinstance(v, Tracer) for v in tree.leaves(x))
    )


class PrimitiveCall(CustomCall, PullCall):
    """One call of a primitive."""

    is_linear = False

    def __init__(self, function: Any, arguments: Arguments, kwargs: dict[str, Any]) -> None:
        super().__init__(function, arguments)
        self.kwargs = kwargs
        self.key = function.wrapper

    def run(self, call: Call) -> list[Any]:
        """The function itself."""
        return self.flat(self.function.fun(*self.arguments.rebuilt(call.operands), **self.kwargs))

    def fwd(self, operands: Sequence[Any], slots: Sequence[int], trace: Trace) -> Outputs:
        if self.key not in primitive_vjps:
            if self.key in primitive_jvps:
                return PushCall.fwd(self, operands, slots, trace)  # type: ignore[arg-type]
            raise NotImplementedError(
                f"The derivative of {self.function.name}, called with a watched argument {self._numbers(slots)}, is not "
                f"known: give it with defvjp({self.function.name}, ...)"
            )
        args = self.arguments.rebuilt(operands)
        ans = self.key(*args, **self.kwargs)
        return self.flat(ans), stripped(trace, (ans, args))

    def bwd(self, residuals: Any, cts: Sequence[Any], slots: Sequence[int]) -> Sequence[Any]:
        if self.key not in primitive_vjps:
            return residuals.pull(cts)
        (ans, args), numbers = residuals, self._numbers(slots)
        results = primitive_vjps[self.key](numbers, ans, tuple(args), self.kwargs)(self.filled(cts))
        by_number = dict(zip(numbers, results, strict=True))
        found: list[Any] = []
        for i, structure in enumerate(self.arguments.structures):
            what = f"{self.function.name}: the cotangent that its rule returned for argument {i}"
            found += leaves_like(structure, by_number.get(i), what)
        return [self._fitted(found[i], i) for i in slots]

    def jvp(self, operands: Sequence[Any], tangents: dict[int, Any], trace: Trace) -> Outputs:
        if self.key not in primitive_jvps:
            return PullCall.jvp(self, operands, tangents, trace)
        args = self.arguments.rebuilt(operands)
        ans = self.key(*args, **self.kwargs)
        specs = self.arguments.specs
        zeros = [
            None if s is None else np.zeros(s.shape, s.dtype if s.dtype.kind in "fc" else float)
            for s in specs
        ]
        parts = self.arguments.split([tangents.get(i, zero) for i, zero in enumerate(zeros)])
        numbers = self._numbers(tangents)
        gs = tuple(tree.unflatten(self.arguments.structures[n], parts[n]) for n in numbers)
        outs = self.flat(ans)
        t = primitive_jvps[self.key](numbers, gs, ans, tuple(args), self.kwargs)
        return outs, leaves_like(
            self.structure, t, f"{self.function.name}: the tangent that its rule returned"
        )

    def _numbers(self, slots: Any) -> tuple[int, ...]:
        """The arguments that the leaves in `slots` belong to."""
        owners = [
            n for n, structure in enumerate(self.arguments.structures) for _ in range(structure.num_leaves)
        ]
        return tuple(dict.fromkeys(owners[i] for i in slots))

    def _fitted(self, part: Any, slot: int) -> Any:
        """A cotangent of its operand's shape and dtype; rules may return a number for one element."""
        to = self.arguments.specs[slot]
        if part is None or to is None:
            return None
        if np.shape(part) != to.shape:
            part = np.reshape(part, to.shape) if np.size(part) == to.size else np.broadcast_to(part, to.shape)
        part = part if hasattr(part, "dtype") else np.asarray(part)
        if part.dtype.kind == "c" and to.dtype.kind != "c":
            part = np.real(part)
        return part if part.dtype == to.dtype else part.astype(to.dtype)


class _Function:
    """What a primitive's calls know of it."""

    def __init__(self, fun: Any, wrapper: Any) -> None:
        self.fun, self.wrapper = fun, wrapper
        self.name = self.title = getattr(fun, "__name__", type(fun).__name__)


def primitive(fun: Callable[..., Any]) -> Any:
    """`fun` as a step of its own, whose derivative is given by `defvjp` or `defjvp`. Also a decorator.

    Its positional arguments may be arrays or trees of them; whatever else it takes, by position or by
    keyword, it gets as it is.

    >>> import numpy as np
    >>> from funcgrad.compat.autograd import grad
    >>> from funcgrad.compat.autograd.extend import defvjp, primitive
    >>> @primitive
    ... def square(x):
    ...     return x * x
    >>> defvjp(square, lambda ans, x: lambda g: g * 2 * x)
    >>> float(grad(square)(3.0))
    6.0
    """

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        plain = tuple(i for i, x in enumerate(args) if not is_traced(x))
        if len(plain) == len(args):
            return fun(*args, **kwargs)
        arguments, leaves = Arguments.of(args, plain)
        call = PrimitiveCall(function, arguments, kwargs)
        outs = bind(call, flat_call(leaves))
        return tree.unflatten(call.structure, outs)

    try:
        functools.update_wrapper(wrapped, fun)
    except (AttributeError, TypeError):
        wrapped.__name__ = getattr(fun, "__name__", type(fun).__name__)
    function = _Function(fun, wrapped)
    made: Any = wrapped
    made.fun, made._is_autograd_primitive = fun, True
    made.defvjp, made.defvjp_is_zero, made.defgrad = (
        functools.partial(f, made) for f in (_vjp_of, _zero_of, _grad_of)
    )
    return made


def notrace_primitive(fun: Callable[..., Any]) -> Any:
    """`fun`, which is called on plain values: no derivative goes through it."""

    @functools.wraps(fun)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return fun(*map(getval, args), **kwargs)

    wrapped._is_primitive = True  # type: ignore[attr-defined]
    return wrapped


def register_notrace(trace_type: type, primitive_fun: Any) -> None:
    """No derivative goes through `primitive_fun` in the direction of `trace_type` (VJPNode or JVPNode)."""
    if issubclass(trace_type, VJPNode):
        primitive_vjps[primitive_fun] = lambda argnums, *rest: lambda g: (None,) * len(argnums)
    if issubclass(trace_type, JVPNode):
        primitive_jvps[primitive_fun] = lambda argnums, gs, ans, args, kwargs: None


class Node:
    """What a tracer of one's own remembers of a call: see `tracer.trace`."""

    __slots__ = ()

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        raise NotImplementedError("a Node is subclassed: __init__ records a call, initialize_root begins")

    def initialize_root(self, *args: Any, **kwargs: Any) -> None:
        """Set up the node of the input."""
        raise NotImplementedError

    @classmethod
    def new_root(cls, *args: Any, **kwargs: Any) -> Any:
        """The node of the input."""
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root


class VJPNode(Node):
    """Stands for reverse mode, in `register_notrace`."""


class JVPNode(Node):
    """Stands for forward mode, in `register_notrace`."""


# ---- rules -----------------------------------------------------------------------------------------------------------


def defvjp_argnums(fun: Any, vjpmaker: Maker) -> None:
    """`vjpmaker(argnums, ans, args, kwargs)` gives a function of the cotangent: one result per argnum."""
    primitive_vjps[fun] = vjpmaker


def defvjp_argnum(fun: Any, vjpmaker: Maker) -> None:
    """`vjpmaker(argnum, ans, args, kwargs)` gives the function of the cotangent for one argument."""

    def of_all(argnums: Sequence[int], ans: Any, args: Any, kwargs: Any) -> Any:
        pulls = [vjpmaker(n, ans, args, kwargs) for n in argnums]
        return lambda g: tuple(pull(g) for pull in pulls)

    primitive_vjps[fun] = of_all


def defvjp(fun: Any, *vjpmakers: Maker | None, argnums: Sequence[int] | None = None) -> None:
    """For each argument (or of `argnums`) `maker(ans, *args, **kwargs)`, a function of the cotangent."""
    makers = dict(zip(range(len(vjpmakers)) if argnums is None else argnums, vjpmakers, strict=False))

    def of_one(argnum: int, ans: Any, args: Any, kwargs: Any) -> Any:
        maker = _known(makers, argnum, fun, "defvjp")
        return (lambda g: None) if maker is None else maker(ans, *args, **kwargs)

    defvjp_argnum(fun, of_one)


def defjvp_argnums(fun: Any, jvpmaker: Maker) -> None:
    """`jvpmaker(argnums, gs, ans, args, kwargs)` returns the output's tangent, from the arguments'."""
    primitive_jvps[fun] = jvpmaker


def defjvp_argnum(fun: Any, jvpmaker: Maker) -> None:
    """`jvpmaker(argnum, g, ans, args, kwargs)` returns one argument's share of the output's tangent."""

    def of_all(argnums: Sequence[int], gs: Sequence[Any], ans: Any, args: Any, kwargs: Any) -> Any:
        shares = [jvpmaker(n, g, ans, args, kwargs) for n, g in zip(argnums, gs, strict=True)]
        shares = [s for s in shares if s is not None]
        return tree.map(lambda *parts: sum(parts[1:], parts[0]), *shares) if shares else None

    primitive_jvps[fun] = of_all


def defjvp(fun: Any, *jvpfuns: Maker | str | None, argnums: Sequence[int] | None = None) -> None:
    """For each argument `rule(g, ans, *args, **kwargs)`, its share in the tangent.

    "same" in the place of a rule: the function is linear in that argument, so that it is its own rule. None:
    zero.
    """
    rules = dict(zip(range(len(jvpfuns)) if argnums is None else argnums, jvpfuns, strict=False))

    def of_one(argnum: int, g: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        rule = _known(rules, argnum, fun, "defjvp")
        if rule == "same":
            return fun(*args[:argnum], g, *args[argnum + 1 :], **kwargs)
        return None if rule is None else rule(g, ans, *args, **kwargs)

    defjvp_argnum(fun, of_one)


def def_linear(fun: Any) -> None:
    """`fun` is linear in each of its arguments: tangents are pushed through the function itself."""
    defjvp_argnum(fun, lambda n, g, ans, args, kwargs: fun(*args[:n], g, *args[n + 1 :], **kwargs))


deflinear = def_linear


def _known(rules: dict[int, Any], argnum: int, fun: Any, verb: str) -> Any:
    if argnum not in rules:
        raise NotImplementedError(
            f"The derivative of {getattr(fun, '__name__', fun)} in its argument {argnum} is not known: {verb} gave rules for "
            f"the arguments {sorted(rules)}"
        )
    return rules[argnum]


# ---- as it was before 1.2 --------------------------------------------------------------------------------------------


def _old_rules(fun: Any) -> dict[int, Any]:
    warnings.warn(
        "give rules with defvjp(fun, ...), not by methods of the primitive", DeprecationWarning, stacklevel=3
    )
    if not hasattr(fun, "_by_method"):
        fun._by_method = {}
        defvjp_argnum(
            fun, lambda n, ans, args, kwargs: _known(fun._by_method, n, fun, "defvjp")(ans, *args, **kwargs)
        )
    return fun._by_method


def _vjp_of(fun: Any, vjpmaker: Any, argnum: int = 0) -> None:
    """`vjpmaker(g, ans, vs, gvs, *args)`, the rule of one argument."""

    def maker(ans: Any, *args: Any, **kwargs: Any) -> Any:
        spaces = vspace(args[argnum]), vspace(ans)
        return lambda g: vjpmaker(g, ans, *spaces, *args, **kwargs)

    _old_rules(fun)[argnum] = maker


def _zero_of(fun: Any, argnums: Sequence[int] = (0,)) -> None:
    """No derivative in these arguments."""
    for n in argnums:
        _old_rules(fun)[n] = lambda ans, *args, **kwargs: lambda g: None


def _grad_of(fun: Any, gradfun: Any, argnum: int = 0) -> None:
    """`gradfun(ans, *args)`, a function of the cotangent."""
    _old_rules(fun)[argnum] = gradfun

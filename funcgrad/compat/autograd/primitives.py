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
from funcgrad.compat.autograd.tracer import getval, notrace_primitives
from funcgrad.transforms.custom_calls import is_inexact
from funcgrad.transforms.opaque_functions import Called, FunctionCall, OpaqueFunction

Maker = Callable[..., Any]
# By primitive: (argnums, ans, args, kwargs) -> (g -> cotangents), or (argnums, gs, ...) -> tangent.
primitive_vjps: dict[Any, Maker] = {}
primitive_jvps: dict[Any, Maker] = {}


class PrimitiveCall(FunctionCall):
    """One call of a primitive; its rules may return a number for an array of one element, and the like.

    They are all that there is of its derivative: PennyLane hands a circuit, with the same watched numbers in
    it, beside these.
    """

    follows = False

    def _part(self, part: Any, slot: int, rule: str) -> Any:
        to = self.arguments.specs[slot]
        if part is None or to is None:
            return None
        if np.shape(part) != to.shape:
            part = np.reshape(part, to.shape) if np.size(part) == to.size else np.broadcast_to(part, to.shape)
        return _of_kind(part, to)

    def _tangent(self, t: Any, to: Any, what: str) -> Any:
        return t if t is None or not is_inexact(to) else _of_kind(t, to)


def _of_kind(x: Any, to: Any) -> Any:
    """`x` of the dtype of what it belongs to; of a real one the real part."""
    x = x if hasattr(x, "dtype") else np.asarray(x)
    x = np.real(x) if x.dtype.kind == "c" and to.dtype.kind != "c" else x
    return x if x.dtype == to.dtype else x.astype(to.dtype)


class Primitive(OpaqueFunction):
    """See `primitive`. Its rules are looked up when they are needed, as they may be given later."""

    call_type = PrimitiveCall
    _is_autograd_primitive = True

    def __init__(self, fun: Callable[..., Any]) -> None:
        super().__init__(fun, None, None, "traced")
        self.fun, self.title = fun, self.name
        self.defvjp, self.defvjp_is_zero, self.defgrad = (
            functools.partial(f, self) for f in (_vjp_of, _zero_of, _grad_of)
        )

    @property
    def pull(self) -> Maker | None:
        """The rule of defvjp, as an opaque function has it."""
        return self._pulled if self in primitive_vjps else None

    @pull.setter
    def pull(self, rule: None) -> None:
        pass

    @property
    def push(self) -> Maker | None:
        """The rule of defjvp."""
        return self._pushed if self in primitive_jvps else None

    @push.setter
    def push(self, rule: None) -> None:
        pass

    def _pulled(self, ct: Any, call: Called) -> dict[Any, Any]:
        self._check_positions(call.wanted)
        cts = primitive_vjps[self](call.wanted, call.out, call.args, call.kwargs)(ct)
        return dict(zip(call.wanted, cts, strict=True))

    def _pushed(self, t: dict[Any, Any], call: Called) -> Any:
        self._check_positions(call.wanted)
        return primitive_jvps[self](
            call.wanted, tuple(t[n] for n in call.wanted), call.out, call.args, call.kwargs
        )

    def _check_positions(self, wanted: Sequence[Any]) -> None:
        names = [key for key in wanted if isinstance(key, str)]
        if names:
            raise NotImplementedError(
                f"The derivative of {self.name} in the keyword arguments {names} is not known, as rules are for arguments by "
                "position: give them by position"
            )

    def missing(self, wanted: Sequence[Any]) -> Exception:
        return NotImplementedError(
            f"The derivative of {self.name}, called with a watched argument {', '.join(map(str, wanted))}, is not known: "
            f"give it with defvjp({self.name}, ...)"
        )


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
    return Primitive(fun)


def notrace_primitive(fun: Callable[..., Any]) -> Any:
    """`fun`, which is called on plain values: no derivative goes through it."""

    @functools.wraps(fun)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return fun(*map(getval, args), **kwargs)

    wrapped._is_primitive = True  # type: ignore[attr-defined]
    return wrapped


def register_notrace(trace_type: Any, primitive_fun: Any) -> None:
    """No derivative goes through `primitive_fun`: in the direction that `trace_type` stands for (VJPNode or
    JVPNode), or past nodes of that class of one's own.
    """
    notrace_primitives[trace_type].add(primitive_fun)
    if trace_type.direction == "reverse":
        primitive_vjps[primitive_fun] = lambda argnums, *rest: lambda g: (None,) * len(argnums)
    if trace_type.direction == "forward":
        primitive_jvps[primitive_fun] = lambda argnums, gs, ans, args, kwargs: None


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


def identity_vjp(argnums: Any, *args: Any) -> Callable[[Any], Any]:
    """The rule of a function that is the identity in one argument."""
    return lambda g: g


def identity_jvp(argnums: Any, gs: Any, *args: Any, **kwargs: Any) -> Any:
    """The same, for tangents."""
    return gs


def translate_vjp(vjpfun: Maker | None, fun: Any, argnum: int) -> Maker:
    """A maker for `defvjp`; None is a zero."""
    if vjpfun is None:
        return lambda ans, *args, **kwargs: lambda g: vspace(args[argnum]).zeros()
    if callable(vjpfun):
        return vjpfun
    raise TypeError(f"Bad VJP {vjpfun!r} for {fun}: give a function, or None")


def translate_jvp(jvpfun: Maker | str | None, fun: Any, argnum: int) -> Maker:
    """A rule for `defjvp`; None is a zero, "same" the function itself."""
    if jvpfun is None:
        return lambda g, ans, *args, **kwargs: vspace(ans).zeros()
    if jvpfun == "same":
        return lambda g, ans, *args, **kwargs: fun(*args[:argnum], g, *args[argnum + 1 :], **kwargs)
    if callable(jvpfun):
        return jvpfun
    raise TypeError(f"Bad JVP {jvpfun!r} for {fun}: give a function, None, or 'same'")


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


primitive_with_deprecation_warnings = primitive


def deprecated_defvjp(primitive_fun: Any) -> Callable[..., None]:
    """The method `defvjp` that a primitive had."""
    return primitive_fun.defvjp


def deprecated_defvjp_is_zero(primitive_fun: Any) -> Callable[..., None]:
    """The method `defvjp_is_zero` that a primitive had."""
    return primitive_fun.defvjp_is_zero


def deprecated_defgrad(primitive_fun: Any) -> Callable[..., None]:
    """The method `defgrad` that a primitive had."""
    return primitive_fun.defgrad

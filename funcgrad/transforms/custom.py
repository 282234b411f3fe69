"""custom_vjp, custom_jvp, custom_gradient: functions with a derivative of one's own.

A rule is run on plain arrays, or on tracers of outer transforms: so its own derivative, vmap and every order
follow. A backward rule also serves forward mode and a forward rule also reverse mode, by transposition.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.trace import bind, innermost
from funcgrad.errors import ArgumentError, RuleError
from funcgrad.transforms.custom_calls import ArgumentLayout, GradientCall, JvpCall, VjpCall, pair
from funcgrad.transforms.opaque import flat_call
from funcgrad.transforms.wrapping import Transformed, name_of
from funcgrad.typed import override

Rule = Callable[..., Any]


class CustomFunction(Transformed):
    """What the three share: arguments are brought into positions, and split into leaves."""

    call_type: type[VjpCall | JvpCall | GradientCall]
    missing = ""

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        super().__init__(fun)
        numbers = all_of(
            nondiff_argnums, (int, np.integer), f"{self.title}: nondiff_argnums must be an int or ints"
        )
        names = all_of(nondiff_argnames, str, f"{self.title}: nondiff_argnames must be a name or names")
        self.nondiff_argnums = (*map(operator.index, numbers), *map(self._position, names))
        self.arity = arity_of(fun)

    @property
    def title(self) -> str:
        """The function, for messages."""
        return f"{self.transform} {name_of(self.fun)}"

    def _position(self, name: str) -> int:
        names = list(inspect.signature(self.fun).parameters)
        if name not in names:
            raise ArgumentError(
                f"{self.title}: nondiff_argnames has {name!r}, which is none of its parameters {tuple(names)}"
            )
        return names.index(name)

    def is_ready(self) -> bool:
        """Has a rule been given?"""
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.is_ready():
            raise RuleError(f"{self.title} was called, but has no rule yet: {self.missing}")
        args = self._positional(args, kwargs)
        arguments, leaves = ArgumentLayout.of(args, self._nondiff(len(args)))
        if innermost(leaves) is None:
            return self.run(*args)
        call = self.call_type(self, arguments)
        outs = bind(call, flat_call(leaves))
        return tree.unflatten(call.structure, outs)

    def run(self, *args: Any) -> Any:
        """The function itself, without derivatives."""
        return self.fun(*args)

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments by position, as rules get them: keywords bound by signature, defaults filled in."""
        if not kwargs and len(args) == self.arity:
            return args
        try:
            bound = inspect.signature(self.fun).bind(*args, **kwargs)
        except ValueError:  # a built-in function without a signature
            if kwargs:
                raise ArgumentError(
                    f"{self.title} has no signature: pass its arguments by position"
                ) from None
            return args
        except TypeError as error:
            raise TypeError(f"{name_of(self.fun)}(): {error}") from None
        by_keyword = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
        without = [name for name in bound.arguments if bound.signature.parameters[name].kind in by_keyword]
        if without:
            raise ArgumentError(
                f"{self.title}: the keyword-only arguments {without} have no position, and its rule is given its "
                "arguments by position. Let the function take them by position, too."
            )
        bound.apply_defaults()
        return bound.args

    def _nondiff(self, count: int) -> tuple[int, ...]:
        positions = tuple(n + count if n < 0 else n for n in self.nondiff_argnums)
        if any(not 0 <= n < count for n in positions):
            raise ArgumentError(
                f"{self.title}: nondiff_argnums={self.nondiff_argnums}, but it has {count} arguments"
            )
        return tuple(sorted(set(positions)))


def all_of(values: Any, kind: Any, message: str) -> tuple[Any, ...]:
    """One thing of a kind, or several, as a tuple."""
    several = (values,) if isinstance(values, kind) else values
    if not isinstance(several, (tuple, list)) or not all(isinstance(item, kind) for item in several):
        raise ArgumentError(f"{message}, not {values!r}")
    return tuple(several)


def arity_of(fun: Callable[..., Any]) -> int | None:
    """How many arguments can be given by position, if that is a fixed number (without `out` of a ufunc)."""
    if isinstance(fun, np.ufunc):
        return fun.nin
    try:
        parameters = inspect.signature(fun).parameters.values()
    except ValueError:
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


class CustomVjp(CustomFunction):
    """See `custom_vjp`."""

    transform = "custom_vjp"
    call_type = VjpCall
    missing = (
        "write f.defvjp(fwd, bwd) first, where fwd(*args) returns (output, residuals), and bwd(residuals, ct) a tuple "
        "with one cotangent for each argument"
    )
    fwd: Rule | None = None
    bwd: Rule | None = None

    @override
    def is_ready(self) -> bool:
        return self.fwd is not None and self.bwd is not None

    def defvjp(self, fwd: Rule, bwd: Rule) -> None:
        """Give the rule: `fwd(*args)` returns (output, residuals), `bwd(residuals, ct)` a ct per argument.

        `bwd` gets the values at nondiff_argnums first, and returns nothing for them. It must be linear in
        `ct`.
        """
        self.fwd, self.bwd = checked_rule(self.title, "fwd", fwd), checked_rule(self.title, "bwd", bwd)


class CustomJvp(CustomFunction):
    """See `custom_jvp`."""

    transform = "custom_jvp"
    call_type = JvpCall
    missing = "decorate its rule with @f.defjvp first; rule(primals, tangents) returns (output, tangent of the output)"
    rule: Rule | None = None

    @override
    def is_ready(self) -> bool:
        return self.rule is not None

    def defjvp(self, rule: Rule) -> Rule:
        """Give the rule: `rule(primals, tangents)` returns (output, tangent), linear in the tangents. Also a
        decorator.

        It gets the values at nondiff_argnums first. What outer transforms differentiate is the output that
        the rule returns: to get it, call the function itself.
        """
        self.rule = checked_rule(self.title, "the rule", rule)
        return rule

    def defjvps(self, *rules: Rule | None) -> None:
        """Give one per argument: `rule(t, out, *primals)` returns its share of the tangent, None for zero."""
        for rule in rules:
            if rule is not None:
                checked_rule(self.title, "each rule", rule)
        self.rule = _PerArgument(self, rules)


class _PerArgument:
    """The rule that `defjvps` puts together."""

    def __init__(self, function: CustomJvp, rules: Sequence[Rule | None]) -> None:
        self.function, self.rules = function, rules

    def __call__(self, *values: Any) -> tuple[Any, Any]:
        *nondiff, primals, tangents = values
        if len(self.rules) != len(primals):
            raise RuleError(
                f"{self.function.title}: defjvps was given {len(self.rules)} rules for {len(primals)} arguments"
            )
        args = list(primals)
        for position, value in zip(self.function._nondiff(len(primals) + len(nondiff)), nondiff, strict=True):
            args.insert(position, value)
        out = self.function(*args)
        terms = [
            rule(t, out, *primals) for rule, t in zip(self.rules, tangents, strict=True) if rule is not None
        ]
        if not terms:
            return out, None
        return out, tree.map(lambda *parts: sum(parts[1:], parts[0]), *terms)


class CustomGradient(CustomFunction):
    """See `custom_gradient`."""

    transform = "custom_gradient"
    call_type = GradientCall

    @override
    def is_ready(self) -> bool:
        return True

    @override
    def run(self, *args: Any) -> Any:
        return pair(self.fun(*args), self.title, "(output, vjp_fn)")[0]


def custom_vjp(
    fun: Any = None, nondiff_argnums: int | Sequence[int] = (), nondiff_argnames: str | Sequence[str] = ()
) -> Any:
    """A function with a backward rule of one's own.

    Args:
        fun: the function; arguments and output are pytrees of arrays. Its code is used where nothing is
            differentiated.
        nondiff_argnums, nondiff_argnames: arguments without a derivative, of any kind (functions, strings,
            tracers). `fwd` gets them in their places, `bwd` before all else; where one depends on a tracer,
            its derivative is zero by declaration.

    Returns:
        The function. `f.defvjp(fwd, bwd)` gives the rule: `fwd(*args)` returns (output, residuals),
        `bwd(residuals, ct)` a tuple with one cotangent for each argument, with that argument's structure and
        shapes; None is a zero. Keyword arguments are brought into their positions by the signature.

    Raises:
        RuleError: there is no rule yet, or one returned the wrong number of results, structure, shape or
            dtype.
        ArgumentError: keyword-only arguments, or nondiff_argnums that name no argument.
        EscapedTracerError: `bwd` closes over a tracer; make that value an argument.

    `bwd` must be linear in `ct`: forward mode is its transpose. Where `fwd` closes over a tracer, that is
    differentiated as usual.

    >>> import numpy as np, funcgrad as fg
    >>> @fg.custom_vjp
    ... def log1pexp(x):
    ...     return np.log1p(np.exp(x))
    >>> log1pexp.defvjp(lambda x: (log1pexp(x), x), lambda x, ct: (ct * (1 - 1 / (1 + np.exp(x))),))
    >>> float(fg.grad(log1pexp)(100.0))
    1.0
    """
    options = {"nondiff_argnums": nondiff_argnums, "nondiff_argnames": nondiff_argnames}
    return (lambda f: CustomVjp(f, **options)) if fun is None else CustomVjp(fun, **options)


def custom_jvp(
    fun: Any = None, nondiff_argnums: int | Sequence[int] = (), nondiff_argnames: str | Sequence[str] = ()
) -> Any:
    """A function with a forward rule of one's own. It serves reverse mode as well, by transposition.

    Arguments and errors are those of `custom_vjp`. `f.defjvp(rule)` gives the rule (it is also a decorator):
    `rule(primals, tangents)` returns (output, tangent), where the tangent has the structure and shapes of the
    output, and is linear in the tangents; it gets the values at nondiff_argnums before these two.
    `f.defjvps(*rules)` gives one for each argument.

    >>> import numpy as np, funcgrad as fg
    >>> @fg.custom_jvp
    ... def f(x, y):
    ...     return np.sin(x) * y
    >>> @f.defjvp
    ... def rule(primals, tangents):
    ...     (x, y), (t_x, t_y) = primals, tangents
    ...     return f(x, y), np.cos(x) * y * t_x + np.sin(x) * t_y
    >>> [float(g) for g in fg.grad(f, argnums=(0, 1))(0.0, 3.0)]
    [3.0, 0.0]
    """
    options = {"nondiff_argnums": nondiff_argnums, "nondiff_argnames": nondiff_argnames}
    return (lambda f: CustomJvp(f, **options)) if fun is None else CustomJvp(fun, **options)


def custom_gradient(fun: Callable[..., Any]) -> Any:
    """A function that returns (output, vjp_fn), where `vjp_fn(ct)` returns one cotangent for each argument.

    The tuple around the cotangent of a single argument may be left out. Errors are those of `custom_vjp`.

    >>> import numpy as np, funcgrad as fg
    >>> @fg.custom_gradient
    ... def clip_gradient(x):
    ...     return x, lambda ct: np.clip(ct, -1.0, 1.0)
    >>> float(fg.grad(lambda x: 100 * clip_gradient(x))(3.0))
    1.0
    """
    return CustomGradient(fun)


def checked_rule(title: str, what: str, rule: Any) -> Rule:
    """Refuse what is no function."""
    if not callable(rule):
        raise RuleError(f"{title}: {what} must be a function, not {type(rule).__name__}")
    return rule

"""What the engine reads in the signature of a NumPy function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any

from funcgrad.core.arrays.arguments import AxisArgument, binder, signature_of
from funcgrad.core.engine.catalogue import Function


class Signed(Function):
    """A function whose arguments are bound by its signature (`signature`, where Python can't see that).

    `operands` names the parameters that are arrays. All of it is found out at the first call: importing the
    rules stays cheap.
    """

    axis_of = "x"

    def __init__(
        self, function: Callable[..., Any], name: str | None, operands: str | None, signature: str | None
    ) -> None:
        super().__init__(function, name)
        self._operands, self._signature = operands, signature

    def check(self) -> None:
        """Refuse what doesn't fit the signature; done at the first call."""

    @cached_property
    def signature(self) -> inspect.Signature:
        """The signature by which arguments are bound."""
        return signature_of(self.function, self._signature)

    @cached_property
    def bind_arguments(self) -> Callable[..., dict[str, Any]]:
        """The function that binds them."""
        self.check()
        return binder(self.name, self.signature)

    @cached_property
    def operand_names(self) -> tuple[str, ...]:
        """The parameters that are arrays."""
        names = (self._operands or next(iter(self.signature.parameters))).split()
        return tuple(name.removesuffix("*") for name in names)

    @cached_property
    def lists(self) -> frozenset[str]:
        """Those among them that are lists of arrays."""
        return frozenset(name[:-1] for name in (self._operands or "").split() if name.endswith("*"))

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The defaults of the parameters that have one."""
        return {p.name: p.default for p in self.signature.parameters.values() if p.default is not p.empty}

    @cached_property
    def axis(self) -> AxisArgument:
        """How `axis` is read."""
        return AxisArgument(self.function, self.name, among_output=self.axis_of == "out")

    @cached_property
    def open_ended(self) -> bool:
        """Does the signature take any keyword?"""
        return any(p.kind is p.VAR_KEYWORD for p in self.signature.parameters.values())

    @cached_property
    def is_plain(self) -> bool:
        """Is f(x) the call with one operand and no params? (An `axis` with a default other than None is one.)"""
        self.check()
        others = [p for p in list(self.signature.parameters.values())[1:] if p.kind is not p.VAR_KEYWORD]
        return (
            not self.lists
            and next(iter(self.signature.parameters)) == self.operand_names[0]
            and all(p.default is not p.empty for p in others)
            and self.defaults.get("axis") is None
        )

    @cached_property
    def leading(self) -> int:
        """How many operands stand at the front of the signature; 0 where something must be given otherwise."""
        parameters = list(self.signature.parameters.values())
        by_keyword = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        count = 0
        for parameter, name in zip(parameters, self.operand_names):
            if parameter.name != name:
                break
            count += 1
        others_by_keyword = all(p.kind in by_keyword for p in parameters[count:])
        return count if others_by_keyword and not self.lists else 0

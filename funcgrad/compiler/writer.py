"""Prints the blocks of a program as one function in Python, that calls NumPy and nothing else.

    def program(x1, x2):
        v3 = x1 * x2
        if v3.sum() > 0: ...
        return (v3,)

It returns what the function returned, in a tuple of one, or None where a guard came out otherwise than ever
before. This is the program as people read it; `fast.py` prints the one that is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import NoneType
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compiler.constants import Constant
from funcgrad.compiler.expressions import Expressions
from funcgrad.compiler.guards import EXPRESSIONS, OUTCOMES
from funcgrad.compiler.liveness import Families, Later, later, live_in
from funcgrad.compiler.names import Names, index_text
from funcgrad.compiler.passes.blocks import Loop
from funcgrad.compiler.paths import Block, Returned
from funcgrad.compiler.steps import Hole, Spec, Step
from funcgrad.compiler.vocabulary import add_at, written, written_flat
from funcgrad.core.memory.layout import copied
from funcgrad.transforms.programs import Ref


class Writer:
    """Writes one program."""

    def __init__(self, root: Block, inputs: Sequence[tuple[Ref, Spec]]) -> None:
        self.names = Names()
        self.expressions = Expressions(self.names)
        self.families = Families(root, inputs)
        self.live = live_in(root)
        self.texts: dict[Ref, str] = {ref: f"x{i}" for i, (ref, _) in enumerate(inputs)}
        self.specs: dict[Ref, Spec] = dict(inputs)
        self.lines: list[str] = []
        self.indent = 1
        self.returned_refs = self._returned(root)
        self._write(root)

    @property
    def parameters(self) -> list[str]:
        """The names of the arguments."""
        return [text for text in self.texts.values() if text.startswith("x")]

    def source(self, name: str = "program") -> str:
        """The function."""
        return "\n".join([f"def {name}({', '.join(self.parameters)}):", *self.lines, ""])

    def _returned(self, root: Block) -> set[Ref]:
        ends = [block.returned for block in root.blocks() if block.returned is not None]
        return {x for end in ends for x in end.leaves if type(x) is Ref}

    # ---- blocks ------------------------------------------------------------------------------------------------------
    def _write(self, block: Block) -> None:
        while True:
            self._write_steps(block)
            if block.guard is None:
                if block.returned is None:
                    self._write_miss()
                else:
                    self._write_return(block.returned)
                return
            known = [(outcome, b) for outcome, b in block.branches.items()]
            if not known:
                self._write_miss()
                return
            if len(known) == 1:
                self._line(f"if {self._condition(block.guard, known[0][0], negated=True)}:")
                self.indent += 1
                self._write_miss()
                self.indent -= 1
                block = known[0][1]
                continue
            self._write_branches(block.guard, known)
            return

    def _write_miss(self) -> None:
        """What is done where no recording has been."""
        self._line("return None")

    def _write_branches(self, guard: Any, known: Sequence[tuple[Any, Block]]) -> None:
        state = self._state()
        for k, (outcome, block) in enumerate(known):
            is_other = guard.kind == "bool" and k == 1
            condition = (
                "else:" if is_other else f"{'if' if k == 0 else 'elif'} {self._condition(guard, outcome)}:"
            )
            self._line(condition)
            self.indent += 1
            self._write(block)
            self.indent -= 1
            self._restore(state)
        if guard.kind != "bool":
            self._write_miss()

    def _condition(self, guard: Any, outcome: Any, *, negated: bool = False) -> str:
        x = self._operand(guard.ref)
        if guard.kind == "bool":
            return x if outcome is not negated else f"not {x}"
        asked = EXPRESSIONS.get(guard.kind)
        if asked is None:
            function = self.names.function(OUTCOMES[guard.kind])
            asked = f"{function}({{}})"
        return f"{asked.format(x)} {'!=' if negated else '=='} {self.names.text(outcome)}"

    def _state(self) -> Any:
        return dict(self.texts)

    def _restore(self, state: Any) -> None:
        self.texts = dict(state)

    def _write_return(self, returned: Returned) -> None:
        given: set[Ref] = set()
        parts = []
        for x in returned.leaves:
            if type(x) is Ref:
                parts.append(self._output(x, given))
            else:
                parts.append(
                    f"{self.names.text(x)}.copy()" if isinstance(x, Constant) else self.names.value(x)
                )
        self._line(f"return {self._wrapped(self._tree(returned.structure, iter(parts)))}")

    def _wrapped(self, text: str) -> str:
        return f"({text},)"

    def _tree(self, structure: tree.Structure, parts: Iterator[str]) -> str:
        """The containers of a result, written out where they are Python's own."""
        kind = structure.node_type
        if kind is None:
            return next(parts)
        inner = [self._tree(child, parts) for child in structure.children]
        if kind is tuple:
            return f"({', '.join(inner)}{',' * (len(inner) == 1)})"
        if kind is list:
            return f"[{', '.join(inner)}]"
        if kind is dict:
            entries = structure.keys()
            keys = [getattr(entry, "key", None) for entry in entries]
            return f"{{{', '.join(f'{self.names.value(k)}: {x}' for k, x in zip(keys, inner))}}}"
        if kind is NoneType:
            return "None"
        return self._other_tree(structure, inner)

    def _other_tree(self, structure: tree.Structure, inner: list[str]) -> str:
        """A container that is no list, tuple or dict."""
        return f"{self.names.of(structure, 'structure')}.build({self.names.of(from_children, 'leaves_of')}({', '.join(inner)}))"

    def _output(self, ref: Ref, given: set[Ref]) -> str:
        spec, text, root = self.specs[ref], self._operand(ref), self.families.of(ref)
        is_callers = self.families.belongs(ref) and not spec.is_view and root not in given
        given.add(root)
        return text if not spec.is_array or is_callers else f'{text}.copy("K")'

    # ---- steps -------------------------------------------------------------------------------------------------------
    def _write_steps(self, block: Block) -> None:
        after = self._live_after(block)
        quiet: Any = None
        for step, live in zip(block.steps, after):
            if step.errstate != quiet:
                self._end_quiet(quiet)
                quiet = step.errstate
                if quiet is not None:
                    self._line(f"with np.errstate({', '.join(f'{k}={v!r}' for k, v in quiet.items())}):")
                    self.indent += 1
            self._write_step(step, live)
        self._end_quiet(quiet)

    def _end_quiet(self, quiet: Any) -> None:
        if quiet is None:
            return
        if self.lines[-1].lstrip().startswith("with np.errstate"):  # what was within is done once and for all
            self._line("pass")
        self.indent -= 1

    def _live_after(self, block: Block) -> list[Later]:
        needed = (self.live[id(b)] for b in block.branches.values())
        return later(block, set(block.needs()).union(*needed))

    def _write_step(self, step: Step, live: Later) -> None:
        for ref, spec in zip(step.outs, step.specs):
            self.specs[ref] = spec
        if isinstance(step, Loop):
            self._write_loop(step, live)
        elif step.function in (written, written_flat, add_at):
            self._write_into(step, live)
        elif step.many is not None:
            names = [self._name(ref) if ref in live else "_" for ref in step.outs]
            self._line(
                f"{', '.join(names)}{',' * (len(names) == 1)} = {self.expressions.of(step, self._operand)}"
            )
        else:
            self._write_one(step, live)
        self._note_dead(step, live)

    def _note_dead(self, step: Step, live: Later) -> None:
        """Somebody may want to know what is not needed any more."""

    def _write_one(self, step: Step, live: Later) -> None:
        self._line(f"{self._name(step.outs[0])} = {self.expressions.of(step, self._operand)}")

    def _write_loop(self, loop: Loop, live: Later) -> None:
        """One step after the other: blocks are only a matter of speed."""
        for step in loop.inner:
            self.specs[step.outs[0]] = step.specs[0]
            self._line(f"{self._name(step.outs[0])} = {self.expressions.of(step, self._operand)}")

    def _write_into(self, step: Step, live: Later) -> None:
        """A write: into the buffer itself, if nobody needs any more what was there before."""
        (out,) = step.outs
        before, write = step.operands[0], self.expressions._writer(step, self._operand)
        text = self._operand(before)
        is_like = type(before) is Ref and self.specs[before] == step.specs[0] or step.function is not add_at
        if type(before) is Ref and is_like and self._is_free(before, step, live):
            self.texts[out] = text
            self.families.own.add(out)
            self._note_handed_on(self.families.of(before), out)
        elif step.function is add_at:
            name = self._name(out)
            self._line(f"{name} = np.array({text}, {self.names.text(step.specs[0].dtype)})")
            text = name
        else:
            name = self._name(out)
            copy = f'np.array({text}, order="K")'
            if type(before) is Ref and type(self.specs[before].order) is tuple:  # NumPy would close the gaps
                copy = f"{self.names.function(copied)}({text})"
            self._line(f"{name} = {copy}")
            text = name
        self._write_items(step, text, write)

    def _write_items(self, step: Step, text: str, write: Any) -> None:
        if step.function is written:
            _, v, index, *views = step.args
            for view in views[0] if views else ():
                text = self.expressions.view(view, text, write)
            self._line(f"{text}[{index_text(index, write)}] = {write(v)}")
        elif step.function is written_flat:
            _, v, positions, index, shape = step.args
            self._line(
                f"{text}[np.unravel_index({write(positions)}[{index_text(index, write)}], {write(shape)})] = {write(v)}"
            )
        else:
            index = step.args[2]
            self._write_sum(step, text, index, write)

    def _write_sum(self, step: Step, text: str, index: Any, write: Any) -> None:
        place, part = f"{text}[{index_text(index, write)}]", write(step.args[1])
        if _repeats(step, index):
            self._line(f"np.add.at({text}, {write(index)}, np.broadcast_to({part}, {place}.shape))")
        else:
            self._line(f"{place} += {part}")

    def _note_handed_on(self, before: Ref, after: Ref) -> None:
        """The memory of `before` is that of `after` now."""

    def _is_free(self, ref: Ref, step: Step, live: Later) -> bool:
        """May the memory of `ref` be overwritten by this step?"""
        root = self.families.of(ref)
        if not self.families.belongs(ref) or self.specs[ref].is_view or not self.specs[ref].is_array:
            return False
        members = self.families.members.get(root, [root])
        return (
            not any(m in live for m in members)
            and step.refs().count(ref) == 1
            and not any(m in step.refs() for m in members if m != ref)
        )

    # ---- names -------------------------------------------------------------------------------------------------------
    def _name(self, ref: Ref) -> str:
        self.texts[ref] = name = f"v{int(ref)}"
        return name

    def _operand(self, x: Any) -> str:
        if type(x) is Ref:
            return self.texts[x]
        text = self.names.text(x)
        return f"({text})" if text.startswith("-") else text

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)


def _repeats(step: Step, index: Any) -> bool:
    """May an index name a position twice?"""
    if type(index) is tuple:
        return any(_repeats(step, i) for i in index)
    if type(index) is Hole:
        return True
    return isinstance(index, (list, np.ndarray)) and np.asarray(index).dtype.kind in "iu"


def from_children(*children: Any) -> Iterator[Any]:
    """The leaves of a container that is built anew."""
    return iter(children)

"""Families of views: which tracers look into one array, by which steps. For writes see mutation.py.

A root is an array of its own; a view remembers its root and the steps that lead to it from there. A write to
the root makes its views stale: their class is switched to one whose `_value` and `_node` are looked up anew
when they are next asked for. Until something is written, views cost nothing. A single element of a stale view
is read, and written, in the root itself: its place there follows from where the view lies in memory
(`Window`), whatever steps led to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer, bind, memory_of, snapshot
from funcgrad.core.memory import families
from funcgrad.core.memory.families import Members, stepped
from funcgrad.core.memory.layout import one_example, to_read
from funcgrad.errors import BatchedControlFlowError, TracerWriteError, user_line
from funcgrad.typed import override

# ---- families --------------------------------------------------------------------------------------------------------


class ViewStep:
    """One view operation: what leads from an array to a view of it."""

    __slots__ = ("call", "primitive")

    def __init__(self, primitive: Any, call: Any) -> None:
        # Without the array itself: what it is a step from may be written into, and its node keeps the step.
        self.primitive, self.call = primitive, call.with_operands([None, *call.operands[1:]])

    def __call__(self, x: Any) -> Any:
        others = self.call.operands[1:]
        if not isinstance(x, Tracer):  # only memory is asked about, and no trace is to see that
            others = [_plain_beside(y) for y in others]
        return bind(self.primitive, self.call.with_operands([x, *others]))

    @property
    def index(self) -> Any:
        """The index, if this step is x[index]; else None."""
        return self.call.params["index"] if self.primitive.name == "getitem" else None

    def is_read_at(self, index: Any) -> bool:
        """Is this step x[index], for a basic index?"""
        return self.primitive.name == "getitem" and _is_same_index(self.index, index)


def _plain_beside(y: Any) -> Any:
    """The plain value of `y`, unless it is a batch."""
    plain = y
    while isinstance(plain, Tracer):
        if plain._is_batch:
            return y
        plain = plain._value
    return plain


class IndexStep(ViewStep):
    """x[index], for an index of integers and slices, as loops read rows: its call is made if it is asked for."""

    __slots__ = ("at",)

    def __init__(self, primitive: Any, at: Any) -> None:
        self.primitive, self.at = primitive, at

    @property
    @override
    def call(self) -> Any:
        return self.primitive.split((None, self.at), {})

    @property
    @override
    def index(self) -> Any:
        return self.at


def _is_same_index(mine: Any, index: Any) -> bool:
    if type(mine) is not tuple or type(index) is not tuple:
        mine, index = (mine,), (index,)
    if len(mine) != len(index):
        return False
    for i, j in zip(mine, index):  # noqa: SIM110 (a generator takes twice as long)
        if type(i) is not type(j) or isinstance(i, (np.ndarray, Tracer)) or i != j:
            return False
    return True


class Alias:
    """A tracer's place in a family of views. A root has `views`; a view has its root and steps to it.

    `written` says that the root was written into; `shared`, that this is the one alias of all written arrays
    without views. `read_only` arrays can't be written to: as in NumPy, or because their memory is that of a
    plain array (OF_PLAIN).
    """

    __slots__ = ("read_only", "root", "shared", "steps", "views", "window", "written")

    def __init__(
        self, root: Tracer | None, steps: tuple[ViewStep, ...], read_only: bool | str = False
    ) -> None:
        self.root, self.steps, self.read_only = root, steps, read_only
        self.views: Any = Members() if root is None else None
        self.written = self.shared = False
        self.window: Any = _UNKNOWN


OF_PLAIN = "of a plain array"
# under vmap: what x[i] gives for an i of each example, a copy of many rows
OF_EXAMPLES = "another row in each example"
_UNKNOWN = object()
FEW = 1024  # elements: copied sooner than looked at anew


def note_view(base: Any, view: Any, step: ViewStep) -> None:
    """Note that `view` is a view of `base`, if NumPy made it one."""
    if not isinstance(base, Tracer) or base is view or not base.shape and is_scalar(base):
        return
    if base._alias is not None and base._alias.read_only == OF_EXAMPLES:
        row = plain_view(base)
        if is_view(step(row), row):
            join(base, view, (step,), OF_EXAMPLES)
        return
    out = view._value
    if (
        base._alias is None
        and type(out) is np.ndarray
        and out.base is None
        and out is not base._value
        and out.flags.writeable
    ):
        return  # an array of its own
    plain, looked = _before_and_after(base, view, step)
    read_only: bool | str = type(looked) is np.ndarray and not looked.flags.writeable
    # a constant; or a read-only view, and what is made of it stays so
    if read_only and not plain.flags.writeable:
        read_only = base._alias is not None and base._alias.read_only
    if not is_view(looked, plain):
        if read_only:  # what x.imag of a real array gives
            view._alias = Alias(None, (), True)
        return
    alias = base._alias
    if alias is not None and alias.read_only:
        read_only = alias.read_only
    join(base, view, () if looked is plain else (step,), read_only)


def join(base: Tracer, view: Any, step: tuple[ViewStep, ...], read_only: bool | str = False) -> None:
    """Make `view` a view of `base`, by this step (if it is one at all)."""
    alias = base._alias
    if alias is None or alias.shared:
        written = alias is not None
        alias = base._alias = Alias(None, ())
        alias.written = written
    root = base if alias.root is None else alias.root
    view._alias = Alias(root, (*alias.steps, *step) if alias.steps else step, read_only)
    if not root._alias.written:
        root._alias.views.add(view)
    elif type(view._value) is np.ndarray and view._value.size <= FEW:
        view._value, view._node = _detached(view._value), _detached(view._node)
        root._alias.views.add(view)
    else:  # what is read of the view must not hold the buffer, which the next write would have to copy
        make_stale(view, root)


def _before_and_after(base: Tracer, view: Any, step: ViewStep) -> tuple[Any, Any]:
    """What `step` made of `base`, as plain arrays; looks again if a write has copied what it reads."""
    # may become a number, where the batch becomes a view
    is_scalar_of_each = base._is_batch and not base.shape
    is_as_it_lies = base._alias is None or base._alias.root is None or not base._alias.root._alias.written
    if type(base._value) is np.ndarray and is_as_it_lies and not is_scalar_of_each:
        return base._value, memory_of(view)
    plain = plain_view(base)
    return plain, step(plain)


def check_writeable(x: Tracer, *, as_a_whole: bool = False) -> None:
    """Refuse what NumPy refuses to write to, and what shares memory with a plain array, blind to writes.

    A row that differs between examples can only be written `as_a_whole`: as y[i] = row.
    """
    if x._alias is None or not x._alias.read_only:
        return
    if x._alias.read_only == OF_PLAIN:
        raise TracerWriteError(
            f"a write at {user_line()} to what np.asarray(a, like=x) gave would have to change the plain array a, too. "
            "Begin with np.array(a, like=x), a copy."
        )
    if x._alias.read_only == OF_EXAMPLES:
        if _is_of_one(x._alias):
            return
        if as_a_whole and len(x._alias.steps) == 1:
            return
        raise BatchedControlFlowError(
            f"a write at {user_line()} to what y[i] gave, where under vmap i differs between the examples, would have to go to "
            "another row of y in each. Write to y[i] itself (y[i] += v), or to a copy (row = y[i].copy())."
        )
    raise ValueError("assignment destination is read-only")


def _is_of_one(alias: Alias) -> bool:
    """Does no vmap, but only a program of jit, have other indices each time? Then these are guards from now on."""
    steps = []
    for step in alias.steps:
        index = step.index
        items = index if type(index) is tuple else (index,)
        if any(isinstance(i, Tracer) and not i._is_recorded for i in items):
            return False
        if any(isinstance(i, Tracer) for i in items):
            step = IndexStep(step.primitive, tuple(int(i) if isinstance(i, Tracer) else i for i in items))
        steps.append(step)
    if not steps:
        return False
    alias.steps, alias.read_only = tuple(steps), False
    return True


def plain_view(x: Any) -> Any:
    """The plain array beneath `x` (under vmap, beneath one example), as it lies in its root's memory."""
    alias = x._alias
    if alias is None or alias.root is None or alias.read_only == OF_EXAMPLES:
        return one_example(x)
    return stepped(one_example(alias.root), alias.steps)


def overlap(x: Any, index: Any, v: Any) -> bool:
    """Does `v` share memory with x.flat[index], without being the same elements in the same order?"""
    if not isinstance(v, Tracer) or _root(v) is not _root(x) or v.size < 2:
        return False
    a, b = plain_view(x), plain_view(v)
    if type(a) is np.ndarray and a.flags.c_contiguous and type(index) is slice:
        a = a.reshape(-1)[index]
    if type(b) is np.ndarray and b.flags.c_contiguous:
        b = b.reshape(-1)
    return families.clash(a, b)


def clash(x: Any, y: Any) -> bool:
    """Do two tracers share memory, without being the same elements in the same order?"""
    if not isinstance(x, Tracer) or not isinstance(y, Tracer) or _root(x) is not _root(y):
        return False
    return families.clash(plain_view(x), plain_view(y))


def _root(x: Tracer) -> Tracer:
    return x if x._alias is None or x._alias.root is None else x._alias.root


def is_view(out: Any, x: Any) -> bool:
    """Did NumPy make `out` as a view of `x`?"""
    if type(out) is not np.ndarray or type(x) is not np.ndarray:
        return False
    if out is x or out.base is None:
        return out is x
    # What np.lib.stride_tricks makes has another base than an array.
    return (
        out.base is x
        or out.base is x.base
        or not isinstance(out.base, np.ndarray)
        and np.may_share_memory(out, x)
    )


def is_scalar(x: Tracer) -> bool:
    """Does `x`, without axes, stand for a NumPy scalar? Those are immutable: `s += 1` makes a new one.

    Under vmap both scalars and arrays without axes are batches; the latter are known by their aliases.
    """
    value: Any = x
    while isinstance(value, Tracer):
        if value._alias is not None:
            return False
        if value._is_batch:
            return True
        value = value._value
    return not isinstance(value, np.ndarray)


# ---- stale views -----------------------------------------------------------------------------------------------------


class Stale:
    """A view whose root was written since: looks `_value` and `_node` up anew. Mixed into tracer classes."""

    __slots__ = ()
    _alias: Any

    @property
    def _trace(self) -> Any:
        return self._alias.root._trace

    @property
    def _value(self) -> Any:
        return refreshed(self)._value

    @property
    def _node(self) -> Any:
        return refreshed(self)._node

    @property
    def shape(self) -> Any:
        return refreshed(self).shape


_STALE: dict[type, type] = {}
# The alias of an array that was written, but has no views: what is being filled in a loop.
FILLED = Alias(None, ())
FILLED.written = FILLED.shared = True


def note_write(root: Tracer) -> None:
    """Before a write to `root`: its views must look again, and let go of the buffer."""
    alias = root._alias
    if alias is None or alias.shared:
        root._alias = FILLED
        return
    alias.written = True
    for view in alias.views.leave():
        make_stale(view, root)


def make_stale(view: Any, root: Tracer) -> None:
    """`view` has to look again, and lets go of the buffer of its root."""
    if isinstance(view, Stale):
        return
    kind = root._trace.tracer_type
    if kind not in _STALE:
        _STALE[kind] = type(f"Stale{kind.__name__}", (Stale, kind), {"__slots__": ()})
    view._trace = view._value = view._node = None
    view.__class__ = _STALE[kind]


def refreshed(view: Any) -> Any:
    """`view`, with its content read anew from its root."""
    root = view._alias.root
    current = stepped(root, view._alias.steps)
    view.__class__ = type(current)
    view._trace, view._value, view._node = current._trace, _detached(current._value), _detached(current._node)
    root._alias.views.add(view)
    return view


def _detached(content: Any) -> Any:
    """The content of a view without what holds the buffer of its root."""
    if type(content) is np.ndarray and content.base is not None:
        return to_read(content)
    return snapshot(content) if isinstance(content, Tracer) else content


# ---- where a view lies in its root -----------------------------------------------------------------------------------


class Window:
    """Where a view's elements lie in its root's memory, counted in elements, and the layout of the root."""

    __slots__ = ("axes", "offset", "shape", "strides")

    def __init__(self, view: np.ndarray, root: np.ndarray, axes: list[tuple[int, int, int]]) -> None:
        size = root.itemsize
        self.shape, self.strides = view.shape, [s // size for s in view.strides]
        self.offset = (view.__array_interface__["data"][0] - root.__array_interface__["data"][0]) // size
        self.axes = axes  # of the root, the widest stride first: (stride, axis, length)

    def index_in_root(self, index: Any) -> Any:
        """The index into the root that gives the same elements as `index` gives of the view, or None."""
        position = self.offset
        items = index if type(index) is tuple else (index,)
        if len(items) != len(self.shape):
            return None
        # for each axis that stays: its length, and how far apart its elements lie
        walks: list[tuple[int, int]] = []
        for i, n, stride in zip(items, self.shape, self.strides):
            if type(i) is int:
                if not -n <= i < n:
                    return None  # an error, which NumPy finds the words for
                position += (i + n if i < 0 else i) * stride
            elif type(i) is slice:
                covered = range(n)[i]
                if len(covered) < 2:
                    return None
                position += covered.start * stride
                walks.append((len(covered), covered.step * stride))
            else:
                return None
        return self._along(position, walks) if walks else self._at(position)

    def _at(self, position: int) -> tuple[int, ...]:
        place = [0] * len(self.axes)
        for stride, axis, n in self.axes:
            if n > 1:
                place[axis], position = divmod(position, stride)
        return tuple(place)

    def _along(self, position: int, walks: list[tuple[int, int]]) -> Any:
        """The index where each walk stays on one axis of the root, and they come in the order of these axes."""
        place: list[Any] = list(self._at(position))
        last = -1
        for length, apart in walks:
            axes = [
                (axis, apart // stride)
                for stride, axis, n in self.axes
                if n > 1
                and axis > last
                and not apart % stride
                and 0 <= place[axis] + (length - 1) * apart // stride < n
            ]
            if len(axes) != 1:
                return None
            last, step = axes[0]
            stop = place[last] + length * step
            place[last] = slice(place[last], stop if stop >= 0 else None, step)
        return tuple(place)


def index_in_root(x: Tracer | Stale, index: Any) -> Any:
    """The index of the same elements, in the same order, in the root of the view `x`; None if there is none."""
    alias = x._alias
    if alias.window is _UNKNOWN:
        alias.window = _window_of(plain_view(x), one_example(alias.root))
    return None if alias.window is None else alias.window.index_in_root(index)


def _window_of(view: Any, plain: Any) -> Window | None:
    if type(plain) is not np.ndarray or not plain.size:
        return None
    if type(view) is not np.ndarray or view.dtype != plain.dtype or not np.may_share_memory(view, plain):
        return None
    size = plain.itemsize
    axes = sorted(
        ((s // size, k, n) for k, (s, n) in enumerate(zip(plain.strides, plain.shape))), reverse=True
    )
    beneath = 1  # how far the elements inside an axis reach
    for stride, _, n in reversed(axes):
        if n > 1:
            if stride < beneath:
                return None
            beneath = stride * n
    return Window(view, plain, axes)

"""The statements that random programs are made of: each function writes one, or gives up (None)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.fuzz.idioms import idiom, new_array
from tests.fuzz.writing import Writer

IN_PLACE = ["+=", "-=", "*=", "/=", "**=", "%=", "//=", "@="]


def _ndarray(rank: int = 0, *, writeable: bool = True) -> Callable[[Any], bool]:
    return lambda a: a.ndim >= rank and (a.flags.writeable or not writeable)


def _value(w: Writer, target: str, shape: tuple[int, ...]) -> str:
    """An expression to be written into `target`: into plain arrays only plain data goes."""
    return w.expression(shape, traced=w.is_traced(target))


def _operator(w: Writer, target: str, shape: tuple[int, ...]) -> str:
    """An in-place operator and its right-hand side."""
    operator = w.rng.choices(IN_PLACE, [6, 5, 6, 3, 1, 1, 1, 1])[0]
    right = {"**=": "2", "%=": "2.57", "//=": "0.71"}.get(operator)
    if right is None:
        right = _value(w, target, shape)
        if operator == "/=":
            right = f"(3.0 + np.cos(np.real({right})))"
    return f"{operator} {right}"


# ---- new names -------------------------------------------------------------------------------------------------------


def alias(w: Writer) -> str | None:
    name = w.pick(traced=None)
    return name and f"{w.new()} = {name}"


def view(w: Writer) -> str | None:
    name = w.pick(traced=None)
    return name and f"{w.new()} = {w.view(name)}"


def view_of_view(w: Writer) -> str | None:
    name = w.pick(lambda a: a.base is not None, traced=None)
    return name and f"{w.new()} = {w.view(name)}"


def copy(w: Writer) -> str | None:
    name = w.pick(_ndarray(writeable=False), traced=None)
    return name and f"{w.new()} = {w.copied(name)}"


def computed(w: Writer) -> str | None:
    name = w.pick(_ndarray(writeable=False))
    return name and f"{w.new()} = {w.expression(w.env[name].shape)}"


def plain(w: Writer) -> str:
    shape = w.rng.choice([(), (2,), (3,), (4,), (2, 3), (3, 3)])
    return f"{w.new()} = np.array({w.literal(shape)})"


def used_plain(w: Writer) -> str | None:
    """A plain array is used, and then changed."""
    other = w.pick(_ndarray(writeable=False))
    if not other:
        return None
    name, made = w.new(), w.new()
    if name == made:
        return None
    shape = w.env[other].shape
    looked = w.rng.choice([name, name, f"{name}.T", f"{name}[::-1].T[..., ::-1].T"]) if shape else name
    used = w.rng.choice(
        [
            "{0} * {1}",
            "np.divide({0}, 3.0 + {1} ** 2)",
            "np.where({1} > 0, {0}, {1})",
            "{1} @ {0}",
            "np.sin({0} * {1})",
        ]
    )
    change = w.rng.choice(
        [
            f"{looked}[...] = {w.number()}",
            f"{name} *= {w.number()}",
            f"{name}.fill({w.number()})",
            f"{name}[...] += 1.0",
        ]
    )
    return f"{name} = np.array({w.literal(shape)})\n{made} = {used.format(other, looked)}\n{change}"


def index_variable(w: Writer) -> str:
    return f"i{w.rng.randint(0, 1)} = np.array({[w.rng.randrange(3) for _ in range(w.rng.randint(1, 4))]})"


def changed_index(w: Writer) -> str | None:
    """An index array is used, and then changed."""
    name, n = w.pick(_ndarray(1)), w.rng.randint(1, 4)
    if not name or not w.env[name].shape[0]:
        return None
    rows = w.env[name].shape[0]
    before, after = ([w.rng.randrange(rows) for _ in range(n)] for _ in range(2))
    shape = (n, *w.env[name].shape[1:])
    use = w.rng.choice(
        [
            "{0}[j] = {1}",
            "{0}[j] += {1}",
            "{2} = {0}[j] * {1}",
            "np.add.at({0}, j, {1})",
            "{2} = {0}[j, ...]",
            "{0}[(j,)] = {1}",
        ]
    )
    text = use.format(name, w.expression(shape), w.new())
    kind = w.rng.choice(["array", "list", "mask"])
    if kind == "mask":
        masks = ([w.rng.random() < 0.5 for _ in range(rows)] for _ in range(2))
        return f"j = np.array({next(masks)})\n{use.format(name, w.number(), w.new())}\nj[:] = {next(masks)}"
    return f"j = {before if kind == 'list' else f'np.array({before})'}\n{text}\nj[:] = {after}"


def freed(w: Writer) -> str | None:
    names = [k for k in w.arrays() if k[0] == "v"]
    return f"del {w.rng.choice(names)}" if len(names) > 3 else None


# ---- writes ----------------------------------------------------------------------------------------------------------


def item(w: Writer) -> str | None:
    name = w.pick(_ndarray())
    if not name:
        return None
    index = w.index(w.env[name].shape)
    return f"{name}[{index}] = {w.expression(_shape_at(w, name, index))}"


def _shape(w: Writer, text: str) -> tuple[int, ...]:
    """The shape of an expression, if it has a value."""
    try:
        return np.shape(eval(text, w.env))
    except (IndexError, ValueError):
        return ()


def _shape_at(w: Writer, name: str, index: str) -> tuple[int, ...]:
    return _shape(w, f"{name}[{index}]")


def updated_item(w: Writer) -> str | None:
    name = w.pick(_ndarray())
    if not name:
        return None
    index = w.index(w.env[name].shape)
    return f"{name}[{index}] {_operator(w, name, _shape_at(w, name, index))}"


def updated(w: Writer) -> str | None:
    name = w.pick()
    return name and f"{name} {_operator(w, name, w.env[name].shape)}"


def updated_view(w: Writer) -> str | None:
    """A view without a name is written."""
    name = w.pick(_ndarray())
    if not name:
        return None
    text = w.view(name)
    shape = _shape(w, text)
    if w.rng.random() < 0.5:
        return f"{text}[...] = {w.expression(shape)}"
    attribute = text.endswith((".real", ".imag", "]"))
    return f"{text} {_operator(w, name, shape)}" if attribute else f"{text}[...] {_operator(w, name, shape)}"


def chain(w: Writer) -> str | None:
    name = w.pick(_ndarray(1))
    if not name:
        return None
    text = f"{name}[{w.basic(w.env[name].shape)}]"
    inner = _shape(w, text)
    index = w.index(inner)
    return f"{text}[{index}] = {w.number()}" if inner else None


def out(w: Writer) -> str | None:
    name = w.pick()
    if not name:
        return None
    shape = w.env[name].shape
    x, y = w.expression(shape), w.expression(shape)
    if w.rng.random() < 0.2 and w.env[name].ndim:
        source = w.pick(lambda a: a.ndim == len(shape) + 1 and a.shape[1:] == shape)
        if source:
            return w.rng.choice(
                [
                    f"np.sum({source}, axis=0, out={name})",
                    f"{source}.mean(0, out={name})",
                    f"np.add.reduce({source}, out={name})",
                ]
            )
        return w.rng.choice(
            [
                f"np.cumsum({name}, axis=0, out={name})",
                f"np.clip({name}.real, -1.1, 1.2, out={name})",
                f"np.take({name}, [0], axis=0, out={name}[:1])",
            ]
        )
    where = f", where=np.array({np.array([w.rng.random() < 0.5 for _ in range(w.env[name].size)]).reshape(shape).tolist()})"
    return w.rng.choice([
        f"np.add({x}, {y}, out={name})", f"np.multiply({x}, {y}, {name})", f"np.sin({x}, out={name})", f"np.subtract({name}, {y}, out=({name},))",
        f"np.add({x}, {y}, out={name}{where})", f"np.copyto({name}, {x})", f"np.copyto({name}, {x}{where})", f"np.negative({name}, out={name})",
        f"{w.new()} = np.multiply({x}, {y}, out={name})", f"np.matmul({name}, {name}, out={name})", f"np.maximum({name}.real, 0.3, out={name})",
        f"np.dot({name}, {name}, out={name})", f"np.einsum('...->...', {x} + 0 * {name}, out={name})", f"np.hypot({name}.real, 1.0, out={name}.T.T)",
    ])  # fmt: skip


def writer(w: Writer) -> str | None:
    """A function or method that writes into its first argument."""
    name = w.pick(_ndarray(1))
    if not name:
        return None
    a = w.env[name]
    index = w.advanced(a.shape)
    at = _shape_at(w, name, index)
    mask = f"np.array({np.array([w.rng.random() < 0.5 for _ in range(a.size)]).reshape(a.shape).tolist()})"
    flat = [w.rng.randrange(-a.size, a.size) for _ in range(3)] if a.size else [0]
    some = w.expression((len(flat),))
    axis = w.rng.randrange(a.ndim)
    along = f"np.argsort({name}.real, axis={axis})"
    # ufunc.at of NumPy 2.4 misreads what it has to broadcast
    values = f"np.broadcast_to({w.expression(at)}, {at})"
    return w.rng.choice([
        f"np.add.at({name}, np.s_[{index}], {values})", f"np.subtract.at({name}, np.s_[{index}], {values})",
        f"np.put({name}, {flat}, {some})", f"{name}.put({flat}, {some})", f"np.place({name}, {mask}, {some})", f"np.putmask({name}, {mask}, {some})",
        f"np.putmask({name}, {mask}, {w.expression(a.shape)})", f"np.put_along_axis({name}, {along}, {w.expression(a.shape)}, {axis})",
        f"np.fill_diagonal({name}, {w.expression(())})", f"np.fill_diagonal({name}, {some})", f"{name}.fill({w.expression(())})",
        f"{name}.sort()", f"{name}.sort(axis={axis})", f"{name}.partition(0)", f"np.multiply.at({name}, np.s_[{index}], {w.number()})",
        f"{name}.real = {w.expression(a.shape)}", f"{name}.imag = {w.number()}", f"{name}.flat[{flat[0]}] = {w.number()}",
        f"{name}.flat[::2] = {w.expression(())}", f"{name}.flat = {w.expression(a.shape)}",
    ])  # fmt: skip


def plain_write(w: Writer) -> str | None:
    """A plain array is changed, by plain data."""
    name = w.pick(_ndarray(), traced=False)
    if not name:
        return None
    index = w.index(w.env[name].shape)
    return w.rng.choice([
        f"{name}[{index}] = {_value(w, name, _shape_at(w, name, index))}", f"{name}[{index}] *= {w.number()}", f"{name} += {w.number()}",
        f"{name}.sort()", f"{name}.fill({w.number()})", f"np.negative({name}, out={name})",
    ])  # fmt: skip


# ---- control flow ----------------------------------------------------------------------------------------------------


def fill_loop(w: Writer) -> str | None:
    name = w.pick(_ndarray(1))
    if not name:
        return None
    a = w.env[name]
    rest = w.expression(a.shape[1:])
    step = w.rng.choice([
        "{a}[k] = np.sin({a}[k - 1]) * {c} + {e}", "{a}[k] += {a}[k - 1] * {c}", "row = {a}[k]\n    row[...] = row * {e}",
        "{a}[k], {a}[k - 1] = {a}[k - 1] * {c}, {a}[k] + {e}", "{a}[-k] *= {e}", "{a}[k - 1:k] -= {c} * {a}[k]",
        "{a}[k] = {e}\n    if k == 1:\n        continue\n    {a}[k] *= {c}", "row = {a}[k]\n    row *= {c}\n    {a}[0] = row",
    ]).format(a=name, e=rest, c=w.number())  # fmt: skip
    return f"for k in range(1, {a.shape[0]}):\n    {step}"


def table_loop(w: Writer) -> str | None:
    name = w.pick(_ndarray(2))
    if not name or w.env[name].ndim != 2:
        return None
    rows, columns = w.env[name].shape
    write = w.rng.choice([
        "{a}[k, l] = np.cos({a}[k - 1, l] * {c}) + {a}[k, l - 1]", "row[l] = np.sin(row[l - 1]) + {a}[k - 1][l]", "{a}[k][l] = {a}[k - 1][l - 1] * {c}",
        "row[l] += {a}[k - 1, l] * {e}", "{a}.T[l, k] = {a}[k, l] * {e}", "{a}[k, l:] -= {a}[k - 1, l:] * {a}[k, l - 1]",
    ]).format(a=name, e=w.expression(()), c=w.number())  # fmt: skip
    return (
        f"for k in range(1, {rows}):\n    row = {name}[k]\n    for l in range(1, {columns}):\n        {write}"
    )


def row_loop(w: Writer) -> str | None:
    name = w.pick(_ndarray(1))
    other = w.pick(_ndarray(1, writeable=False))
    if not name or not other:
        return None
    a = w.env[name]
    e = w.expression(a.shape[1:])
    body = w.rng.choice(
        [
            "row *= {e}",
            "row[...] = np.sin(row) + {e}",
            "row += row",
            "row[0] = {c}",
            "row[::-1] -= {c} * row",
            "row /= 2.0\n    {a}[0] += row",
        ]
    )
    head = w.rng.choice(
        [
            f"for row in {name}:",
            f"for k, row in enumerate({name}):",
            f"for row, _ in zip({name}, {other}):",
            f"for row in list({name})[::-1]:",
        ]
    )
    return f"{head}\n    {body.format(a=name, e=e, c=w.number())}"


def branch(w: Writer) -> str | None:
    name, asked = w.pick(_ndarray()), w.pick(_ndarray(writeable=False))
    if not name or not asked or not w.env[asked].size:
        return None
    shape = w.env[name].shape
    test = w.rng.choice(
        [
            f"np.sum({asked}.real) > {w.number()}",
            f"{asked}[{w.position(w.env[asked].shape)}].real < {w.number()}",
            f"np.max(np.abs({asked})) > 0.9",
        ]
    )
    return f"if {test}:\n    {name}[{w.index(shape)}] = {w.number()}\nelse:\n    {name} {_operator(w, name, shape)}"


def while_loop(w: Writer) -> str | None:
    name = w.pick(_ndarray())
    return name and f"k = 0\nwhile k < 3 and np.max(np.abs({name})) < 3.0:\n    {name} *= 1.3\n    k += 1"


def function(w: Writer) -> str | None:
    """A function of the program changes its arguments."""
    u, v = w.pick(_ndarray(1)), w.pick(_ndarray(1))
    if not u or not v:
        return None
    body = w.rng.choice([
        "u[0] = np.sin(v[0]).sum()", "u *= 1.1\n    v[-1] = u[0].sum()", "u[...] = np.mean(v)\n    u = u + 1.0\n    u[0] = 5.0", "u[:1], v[:1] = v[:1].mean(), u[:1].mean()",
    ])  # fmt: skip
    return f"def change(u, v):\n    {body}\n    return u\n{w.new()} = change({u}, {v})"


def swap(w: Writer) -> str | None:
    name = w.pick(_ndarray(1))
    if not name:
        return None
    n = w.env[name].shape[0]
    if not n:
        return None
    i, j = w.rng.randrange(n), w.rng.randrange(n)
    return w.rng.choice([
        f"{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]", f"{name}[[{i}, {j}]] = {name}[[{j}, {i}]]", f"{name}[1:] = {name}[:-1]",
        f"{name}[1:] += {name}[:-1]", f"{name}[:] = {name}[::-1]", f"k = np.argmax(np.abs({name}.reshape({n}, -1)[:, 0]))\n{name}[[0, k]] = {name}[[k, 0]]",
        f"k = int(np.argmin({name}.reshape({n}, -1)[:, 0].real))\n{name}[k] = {w.number()}", f"{name}[...] = {name}.copy()[::-1] * {name}",
    ])  # fmt: skip


def whole_numbers(w: Writer) -> str | None:
    """Integers and booleans beside, and in, arrays of other numbers."""
    name = w.pick(_ndarray(1))
    if not name:
        return None
    shape = w.env[name].shape
    ints = np.array([w.rng.randrange(-2, 3) for _ in range(w.env[name].size)]).reshape(shape).tolist()
    made = w.new()
    return w.rng.choice([
        f"{name}[...] = {ints} * np.sign({name}.real)", f"{name} += np.array({ints})", f"{made} = {name} * np.array({ints}).reshape({shape})",
        f"n = np.array({ints}).reshape({shape})\nn += 1\n{name} *= n\nn[...] = 7", f"{name}[{name}.real > np.array({ints}).reshape({shape})] = 1",
        f"n = np.zeros_like({name}, dtype=int)\nn[...] = 2\nn[:1] += 1\n{name}[...] = {name} * n", f"{name} -= True", f"{name}[...] = {name}.real > 0",
        f"n = ({name}.real > {w.number()})\nn[:1] = False\n{name}[n] *= {w.number()}\nn[...] = True", f"{name}[np.int64(0):np.array(1)] = 2",
    ])  # fmt: skip


def places(w: Writer) -> str | None:
    """All places one after the other; slices that have a name; a function that closes over an array."""
    name = w.pick(_ndarray(1))
    if not name:
        return None
    e, c = w.expression(()), w.number()
    return w.rng.choice([
        f"for place in np.ndindex({name}.shape):\n    {name}[place] *= {c}", f"for place in np.ndindex({name}.shape[0]):\n    {name}[place] = {name}[place] * {c} + {e}",
        f"part = np.s_[1:]\n{name}[part] = {e}\n{name}[part] -= {c} * {name}[part]", f"part = slice(None, None, -1)\n{name}[part][:1] = {c}",
        f"k = np.array(0)\n{name}[k:k + 1] = {e}\nk += 1\n{name}[k:] *= {c}", f"{name}[(np.int64(0), ...)[:len({name})]] = {e}",
        f"def put(k, v):\n    {name}[k] = v\nfor k in range(len({name})):\n    put(k, {name}[-k] * {c})", f"rows = [row for row in {name}]\nrows[-1][...] = {e}" if w.env[name].ndim > 1 else f"np.nan_to_num({name}, copy=False)[:1] += {c}",
    ])  # fmt: skip


def unusual(w: Writer) -> str | None:
    """What is rarely written: boolean indices, windows, open meshes, np.nonzero, x.flat."""
    name = w.pick(_ndarray(1))
    if not name:
        return None
    a, e, c = w.env[name], w.expression(()), w.number()
    some = lambda n: sorted({w.rng.randrange(-n, n) for _ in range(2)}) if n else []
    windows = (
        f"windows = np.lib.stride_tricks.sliding_window_view({name}, {max(a.shape[-1] - 1, 1)}, axis=-1)"
    )
    return w.rng.choice([
        f"{name}[{w.rng.choice(['True', 'np.True_', 'np.array(True)'])}] {w.rng.choice(['=', '+=', '*='])} {e}", f"{name}[False] = {e}",
        f"{name}[np.where({name}.real > {c})] = {e}", f"{name}[np.nonzero({name}.real > {c})] *= {c}", f"{w.new()} = {name}[{w.rng.choice(['True', 'False'])}]",
        f"{windows}\n{name} *= {c}\n{name}[...] += windows.sum(axis=(-1, -2))[..., None]", f"{windows}\n{name}[..., 0] = {e}\n{w.new()} = windows[..., 0] * {c}",
        f"{name}[np.ix_({', '.join(map(str, map(some, a.shape)))})] {w.rng.choice(['=', '-='])} {e}", f"{name}.flat = {name}.T.copy().flat", f"{name}.flat[1:] = {name}.flat[:-1]",
        f"{w.new()} = np.sin({name}.flat) * {c}", f"np.copyto({name}, {name}.T)" if a.shape == a.shape[::-1] else f"{name}[::-1] = {name}", f"{w.new()} = np.block({name})\n{name} += {c}",
    ])  # fmt: skip


def container(w: Writer) -> str | None:
    """Arrays in a list are the arrays themselves."""
    u, v = w.pick(_ndarray()), w.pick(_ndarray())
    return (
        u
        and v
        and f"pair = [{u}, {v}]\npair[0][...] = {w.number()} * pair[1].mean()\npair[1] *= {w.number()}\npair[-1] = pair[0] + 1.0"
    )


def scalar(w: Writer) -> str | None:
    """Scalars are immutable; arrays without axes are not."""
    name = w.pick(_ndarray(writeable=False))
    if not name or not w.env[name].size:
        return None
    position = w.position(w.env[name].shape)
    made = w.rng.choice(
        [
            f"{name}[{position}]",
            f"{name}[{position}, ...]" if w.env[name].ndim else f"{name}[...]",
            f"np.sum({name})",
            f"np.zeros((), like={name})",
        ]
    )
    made = w.rng.choice(
        [
            made,
            made,
            f"np.sin({made})",
            f"np.asarray({made}, like={name})",
            f"({made}).copy()",
            f"np.reshape({made}, ())",
        ]
    )
    after = w.rng.choice(
        ["{0} += {c}", "{0} *= {0}", "{0}[...] = {c}", "np.add({0}, {c}, out={0})", "{0} = {0} * {c}"]
    )
    first, second = w.new(), w.new()
    if first == second:
        return None
    target = w.rng.choice([first, second])
    return f"{first} = {made}\n{second} = {first}\n{after.format(target, c=w.number())}"


def failing(w: Writer) -> str | None:
    """What NumPy refuses is refused with the same kind of error."""
    name = w.pick(_ndarray(writeable=False))
    if not name:
        return None
    n = w.env[name].size
    body = w.rng.choice([
        f"{name} += 1j", f"{name}[...] = np.ones({n + 2})", f"{name} *= np.ones((2, {n + 2}))", f"{name}[{n + 1}] = 1.0", f"{name}.imag[...] = 1.0",
        f"np.add({name}, 1j, out={name})", f"np.copyto({name}, 1j * {name})", f"{name}.diagonal()[0] = 1.0", f"np.broadcast_to({name}, (2, *{name}.shape))[0] = 1.0",
        f"{name}[np.ones({n + 1}, bool)] = 1.0", f"{name} @= {name}", f"{name}[0, 0, 0, 0] = 1.0", f"np.fill_diagonal({name}, 1.0)", f"{name}[...] = 1j",
        f"{name} **= 1j", f"{name}[0.5] = 1.0", f"np.put({name}, {n + 7}, 1.0)", f"{name}.sort(axis=7)",
    ])  # fmt: skip
    return f"try:\n    {body}\n    log.append('done')\nexcept Exception as error:\n    log.append(kind_of(error))"


STATEMENTS: list[tuple[str, Callable[[Writer], str | None], int]] = [
    ("alias", alias, 3), ("view", view, 10), ("view of a view", view_of_view, 5), ("copy", copy, 6), ("expression", computed, 5), ("plain array", plain, 3),
    ("plain array changed after use", used_plain, 4), ("index variable", index_variable, 1), ("index changed after use", changed_index, 3), ("del", freed, 1),
    ("item", item, 12), ("item, in place", updated_item, 8), ("in place", updated, 8), ("view, in place", updated_view, 6), ("item of a view", chain, 4),
    ("out=", out, 6), ("function that writes", writer, 7), ("plain item", plain_write, 3), ("loop that fills", fill_loop, 3), ("loop over a table", table_loop, 3),
    ("whole numbers", whole_numbers, 3), ("places", places, 3), ("loop over rows", row_loop, 3), ("if", branch, 2), ("while", while_loop, 1), ("function that changes its arguments", function, 2), ("swap", swap, 3),
    ("list of arrays", container, 1), ("scalar", scalar, 3), ("unusual", unusual, 3), ("refused by NumPy", failing, 2),
    ("idiom", idiom, 9), ("new array", new_array, 6),
]  # fmt: skip

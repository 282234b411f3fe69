"""More statements of random programs, as people write them: lines with names and numbers to fill in."""

from __future__ import annotations

from tests.fuzz.writing import Writer

# `a` and `b` are arrays of one shape, `c` a number, `e` what broadcasts to a row of `a`; `z` is a new name.
# What NumPy refuses is not written.
IDIOMS = """
np.copyto({a}, {b}, where={a}.real > {c})
np.copyto({a}[1:], {e}, where={b}[1:].real < {c})
{z} = {a} + 1j * {b};{z}.real += {c} * {b}.real;{z}.imag *= {b}.real
{z} = {a} * 1j;{z}.imag[::-1] += {z}.real;{z}.real = {z}.imag
{a}[0], {a}[-1] = {a}[-1], {a}[0]
first, last = {a}[0], {a}[-1];first[...], last[...] = last + 0.0, first * {c}
first, *rest = {a};rest[-1][...] += first
{a}[0] = {a}[-1] = {e}
{z} = look = {a}[::-1];look += {c}
for u, v in zip({a}, {b}):;    u += v;    v *= {c}
for k, u in enumerate({a}[::-1]):;    u[...] = u * k + {c}
for u in {a}.T:;    u -= u.mean()
{a}[...] = {a}.T
{a} += {a}.T
{a} *= {a}[::-1]
{a}[:-1] += {a}[1:]
{a}[::-1] += {b}
{a}[:, None][:, 0] += {b}
{a}[-1:0:-1] = {b}[1:]
{a}[::-2] -= {c} * {b}[::-2]
np.moveaxis({a}, 0, -1)[0] = {c}
np.swapaxes({a}, 0, -1)[...] += {c} * {b}.T
np.add({a}[:-1], {b}[1:], out={a}[1:])
np.add({a}, {b}, out={a}.T)
np.add({a}, {b}, out={a}, where={b}.real > {c})
np.multiply({a}, {c}, out={a}[::-1])
np.sum({a}, axis=0, out={a}[0])
np.mean({a}, axis=0, out={b}[-1])
np.max({a}.real, axis=-1, out={b}[..., 0])
np.cumsum({a}, axis=0, out={a}[::-1])
np.cumprod({a}, axis=-1, out={b})
np.matmul({a}, {b}, out={a}.T)
np.divmod({a}, 0.7, out=({a}, {b}))
np.modf({a}, out=({b}, {a}))
np.maximum.at({a}, [0, 0], {c})
np.negative.at({a}, [0, -1])
np.put({a}.T, [0, -1], [{c}, 0.5])
np.put({a}, [0, 7], {c}, mode='wrap')
np.putmask({a}[::2], {a}[::2].real > {c}, {b}[::2])
np.place({a}, {a}.real > {c}, [{c}])
np.fill_diagonal({a}[::-1], {c})
{a}[np.tril_indices(len({a}), -1)] = {c}
{a}[np.triu_indices(len({a}))] *= {c}
{a}[np.diag_indices(len({a}))] += {e}
{a}.flat[{a}.size // 2:] = {b}.flat
{a}.T.flat[1:3] = {c}
{a}[{a}.real > {c}] = {b}[{a}.real > {c}]
{a}[{a}.real > {c}] -= {e}
{a}[..., {a}.real.reshape(-1)[0] > {c}] *= {c}
{a}[::-1].sort(axis=0)
{a}.T.partition(0)
windows = np.lib.stride_tricks.sliding_window_view({a}, 1, axis=0);{a}[0] = {e};{z} = windows.T * {c}
shared = np.broadcast_to({a}[0], {a}.shape);{a}[0] = {e};{z} = shared * {c}
def rows(u):;    u *= {c};    return u[1:], u[:1];rows({a})[1][...] = {e};{z} = rows({b})[0]
table = {{'a': {a}, 'b': ({b}, {a}.T)}};table['a'] += {c};table['b'][1][...] *= {c}
""".strip().splitlines()

# New arrays: what is a view of them depends on how they lie in memory.
NEW = """
np.sort({a}.real.T, axis=0) | np.partition({a}.real, 0, axis=-1) | np.pad({a}, 1) | np.insert({a}, 0, {c}, axis=0) | np.delete({a}, 0, axis=-1)
np.gradient({a}, axis=0) | np.take({a}, [0, -1], axis=-1) | np.roll({a}, 1, axis=0) | np.diff({a}, axis=-1) | np.cumsum({a}.T, axis=0)
np.select([{a}.real > {c}], [{b}]) | np.median({a}.real, axis=0) | np.array([{a}, {b}], like={a}) | np.cos({a}, order='F') | np.where({a}.real > {c}, {a}, {b})
np.zeros_like({a}, order='F') | np.stack([{a}, {b}], axis=-1) | np.concatenate([{a}, {b}.T]) | np.tile({a}, (1,) * {a}.ndim) | np.outer({a}, {b})
np.lib.stride_tricks.sliding_window_view({a}, 1, axis=0) * {c} | np.lib.stride_tricks.sliding_window_view({a}, 2, axis=-1).copy('K') | {a} * {b}.T
np.einsum('...i->i...', {a}) + {c} | np.broadcast_to({a}, (2, *{a}.shape)) + {c} | np.broadcast_to({a}[:1], {a}.shape).copy('K') | {a}[..., [0, -1]]
{a}[[0, -1], ..., [0, 0]] | {a}[[0, -1]][:, ::-1] | np.maximum.accumulate({a}.real, axis=-1) | np.max({a}.real, axis=1, keepdims=True) | {a} - {a}.mean(axis=0)
np.tensordot({a}, {b}, (0, 0)) | {a} @ {b}.T | np.round({a}, 2) | np.meshgrid({a}.ravel()[:2], {b}.ravel()[:3])[0] | np.repeat({a}, 2, axis=-1) | np.flip({a}) * {c}
"""
LOOKS = [
    "{z}.reshape(-1)", "{z}.ravel('F')", "{z}.ravel('K')", "{z}.ravel('A')", "{z}.T.reshape(-1)", "{z}[:, ::2].reshape(-1)", "{z}.swapaxes(0, -1).ravel()",
    "{z}.copy('K').ravel('K')", "{z}.reshape({z}.shape[::-1], order='F')", "np.ascontiguousarray({z}, like={z})", "({z} * 2.0).ravel('K')", "{z}.reshape(2, -1)",
]  # fmt: skip
NEWS = [new for line in NEW.strip().splitlines() for new in line.split(" | ")]


def _names(w: Writer) -> dict[str, str] | None:
    """What is filled in."""
    a = w.pick(lambda a: a.ndim > 0 and a.flags.writeable)
    if a is None:
        return None
    shape = w.env[a].shape
    b = w.pick(lambda b: b.shape == shape and b.flags.writeable)
    assert b is not None
    return {"a": a, "b": b, "c": w.number(), "e": w.expression(shape[1:]), "z": w.new()}


def idiom(w: Writer) -> str | None:
    """One of the idioms."""
    names = _names(w)
    return None if names is None else w.rng.choice(IDIOMS).format(**names).replace(";", "\n")


def new_array(w: Writer) -> str | None:
    """A new array is looked at, and one of the two is written: is the other changed?"""
    names = _names(w)
    if names is None:
        return None
    made, look = w.rng.choice(NEWS).format(**names), w.rng.choice(LOOKS).format(**names)
    written = w.rng.choice(
        ["{z}[...] = {z} * {c}", "look[...] = {c}", "{z}[:1] = {c}", "look *= {c}"]
    ).format(**names)
    seen = w.new()
    return f"{names['z']} = {made}\nlook = {look}\n{written}" + (
        f"\n{seen} = look * 1.0" if seen != names["z"] else ""
    )

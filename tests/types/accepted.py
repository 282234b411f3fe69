"""What pyright and mypy must accept in strict mode, with the types to find; checked, never run."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import funcgrad as fg
from funcgrad.drawing.picture import Drawing

Array = NDArray[np.float64]
Params = dict[str, Array]


def of_number(x: float) -> float:
    return x * x


def of_array(x: Array, scale: float = 1.0) -> float:
    return float(np.sum(x)) * scale


def of_tree(params: Params) -> float:
    return float(params["w"][0])


def with_aux(x: Array) -> tuple[float, str]:
    return float(x[0]), "aux"


def mapped(x: Array) -> Array:
    return np.sin(x)


def given() -> tuple[float, Array, Params]:
    return 1.0, np.ones(3), {"w": np.ones(2)}


number, array, params = given()

# ---- a gradient has the type of its argument ----
assert_type(fg.grad(of_number)(number), float)
assert_type(fg.grad(of_array)(array), Array)
assert_type(fg.grad(of_array)(array, 2.0), Array)
assert_type(fg.grad(of_tree)(params), Params)
assert_type(fg.grad(of_array, 1)(array, 2.0), float)
assert_type(fg.grad(of_array, (0, 1))(array, 2.0), tuple[Array, float])
assert_type(fg.grad(of_array, (1,))(array, 2.0), tuple[Any, ...])
assert_type(fg.grad(with_aux, has_aux=True)(array), tuple[Array, str])
assert_type(fg.grad(of_array, argnames="scale")(array, scale=2.0), Any)
assert_type(fg.elementwise_grad(mapped)(array), Array)
assert_type(fg.hessian_diagonal(of_array)(array), Array)

# ---- so has what comes with the value ----
assert_type(fg.value_and_grad(of_number)(number), tuple[Any, float])
assert_type(fg.value_and_grad(of_tree)(params), tuple[Any, Params])
assert_type(fg.value_and_grad(with_aux, has_aux=True)(array), tuple[tuple[Any, str], Array])

# ---- lambdas, of which nothing is known, and decorators ----
fg.grad(lambda x: x * 2)(2.0)
fg.grad(lambda w: np.sum(w**2))(np.ones(3))
fg.value_and_grad(lambda w: np.sum(w**2))(np.ones(3))


@fg.grad
def slope(x: Array) -> float:
    return float(np.sum(x))


@fg.vmap
def of_each(x: float) -> float:
    return x + 1


@fg.grad(argnums=1)
def second(x: float, y: float) -> float:
    return x * y


assert_type(slope(array), Array)

# ---- arrays give arrays ----
assert_type(fg.jacobian(mapped)(array), Array)
assert_type(fg.jacfwd(mapped)(array), Array)
assert_type(fg.hessian(of_array)(array), Array)

# ---- a Jacobian of one number has the type of the gradient ----
assert_type(fg.jacobian(of_number)(number), float)
assert_type(fg.jacfwd(of_array)(array), Array)
assert_type(fg.jacobian(of_tree)(params), Params)
assert_type(fg.hessian(of_number)(number), float)
assert_type(fg.grad(np.sin)(number), float)
assert_type(fg.jacobian(np.sin)(number), float)
assert_type(fg.jacobian(np.sin)(array), Array)
assert_type(fg.hvp(of_array, (array,), (array,)), Array)
assert_type(fg.stop_gradient(params), Params)

# ---- outputs keep their type ----
assert_type(fg.vmap(mapped)(array), Array)
# numbers become a batch of them
assert_type(of_each(array), NDArray[Any])
assert_type(fg.vmap(of_number)(array), NDArray[Any])
assert_type(fg.vmap(fg.grad(of_number))(array), NDArray[Any])
assert_type(fg.jvp(mapped, (array,), (array,)), tuple[Array, Array])
assert_type(fg.vjp(mapped, array)[0], Array)
assert_type(fg.vjp(mapped, array)[1](array), tuple[Array])
assert_type(fg.linearize(mapped, array)[1](array), Array)
assert_type(fg.draw(mapped)(array), Drawing)

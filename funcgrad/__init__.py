"""funcgrad differentiates the NumPy code that you already have.

>>> import numpy as np
>>> from funcgrad import grad
>>> grad(lambda x: np.sum(np.sin(x) ** 2))(np.array([0.0, 0.5]))
array([0.        , 0.84147098])
"""

import funcgrad.rules
from funcgrad import tree
from funcgrad.rules.at import at
from funcgrad.transforms.checkpointing import checkpoint, checkpoint_name
from funcgrad.transforms.custom import custom_gradient, custom_jvp, custom_vjp
from funcgrad.transforms.derivatives import elementwise_grad, grad, jvp, stop_gradient, value_and_grad, vjp
from funcgrad.transforms.linear import linear_transpose, linearize
from funcgrad.transforms.matrices import hessian, hvp, jacfwd, jacobian, jacrev
from funcgrad.transforms.products import gnvp, hessian_diagonal, vhp
from funcgrad.transforms.vectorize import vmap

__version__ = "0.1.0.dev0"

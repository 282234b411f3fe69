"""A module beside the program, which imports it."""

import math

import numpy as np


def squares(x):
    table = np.zeros(3)
    for k in range(3):
        table[k] = (k * x) ** 2
    return table.sum()


def from_helper(x):
    return math.sin(squares(x))

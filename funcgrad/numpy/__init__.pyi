# For editors and type checkers: the names and the types of NumPy's, since tracers pass for arrays.
from numpy import *  # noqa: F403
from numpy import char as char
from numpy import ctypeslib as ctypeslib
from numpy import dtypes as dtypes
from numpy import emath as emath
from numpy import exceptions as exceptions
from numpy import lib as lib
from numpy import ma as ma
from numpy import polynomial as polynomial
from numpy import random as random
from numpy import rec as rec
from numpy import strings as strings
from numpy import testing as testing
from numpy import typing as typing

from funcgrad.numpy import fft as fft
from funcgrad.numpy import linalg as linalg

"""Samples: calls of SciPy's functions that test_sweep.py puts through every check. One file for each module
of SciPy's.

They are written as those of NumPy's functions (tests/rules/samples): `S(linalg.solve, spd(3), A(3),
assume_a="pos")`.
"""

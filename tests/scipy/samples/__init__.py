"""Samples: calls of SciPy's functions that test_sweep.py checks in every way. One file per module.

They are written as those of NumPy's functions (tests/rules/samples): `S(linalg.solve, spd(3), A(3),
assume_a="pos")`.
"""

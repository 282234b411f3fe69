"""What makes a tracer look like an ndarray. Read it in this order:

methods.py       NumPy's two protocols, the operators, ndarray's methods and attributes
ufunc.py         ufuncs as primitives; folds.py, their reduce and accumulate
out_argument.py  out=
arguments.py     how the arguments of a call are read; signatures.py, what is known of a function by its signature
casts.py         what NumPy says to a write of one dtype into another
flat.py          x.flat
text.py          print(x), f"{x:.3f}"
foreign.py       objects of other libraries: what becomes an array, and what is refused
"""

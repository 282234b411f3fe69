"""What makes a tracer look like an ndarray. Read it in this order:

spec.py          a shape and a dtype
methods.py       NumPy's two protocols, the operators, ndarray's methods and attributes
ufunc.py         ufuncs as primitives; folds.py, their reduce and accumulate
out_argument.py  out=
arguments.py     how the arguments of a call are read; signatures.py, what is known of a function by its signature
casts.py         what NumPy says to a write of one dtype into another
flat.py          x.flat
repeated.py      one value at many places, of an array of another library
resting.py       functions that look for tracers only while a transform runs
zeros.py         the zeros of a derivative where nothing came
text.py          print(x), f"{x:.3f}"
foreign.py       objects of other libraries: what becomes an array, and what is refused
"""

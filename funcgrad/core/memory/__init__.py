"""What tracers share, as arrays do. Read it in this order:

indexing.py     x[index]; batch_index.py, the same under vmap
families.py     who looks into one array, by which steps, and what a write may overwrite
views.py        what looks into the same array, and what it sees of writes
mutation.py     x[index] = v; places.py, where that goes; loops.py, the lane of loops; inplace.py, x += v
masked_read.py  y[mask] under vmap
layout.py       how arrays lie in memory; orders.py, new arrays that lie as NumPy's would
guard.py        plain arrays that were saved; owned.py, cotangents that may be overwritten
blank.py        new arrays, in which nothing is traced yet; looks.py, plain arrays from which these are computed
plain.py        what hot code does with plain arrays in a part of NumPy's time
reads.py        the cotangents of many x[index] in one buffer; scattering.py, chunks.py, of lazy arrays
"""

"""The functions of `torch`, by subject; each is declared once, and is a method, an in-place method or both.

    ops.py           how a function runs on tensors            registry.py     where what is declared is entered
    creation.py      tensor, zeros, arange, ...                convert.py      to, float, item, tolist, clone
    elementwise.py   arithmetic, comparisons, angles           reduce.py       sums, extremes, order statistics
    shape.py         view, reshape, transpose, ...             views.py        as_strided, diagonals, the *_copy forms
    join.py          cat, stack, ...                           index.py        x[index], gather, scatter, ...
    linalg.py        products of matrices, decompositions      matrices.py     triangular systems, factors, exp
    special.py       torch.fft and torch.special               scipy.py        special functions of SciPy
    settings.py      switches, and small questions             kernels*.py     what NumPy lacks

`subjects.py` is the list of them: once it is loaded, all are declared.
"""

"""The functions of `torch`, by subject; each is declared once, and is a method, an in-place method or both.

    ops.py           how a function runs on tensors            registry.py     where what is declared is entered
    creation.py      tensor, zeros, arange, ...                convert.py      to, float, item, tolist, clone
    elementwise.py   arithmetic, comparisons, angles           operators.py    Python's operators
    reduce.py        sums, extremes, order statistics          statistics.py   covariances, histograms
    shape.py         view, reshape, transpose, ...             views.py        as_strided, diagonals, the *_copy forms
    join.py          cat, stack, ...                           index.py        x[index], gather, take, ...
    scatter.py       scatter_reduce, index_add, ...            sets.py          unique, isin, combinations
    differences.py   diff, gradient, trapezoid
    linalg.py        products of matrices, decompositions      matrices.py     triangular systems, factors, exp
    distances.py     between rows                              signals.py      windows, stft
    special.py       torch.fft and torch.special               scipy.py        special functions of SciPy
    questions.py     is_signed, can_cast, ...                  settings.py     switches
    memory.py        data_ptr, storage_offset                  raw.py          resize_, strides, DLPack

What NumPy lacks is in `funcgrad/nn/kernels`. `subjects.py` is the list of them: once it is loaded, all are
declared.
"""

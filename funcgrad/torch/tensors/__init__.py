"""What a tensor is: a cell over the engine's values, its dtype, its memory, its writes.

dtypes.py        PyTorch's dtypes, and how operands of several meet
size.py          Size and device: what `x.shape` and `x.device` are
storage.py       memory that several tensors share: views, detach(), NumPy arrays
tensor.py        `Tensor`: the cell
values.py        what a function's body asks of its operands
data.py          what a user gives as data or as a shape
inplace.py       writes: `add_`, `y[0] = v`, `out=`
subclasses.py    `__torch_function__`
interop.py       NumPy's arrays and functions
legacy.py        FloatTensor([1, 2]) and its relatives
printing.py      repr and str
"""

"""The spaces of arrays, and of what NumPy returns as named tuples."""

from funcgrad.compat.autograd.spaces import ArrayVSpace, ComplexArrayVSpace, TreeVSpace, VSpace

NamedTupleVSpace = TreeVSpace
EigResultVSpace = EighResultVSpace = QRResultVSpace = SlogdetResultVSpace = SVDResultVSpace = TreeVSpace

__all__ = [
    "ArrayVSpace",
    "ComplexArrayVSpace",
    "EigResultVSpace",
    "EighResultVSpace",
    "NamedTupleVSpace",
    "QRResultVSpace",
    "SVDResultVSpace",
    "SlogdetResultVSpace",
    "VSpace",
]

"""Rules for tangents of NumPy's functions: each has one here, or has that of the other direction transposed."""

"""Programs as people write them in NumPy, updating arrays in place; their derivatives are right."""

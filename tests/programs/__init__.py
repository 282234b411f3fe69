"""Programs as people write them in NumPy, filling and updating arrays in place; and tests that their
derivatives are right.
"""

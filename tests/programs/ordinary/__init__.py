"""Programs as people write them, who think of no derivative: plain NumPy, math, lists, classes, loops,
float(). Each is a function of one array or number, and gives a number.
"""

"""The kernels of funcgrad.nn: functions that NumPy lacks, declared to the engine with their derivatives.

    basic.py           sigmoid, relu, softmax and an affine map
    blocks.py          long formulas on many elements, block by block
    erf.py, special.py erf, lgamma, digamma and their relatives
    activations.py     elementwise functions with settings
    convolution.py     correlate, spread, weigh: each the derivative of the other two
    columns.py         the windows of a convolution as columns
    pooling.py         the largest and the mean of windows
    normalization.py   mean and variance taken out
    attention.py       softmax(q k^T) v
    recurrent.py       all steps of a layer in one call
    embedding.py       rows of a table, and their sums
    losses.py          from predictions to a loss, in one node
    ctc.py             the loss of sequences without an alignment

A kernel takes arrays as the public functions have prepared them, and checks nothing.
"""

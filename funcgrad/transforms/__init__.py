"""Functions on functions: derivatives, matrices of derivatives, vectorisation."""

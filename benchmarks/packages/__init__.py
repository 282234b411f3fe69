"""Packages written for autograd, on funcgrad: the same numbers, and how fast (`make compat`).

Each workload runs in a process of its own, with the original and with `funcgrad.compat`; the two are
compared.
"""

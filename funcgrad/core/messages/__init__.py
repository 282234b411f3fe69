"""What users are told when something can't be done. Read it in this order:

conversions.py  where a tracer would become plain data, or is used after its transform
callers.py      what the interpreter is about to do there: a call, a write, text
failures.py     errors of other libraries that were given a tracer, or were told no by one
tracebacks.py   from the call of a transform straight to the user's line
"""

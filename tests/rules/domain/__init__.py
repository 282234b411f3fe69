"""Elementwise functions over their whole domain, against truths computed once."""

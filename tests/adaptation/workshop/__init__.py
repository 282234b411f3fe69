"""A package of somebody's, which knows nothing of funcgrad."""

"""Measurements of labelled regions: SciPy's own code. What is labelled, or binary, has no derivative."""

from __future__ import annotations

from funcgrad.scipy.declare import Chapter

ndimage = Chapter("ndimage")
ndimage.rerun(
    "sum sum_labels mean variance standard_deviation minimum maximum median extrema center_of_mass labeled_comprehension"
)
ndimage.piecewise_constant(
    "minimum_position maximum_position histogram label find_objects value_indices watershed_ift binary_closing binary_dilation "
    "binary_erosion binary_fill_holes binary_hit_or_miss binary_opening binary_propagation distance_transform_bf "
    "distance_transform_cdt distance_transform_edt iterate_structure"
)

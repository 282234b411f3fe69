"""What is measured, and the target of each line: `ALL`, in the order of the table."""

from benchmarks.problems import (
    curvature,
    elementwise,
    facade,
    layers,
    lazy,
    loops,
    models,
    operations,
    resources,
    scientific,
    training,
    untraced,
)

BY_HAND = (
    *elementwise.LINES,
    *models.LINES,
    *loops.LINES,
    *curvature.LINES,
    *resources.LINES,
    *scientific.LINES,
    *untraced.LINES,
)
ALL = (*BY_HAND, *layers.LINES, *operations.LINES, *training.LINES, *lazy.LINES, *facade.LINES)

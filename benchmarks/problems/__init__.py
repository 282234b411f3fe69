"""What is measured, and the target of each line: `ALL`, in the order of the table."""

from benchmarks.problems import curvature, elementwise, loops, models, resources

ALL = (*elementwise.LINES, *models.LINES, *loops.LINES, *curvature.LINES, *resources.LINES)

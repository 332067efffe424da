"""lab: coding benchmarks as folders of tasks, with verdicts that the graded code cannot forge."""

__version__ = "0.1.0"

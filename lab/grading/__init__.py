"""Grading: a candidate gets inputs and gives values, the host judges. Stdlib only; numpy only where values need it."""

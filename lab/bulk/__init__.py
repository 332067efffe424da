"""Bulk grading: a whole samples file on one suite, in any number of goes."""

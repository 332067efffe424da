"""Suites: rows of a public benchmark become problems that lab can turn into tasks."""

"""Turning problems into tasks: render, prove from both sides, publish."""

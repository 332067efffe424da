"""Comparing tools by what their runs came to."""

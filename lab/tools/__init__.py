"""Coding agents as data: one TOML file a tool, and what of it is found on this machine."""

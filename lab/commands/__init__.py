"""The commands: one module and one function each, given the root, the environment and its options."""

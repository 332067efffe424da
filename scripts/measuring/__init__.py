"""What scripts/bench and scripts/stability are made of. Standard library only; lab is run as a user runs it."""

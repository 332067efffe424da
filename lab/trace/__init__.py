"""A run's recorded exchange with its model, as turns that a person can read."""

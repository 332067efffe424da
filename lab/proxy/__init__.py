"""The recording proxy between a tool and its model: counts every request, and holds the key."""

"""Running a tool over tasks: attempts, resume, results."""

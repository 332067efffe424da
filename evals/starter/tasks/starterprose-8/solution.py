def fair_score(marks: list[float], drop: int) -> float:
    """Write a function to work out a diver's score from the marks of the judges: the mean of the marks that remain
    when the drop highest and the drop lowest of them are taken away. If no mark would remain, the score is the
    median of all marks, and without any marks it is 0.0. The number drop is zero or more.

    Example:

        assert fair_score([7.0, 8.5, 9.0, 6.5, 8.0], 1) == 7.833333333333333
    """

def rank_teams(results: list[tuple[str, int, int, str]]) -> list[str]:
    """Write a function to rank the teams of a league. A result (home, home goals, away goals, away) gives three
    points to the winner, or one point to each team if both have the same goals. Teams with more points come
    first; with equal points the higher difference of goals scored and conceded decides, then more goals scored,
    then the alphabetical order of the names. Return the names of all teams that played.

    Example:

        assert rank_teams([('Ajo', 2, 1, 'Bex'), ('Bex', 1, 1, 'Cor')]) == ['Ajo', 'Cor', 'Bex']
    """

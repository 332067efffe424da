def rank_teams(results: list[tuple[str, int, int, str]]) -> list[str]:
    table: dict[str, list[int]] = {}
    for home, home_goals, away_goals, away in results:
        for team, scored, conceded in ((home, home_goals, away_goals), (away, away_goals, home_goals)):
            row = table.setdefault(team, [0, 0, 0])
            row[0] += 3 if scored > conceded else int(scored == conceded)
            row[1] += scored - conceded
            row[2] += scored
    return sorted(table, key=lambda team: ([-figure for figure in table[team]], team))

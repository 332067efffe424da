def island_sizes(rows: list[str]) -> list[int]:
    land = {(row, column) for row, line in enumerate(rows) for column, mark in enumerate(line) if mark == "#"}
    sizes = []
    while land:
        shore = [land.pop()]
        size = 0
        while shore:
            row, column = shore.pop()
            size += 1
            width = len(rows[row])
            for cell in (
                (row - 1, column),
                (row + 1, column),
                (row, (column - 1) % width),
                (row, (column + 1) % width),
            ):
                if cell in land:
                    land.remove(cell)
                    shore.append(cell)
        sizes.append(size)
    return sorted(sizes, reverse=True)

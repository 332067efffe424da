def poly_text(coefficients: list[int]) -> str:
    """Write a polynomial in x as people do; `coefficients[i]` belongs to the i-th power of x.

    The highest power comes first and terms with the coefficient zero are left out. A coefficient of one is not
    written before a power of x, and the first power is written x. Terms are joined by " + " or " - "; before the
    first term only a minus sign is written, without a space. The polynomial without any term is 0.

    >>> poly_text([3, 0, 2])
    '2x^2 + 3'
    >>> poly_text([-4, 5])
    '5x - 4'
    """
    text = ""
    for power in range(len(coefficients) - 1, -1, -1):
        coefficient = coefficients[power]
        if not coefficient:
            continue
        if text:
            text += " - " if coefficient < 0 else " + "
        elif coefficient < 0:
            text = "-"
        if abs(coefficient) != 1 or not power:
            text += str(abs(coefficient))
        if power:
            text += "x" if power == 1 else f"x^{power}"
    return text or "0"

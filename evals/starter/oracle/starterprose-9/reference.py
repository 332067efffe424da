def first_bad_bracket(text: str) -> int:
    partner = {")": "(", "]": "[", "}": "{"}
    unclosed: list[tuple[str, int]] = []
    quoted = False
    for place, mark in enumerate(text):
        if mark == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif mark in partner.values():
            unclosed.append((mark, place))
        elif mark in partner:
            if not unclosed or unclosed[-1][0] != partner[mark]:
                return place
            unclosed.pop()
    return unclosed[0][1] if unclosed else -1

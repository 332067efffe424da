def apply_word(word: str, left: int, right: int) -> list[int]:
    if word == "/":
        size = abs(left) // abs(right)
        return [size if (left < 0) == (right < 0) else -size]
    results = {
        "+": [left + right],
        "-": [left - right],
        "*": [left * right],
        "swap": [right, left],
        "over": [left, right, left],
    }
    return results[word]


def stack_program(words: list[str]) -> list[int]:
    stack: list[int] = []
    for word in words:
        if word.lstrip("-").isdigit():
            stack.append(int(word))
        elif word in {"dup", "drop"} and stack:
            stack[-1:] = [stack[-1]] * 2 if word == "dup" else []
        elif word in {"swap", "over", "+", "-", "*", "/"} and len(stack) > 1 and (word != "/" or stack[-1]):
            stack[-2:] = apply_word(word, *stack[-2:])
        else:
            break
    return stack

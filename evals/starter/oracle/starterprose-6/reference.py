def title_word(word: str) -> str:
    return "-".join(part[:1].upper() + part[1:] for part in word.lower().split("-"))


def title_case(title: str, small: list[str]) -> str:
    words = title.split(" ")
    for place, word in enumerate(words):
        if any(letter.isupper() for letter in word[1:]):
            continue
        inner = 0 < place < len(words) - 1
        words[place] = word.lower() if inner and word.lower() in small else title_word(word)
    return " ".join(words)

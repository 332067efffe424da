def duration_text(seconds: int) -> str:
    rest = abs(seconds)
    text = ""
    for unit, size in (("w", 604800), ("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count:
            text += f"{count}{unit}"
    return ("-" if seconds < 0 else "") + (text or "0s")

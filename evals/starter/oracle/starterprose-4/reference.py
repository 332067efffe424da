def build_order(needs: dict[str, list[str]]) -> list[str]:
    waiting = {name: set(parts) for name, parts in needs.items()}
    for parts in needs.values():
        for part in parts:
            waiting.setdefault(part, set())
    order: list[str] = []
    while waiting:
        ready = [name for name, parts in waiting.items() if parts.issubset(order)]
        if not ready:
            return []
        order.append(min(ready))
        del waiting[order[-1]]
    return order

def build_order(needs: dict[str, list[str]]) -> list[str]:
    """Write a function to put things into an order in which they can be built. The dictionary says for each thing
    which other things must be built before it; a thing that is only named in such a list needs nothing itself,
    but has to be built too. Things are built one at a time: always the alphabetically first of those whose
    needs are all built. Return an empty list if not everything can be built.

    Example:

        assert build_order({'roof': ['wall'], 'wall': ['floor'], 'floor': []}) == ['floor', 'wall', 'roof']
    """

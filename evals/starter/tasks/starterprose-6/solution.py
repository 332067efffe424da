def title_case(title: str, small: list[str]) -> str:
    """Write a function to put a title into title case. Words are separated by single spaces. A word that has a
    capital letter anywhere after its first character, such as NASA or iPhone, is left as it is. A word of the
    list small (which is in lower case) is written in lower case, whatever case it comes in, unless it is the
    first or the last word of the title. Every other word is written with a capital letter at its start and
    after each of its hyphens.

    Example:

        assert title_case('the house on the hill', ['the', 'on', 'of']) == 'The House on the Hill'
    """

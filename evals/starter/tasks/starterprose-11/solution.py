def stack_program(words: list[str]) -> list[int]:
    """Write a function to run a little stack program and return the stack it leaves, the bottom first. A whole
    number, which may be negative, is put on the stack. The words + - * / replace the two topmost numbers by the
    result, with the lower of them as the left operand; / drops the fraction, rounding toward zero. The word dup
    puts the topmost number on the stack again, drop takes it away, swap exchanges the two topmost numbers, and
    over puts the number below the topmost one on top of the stack again. A word that is unknown, lacks the
    numbers it needs, or would divide by zero ends the program and leaves the stack as it was before that word.

    Example:

        assert stack_program(['2', '3', '+', '4', '*']) == [20]
    """

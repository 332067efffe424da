def is_floats(x) -> bool:
    # a float, or a list or tuple of at least one float and nothing else
    if isinstance(x, float):
        return True
    if isinstance(x, (list, tuple)):
        return len(x) > 0 and all(isinstance(i, float) for i in x)
    return False


def is_close(out, exp, atol) -> bool:
    return isinstance(out, float) and abs(out - exp) <= atol + 1e-07 * abs(exp)


def assertion(out, exp, atol):
    exact_match = out == exp

    if atol == 0 and is_floats(exp):
        atol = 1e-6
    if not exact_match and atol != 0:
        assert type(out) is type(exp)
        if isinstance(exp, float):
            assert is_close(out, exp, atol)
        else:
            assert len(out) == len(exp)
            assert all(is_close(o, e, atol) for o, e in zip(out, exp))
    else:
        assert exact_match


def check(candidate):
    inputs = [['3a2b'], ['2(x3-)y'], [''], ['12.'], ['0a'], ['a0(bc)d'], ['!3a'], ['3!3'], ['2(!(2!))'], ['!!2!!'], ['2(a2(b2(c)))'], ['()x'], ['3( )|'], ['10(ab)'], ['2(3!1)'], ['b2(.2b)'], ['!02#.'], ['2((0#).0!7)10!!-'], ['!7'], ['0(!00  )3(2-)'], ['(3  2b)-'], ['3 b10(b(2-)#)'], ['!!'], ['3#1a1!!'], ['#'], ['10(2b)3a!7'], ['3!010((2a0#)3(#3!()10.)'], ['(2 1.b)'], ['(2 )(2 0!7)0(2a)'], ['!00(1!x!x1 )'], ['3!)'], ['b1#'], ['0#2(2#2.3(b3#))3(10(2#1!7)10.#)'], ['2(a0!(3-)'], ['3# '], ['2-3!!3b'], ['10((#!! ))'], ['3 '], ['3-'], [' '], ['3b 0.'], ['-'], ['3!(2(2!()'], ['0(2(0!x)#( !)))'], ['a0b'], ['10(a(3b2a))3#'], ['0!0'], ['1!)1.3a'], ['0-3#0(1!0)'], ['0(.)a10 '], ['0a!!'], ['10(b2-)0!03a'], ['2b-'], ['!)'], ['10(2b2 )'], ['3!01#'], ['(-)'], ['3!00#2(3.)'], ['1#1!x3b'], ['2 3(!!)2-'], ['0b2a'], ['3 (1-2b)'], ['10a3.0b'], ['.0!('], ['0#2(0(1!01#)!7)0(0.0!!-)'], ['3#0b3!!'], ['0((-3.))0#2(3 )'], ['10a'], ['10(a0b)3( 3- )'], ['3!xa0-'], ['2(a)'], ['1.1 a'], ['0(3!)(1-.)2a)'], ['a1a2!0'], ['(0a)'], ['0.2#'], ['3!7'], ['2!).'], ['3.(0(0b!x!7))'], ['3!!3!x3a'], ['0!x2!x2#'], ['a'], ['10(3(3!x)0(3. ))3-'], ['0!!b'], ['0-0##'], ['10 (!)1 0a)2#'], ['0#3b0-'], ['0#(1#!7)10(0!7)'], ['2(3a )-'], ['10(3a)'], ['0(.)0(.3-3a)'], ['b'], ['10#b2!x'], ['1aa'], ['2((3#3.1a)!()(0!)3(3.1#1!))3(1.))'], [' 3.'], ['1-1a'], ['(3a)(3b0a3b)'], ['3(3!(3a#)10a'], ['2(.3b2!x)0(3!x)'], ['10.'], ['2.'], ['3b3!x#'], ['2!00b'], ['(a)'], ['3#0a2-'], ['3!)1.'], ['2b'], ['a0!)'], [' 0b'], ['(1-1!))0b10(bb0a)'], ['3!( '], ['3!x2 '], ['3a0-!!'], ['2 10a2b'], ['0!!-1b'], ['2(3b0!7)0(1!!b)'], ['2#1a0#'], ['10(2!()#2( )'], ['3!03-2.']]
    results = ['aaabb', 'x---x---y', '', '............', '', 'ad', '3a', '333', '())())', '!!!', 'abccbccabccbcc', 'x', '   |', 'abababababababababab', '111111', 'b.bb.bb', '0##.', '..!!!!!!!!!!-', '7', '------', '    bb-', '   bb--#b--#b--#b--#b--#b--#b--#b--#b--#b--#', '!', '###a!', '#', 'bbbbbbbbbbbbbbbbbbbbaaa7', '000aa#(((#(((#(((..........aa#(((#(((#(((..........aa#(((#(((#(((..........aa#(((#(((#(((..........aa#(((#(((#(((..........aa#(((#(((#(((..........aa#(((#(((#(((..........aa#(((#(((#(((..........aa#(((#(((#(((..........aa#(((#(((#(((..........', '  .b', '    ', '0', ')))', 'b#', '##..b###b###b#####..b###b###b#####7##7##7##7##7##7##7##7##7##7..........###7##7##7##7##7##7##7##7##7##7..........###7##7##7##7##7##7##7##7##7##7..........#', 'a---a---', '### ', '--!!!bbb', '#! #! #! #! #! #! #! #! #! #! ', '   ', '---', ' ', 'bbb ', '-', '(((((((', '', 'a', 'abbbaaabbbaaabbbaaabbbaaabbbaaabbbaaabbbaaabbbaaabbbaaabbbaa###', '', ').aaa', '###', 'a          ', '!', 'b--b--b--b--b--b--b--b--b--b--aaa', 'bb-', ')', 'bb  bb  bb  bb  bb  bb  bb  bb  bb  bb  ', '000#', '-', '000......', '#xbbb', '  !!!--', 'aa', '   -bb', 'aaaaaaaaaa...', '.', '77', '###!!!', '      ', 'aaaaaaaaaa', 'aaaaaaaaaa ---  ---  --- ', 'xxxa', 'aa', '. a', '', 'aa00', '', '##', '777', ')).', '...', '!!!xxxaaa', 'xx##', 'a', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx---', 'b', '#', '          ) ##', 'bbb', '#7', 'aaa aaa -', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '', 'b', '##########bxx', 'aa', '###...a(###...a(...#)...#)...#)...', ' ...', '-a', 'aaabbbbbb', '(((aaa#(((aaa#(((aaa#aaaaaaaaaa', '.bbbxx.bbbxx', '..........', '..', 'bbbxxx#', '00', 'a', '###--', '))).', 'bb', 'a', ' ', '-)bbbbbbbbbbbbbbbbbbbb', '((( ', 'xxx  ', 'aaa!', '  aaaaaaaaaabb', '-b', 'bbbbbb', '##a', '((((((((((((((((((((#  ', '000---..']
    for i, (inp, exp) in enumerate(zip(inputs, results)):
        assertion(candidate(*inp), exp, 0)


check(expand_runs)

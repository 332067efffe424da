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
    inputs = [["tea; 'green; loose' ;12"], [''], [';'], [' ; ;'], ["''"], ["' '"], ["' padded ';x"], ["'it''s'; o'clock"], ["''''"], ["'''';''"], ['a;;b;'], ["  spaced out  ;'  kept  '  "], ["rock 'n' roll;'a'';''b'"], [" ;1c'b' ;1"], ["1''cb ;' ;';acc  ;'';''' a;a;'"], ["'b';  'a'  ;c'1 ca"], ["'' ;  ' ''   a';'' ;'';cba"], ["  1aa  ;' ;b''b;a'  ;  c ;c"], ["  1bb  ;  '''' ;a b  ;'a;a'"], ["'; '''  ;  'b'';; ';a'c a "], ["  1;a '1; b "], ["'bb''aa' ;  11b;  'ab ;'; cbab1 "], ["'''  b'''"], ["  ';''b ' ; 'b; a  ;';  c' ; 'bbb;b; ';  ''';;'"], ["'''ba;';1bc ; 'aa''a';'ab' "], [" 'bbb''' ; ';a;'' '"], ["1a  1;' ;ab  a'"], ["  '';a1bc1  ;  '''a a;a' ;a"], ["  ''';a' ;  111 ; 1'11 c "], [" a'1;bb ;b;1caa"], ["'a ;';  b 11"], ["a ; 1a ;'a' "], [" 11a 'c  ;'b' ;';bb''a'; '' ;a  "], [" '; ; ab';  bba;  ab ;'ab;'"], ['b111 ;  b'], ["' ';  ;'b;;b';';a' ;  'b; b''a'  "], [' aaa ab  '], ["'b' ;  c b;  ';bbb';''''  ;ca1b "], ["b ;  1c1b;  'ba b'';' ; ';'; ';aa'"], ["b;111 '1;  ' ;;;'''"], ["1ab1 ; a;';  ;;ba'  "], [" ' b';'' "], ["'b'  ; ';a''' "], [" a  ;'  ;'"], ["''''' ;a'  ;  "], ['ca1  '], [" 'bb ' ;  'a;;;'  ;  ';''' ;b ca ;  bcca1 "], ["'a; ;b' ;  ';a ;a'  "], [" 1'c  c ;  cc1'' ;'''''b;aa''' ;  c'b 1  "], [" b 'c  ; ; ;   ;  ccbc"], [";a' c;1cb1a1  ;  '  a''';  '''''a'''  "], ["  'aa ''a '; a  ;  1ca  ;  ''''' a'"], [" '' ; '''' ;1'a'b';b  ; 1  b"], ["1ca' ;'' ;  b   ac  "], [" ''''';a'''"], ["  'a '';'  ;''"], [' 1c '], [" '' "], ["  ''';a'''  ;';ab  '"], [" '';'aaa;'';b'  ;  'aa'  ;'b'''  "], ["acc; 'baa;a';' ;ab'"], ["' bbb  '''; 1bc ;'ab '' ''';'b  '  ;''  "], [" ''' aaab'  ;'  ;''; ''';  1'c' ;   ;  1"], [" ac;' '  ;1c;  a"], [";bb  ;   ; '''';  'aa'' '''  "], ["  b'1 "], ["  ''  ; ; ';;'; '''''  b '  "], [" acc ;c'c1a ; 1b"], ["c1a; 1;' a''ab  ';  c "], [" '  ;b'' '  ; ; ;a  ;  ''''''''';'  "], ['    ;  ;  b'], ["  'bb''b''' ;' b; a' "], ["  ';aaa''' ; c''  a"], ["';a' ; '''abb' ;'b' ;b'"], ["  b;c'a1  ; ' bb '"], ["'''b;'  ;'a ;a ;' ;  c 1' "], ["a1 ;1'11';11b;  '''';b1c'a"], ["'a;b';  ; aac ba ;  ' ;a'"], ["  ' ;' "], ["  ;1b;    ;1';cca"], ["cb; 'a;'; ; aa'1ab"], ["  ';;a;aba'  ;cb ;  ''"], [" a  ;  ;'';b'b ;ab11"], ['bbaba  ; '], ['  11;  a1; ;'], ["b;'a'';b;' ;';''a b;';' a b''';cbbb'  "], [" 'a;; ''b;'"], ["';a;ba'  ;b1 1b  ;1ccbc  ;a "], ["    ;''"], [" ' a ''b'''; "], ["c'a1cc;'''; '' '  ; 'a'"], ["  a1' ; c"], ["a;'a;a; '; 1a11c ; '; ' "], ["b; 1'  "], [" a;b1'' ; aa'"], ["  1a' '  ;  ' ;'"], ["'a''b';' ;'''';a'  ;b;a'"], ['  1; 1b  ;  ;11b'], ['  '], ["'';  ba a';;c; '''''''''' "], [" c' ' c;  '';  '; b'  ;';abb'; "], [" ''  ;  '';'bbbb;ba' ; b1  "], ["  ';'; ; aa1;  ab  1"], ["  ' a''b;'  ;cc'a;'aa'';;';  aa;   "], [" 'a;'';'"], ["  ;  ''''''  ;''  ;'aa;'''''"], [" 1c;  'ab'"], ["  ' ';'a a''''a''' ;' baabaa'  ;c  "], ["'a;a' "], ["  ;'bba';a1 "], [" bb'a1"], ["' ab';  ;  "], ["''' bb' ;'    a';;cca"], ["''';b''';  ';'' ''''';' a;;'''; ''"], [" ';b'  ;'''ab'  ;a'c "], ["'b ''''aab' ; 'a ' ;  aab"], ["a'c;  ' ba'  ;  b;'a a'; ';a''; a ' "], ["' ;'' '  ;  ba'b"], ["  ''';a ''''b';'ab ';' '';;'; abc "], ["' a';   ;c1a ba  ;c; ''"]]
    results = [['tea', 'green; loose', '12'], [''], ['', ''], ['', '', ''], [''], [' '], [' padded ', 'x'], ["it's", "o'clock"], ["'"], ["'", ''], ['a', '', 'b', ''], ['spaced out', '  kept  '], ["rock 'n' roll", "a';'b"], ['', "1c'b'", '1'], ["1''cb", ' ;', 'acc', '', "' a;a;"], ['b', 'a', "c'1 ca"], ['', " '   a", '', '', 'cba'], ['1aa', " ;b'b;a", 'c', 'c'], ['1bb', "'", 'a b', 'a;a'], ["; '", "b';; ", "a'c a"], ['1', "a '1", 'b'], ["bb'aa", '11b', 'ab ;', 'cbab1'], ["'  b'"], [";'b ", 'b; a  ;', "c'", 'bbb;b; ', "';;"], ["'ba;", '1bc', "aa'a", 'ab'], ["bbb'", ";a;' "], ['1a  1', ' ;ab  a'], ['', 'a1bc1', "'a a;a", 'a'], ["';a", '111', "1'11 c"], ["a'1", 'bb', 'b', '1caa'], ['a ;', 'b 11'], ['a', '1a', 'a'], ["11a 'c", 'b', ";bb'a", '', 'a'], ['; ; ab', 'bba', 'ab', 'ab;'], ['b111', 'b'], [' ', '', 'b;;b', ';a', "b; b'a"], ['aaa ab'], ['b', 'c b', ';bbb', "'", 'ca1b'], ['b', '1c1b', "ba b';", ';', ';aa'], ['b', "111 '1", " ;;;'"], ['1ab1', 'a', ';  ;;ba'], [' b', ''], ['b', ";a'"], ['a', '  ;'], ["'' ;a", ''], ['ca1'], ['bb ', 'a;;;', ";'", 'b ca', 'bcca1'], ['a; ;b', ';a ;a'], ["1'c  c", "cc1''", "''b;aa'", "c'b 1"], ["b 'c", '', '', '', 'ccbc'], ['', "a' c", '1cb1a1', "  a'", "''a'"], ["aa 'a ", 'a', '1ca', "'' a"], ['', "'", "1'a'b'", 'b', '1  b'], ["1ca'", '', 'b   ac'], ["'';a'"], ["a ';", ''], ['1c'], [''], ["';a'", ';ab  '], ['', "aaa;';b", 'aa', "b'"], ['acc', 'baa;a', ' ;ab'], [" bbb  '", '1bc', "ab ' '", 'b  ', ''], ["' aaab", "  ;'; '", "1'c'", '', '1'], ['ac', ' ', '1c', 'a'], ['', 'bb', '', "'", "aa' '"], ["b'1"], ['', '', ';;', "''  b "], ['acc', "c'c1a", '1b'], ['c1a', '1', " a'ab  ", 'c'], ["  ;b' ", '', '', 'a', "'''';"], ['', '', 'b'], ["bb'b'", ' b; a'], [";aaa'", "c''  a"], [';a', "'abb", 'b', "b'"], ['b', "c'a1", ' bb '], ["'b;", 'a ;a ;', "c 1'"], ['a1', "1'11'", '11b', "'", "b1c'a"], ['a;b', '', 'aac ba', ' ;a'], [' ;'], ['', '1b', '', "1'", 'cca'], ['cb', 'a;', '', "aa'1ab"], [';;a;aba', 'cb', ''], ['a', '', '', "b'b", 'ab11'], ['bbaba', ''], ['11', 'a1', '', ''], ['b', "a';b;", ";'a b;", " a b'", "cbbb'"], ["a;; 'b;"], [';a;ba', 'b1 1b', '1ccbc', 'a'], ['', ''], [" a 'b'", ''], ["c'a1cc", "'; ' ", 'a'], ["a1'", 'c'], ['a', 'a;a; ', '1a11c', '; '], ['b', "1'"], ['a', "b1''", "aa'"], ["1a' '", ' ;'], ["a'b", " ;'';a", 'b', "a'"], ['1', '1b', '', '11b'], [''], ['', "ba a'", '', 'c', "''''"], ["c' ' c", '', '; b', ';abb', ''], ['', '', 'bbbb;ba', 'b1'], [';', '', 'aa1', 'ab  1'], [" a'b;", "cc'a", "aa';;", 'aa', ''], ["a;';"], ['', "''", '', "aa;''"], ['1c', 'ab'], [' ', "a a''a'", ' baabaa', 'c'], ['a;a'], ['', 'bba', 'a1'], ["bb'a1"], [' ab', '', ''], ["' bb", '    a', '', 'cca'], ["';b'", ";' ''", " a;;'", ''], [';b', "'ab", "a'c"], ["b ''aab", 'a ', 'aab'], ["a'c", ' ba', 'b', 'a a', ";a'; a "], [" ;' ", "ba'b"], ["';a ''b", 'ab ', " ';;", 'abc'], [' a', '', 'c1a ba', 'c', '']]
    for i, (inp, exp) in enumerate(zip(inputs, results)):
        assertion(candidate(*inp), exp, 0)


check(split_quoted)

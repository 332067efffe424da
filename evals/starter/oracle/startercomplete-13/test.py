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
    inputs = [[2024], [1900], [2000], [2023], [4], [100], [3652], [1295], [2513], [1890], [1166], [3200], [900], [1596], [1200], [400], [3000], [1213], [2998], [655], [2386], [558], [1609], [1600], [1500], [2812], [3072], [200], [2604], [3500], [2184], [3674], [3800], [500], [3916], [3700], [2213], [300], [2200], [172], [800], [2900], [3664], [2800], [57], [3245], [3100], [1173], [2927], [1100], [4000], [1300], [3751], [2700], [2100], [2400], [1691], [1734], [1299], [205], [3600], [2572], [1050], [1016], [169], [3900], [2599], [422], [2221], [1800], [726], [882], [1981], [14], [635], [2167], [859], [3076], [2500], [600], [1183], [2173], [1700], [3117], [3259], [1202], [3883], [403], [2673], [1045], [2656], [2139], [797], [1073], [843], [2300], [3860], [2994], [1448], [3400], [3300], [3841], [1474], [809], [149], [62], [1610], [1400], [1692], [2864], [49], [2257], [93], [1397], [802], [1000], [773], [2877], [2535], [313]]
    results = [True, False, True, False, True, False, True, False, False, False, False, True, False, True, True, True, False, False, False, False, False, False, False, True, False, True, True, False, True, False, True, False, False, False, True, False, False, False, False, True, True, False, True, True, False, False, False, False, False, False, True, False, False, False, False, True, False, False, False, False, True, True, False, True, False, False, False, False, False, False, False, False, False, False, False, False, False, True, False, False, False, False, False, False, False, False, False, False, False, False, True, False, False, False, False, False, True, False, True, False, False, False, False, False, False, False, False, False, True, True, False, False, False, False, False, False, False, False, False, False]
    for i, (inp, exp) in enumerate(zip(inputs, results)):
        assertion(candidate(*inp), exp, 0)


check(is_leap_year)

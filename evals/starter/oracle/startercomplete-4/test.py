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
    inputs = [[['XIV', 'VI']], [['CCCC', 'XC', 'VIIII']], [[]], [['iv', 'Ix']], [['MMMM', 'M']], [['CM', 'XCIX']], [['MCMXCIX', 'I']], [['D', 'D', 'D', 'D', 'D', 'D', 'D', 'D', 'D']], [['IIII']], [['I']], [['xlix', 'LI']], [['DCCCLXXXVIII']], [['CXL', 'cxciiii', 'MMDXXXI', 'MCCCXXXII']], [['cxliv']], [['CCCCXXX', 'MCCCCXVI', 'DCCCCXXXXIX']], [['DXXVI']], [['MXXXXII', 'mmccx', 'MMCCXXI', 'DL']], [['mdlv', 'DCLXXXXII', 'DCLX']], [['MMCDXCVI']], [['MCMXL', 'MCCXII']], [['MMCXCI']], [['dxxix']], [['cdlvi']], [['XCIX', 'MMCCXLIIII', 'MCDXCIV']], [['LIX']], [['MMCCCLXXXXV', 'MCCXCIV', 'DLXXXXVIIII']], [['CCCXIIII']], [['CMXL']], [['MCDXXXV', 'MMLV', 'MMXCII']], [['MCMXXXV', 'MDV']], [['CCCCXCIX', 'CDXLII']], [['cccclvi']], [['CCLXXXXV']], [['DX']], [['CDXXXII', 'mcxviiii', 'XCV', 'xxxxiiii', 'mdxii', 'CMIX']], [['mmccclviiii', 'dcxxxiii', 'MDCCCCLXXXXIX', 'DXVI']], [['MCCVI']], [['MXCII', 'XXXXIV']], [['DCIIII']], [['CIIII', 'MCDV', 'CCCCLXXXXIV']], [['DCXLIIII', 'XLI', 'MCXCII', 'MMXXXXIII']], [['CCCXLIII']], [['MCCCLIII']], [['MMCCIV', 'DCXLII']], [['DCXXXXIX']], [['cmxci']], [['MCDXCVIIII', 'MDCXCIV', 'mccccxiv', 'CDLI', 'CDXLIX']], [['CMLXV', 'DCCCCXCVI', 'CMLXXXX', 'MMCMLXXXXV', 'CDLXXXXIIII', 'CMXCIII']], [['DCXXIII', 'CCXXXXIII']], [['CDXII']], [['mdcxx']], [['mcv', 'MCDVIIII']], [['mmcmxiv']], [['MMCCCCXII']], [['MCCCXIV', 'dcxxii', 'XXXXVIIII', 'MMDCXIIII', 'CCLXIII']], [['MMCXL', 'MMCCXLIII']], [['CCCCV']], [['MCCXCIIII']], [['CXCV', 'CDLXVIIII', 'mdcxxxiiii', 'cmx', 'MXCVIIII', 'DCCCCXL']], [['XIII', 'CCCXXXXVI']], [['CMX']], [['CDXCVIIII']], [['CMLXIX', 'CMXX']], [['DCLX']], [['CCIIII']], [['DCXI']], [['XVI', 'MMCCXXXI']], [['mcdxxiiii', 'ccclxxxxv', 'DXXXXIII']], [['DCLIV', 'MMCMXXXXVIIII', 'MDLXXXXIIII', 'mmcccxxxiii', 'MCDXXXIV']], [['CDXXXXI', 'CCCXXIIII']], [['mxliv']], [['DCCCCLXI']], [['MMXCVIIII']], [['MDXLIIII']], [['MCCCCLIIII', 'DLII', 'CCCXXVI', 'MDCXLII', 'DL']], [['CCXXXXVIIII']], [['CMXXXX']], [['MCXLIII', 'CCCLV']], [['CXCVIIII', 'DCCCCXXIV']], [['MCL', 'DCLX']], [['MCCCCVIIII', 'CLIX']], [['DCXLIIII', 'mmcccx']], [['dcxxxx', 'CMXXIX', 'CMI']], [['CXLI']], [['cmxlii']], [['mmcccxxxxv', 'MDCLIX', 'MCXXVI']], [['CXXXVIIII']], [['MXIX', 'MCCXXIIII']], [['CCCLXXXXVI']], [['mmcxxi', 'ccccxl']], [['MMCCXXXIII', 'DLXVIIII']], [['CCCCXXXXI', 'cmxx', 'XVI', 'DCXXXIX', 'ccccxxv', 'DCCCCXC']], [['XII']], [['DCCCCXXXI']], [['DCCCCLXXXXVIIII', 'MMCX', 'MMCDLIX', 'MMCMXLIV', 'XXXXIX']], [['DXLIV']], [['DXX', 'XXXV']], [['CCCLIII']], [['CDXXXXI', 'DCCCCXXVI']], [['MMCCCXXII']], [['xxxxvi']], [['cclviiii', 'MDCCCCXIX', 'DXXXXII', 'MMDCXCIII', 'DCCCCXC', 'CXXXIIII']], [['MXLVIIII']], [['DCLXIII', 'MMCCCXII']], [['dccccxxiv', 'MMCCCI', 'CXLV']], [['MMCXCIIII', 'MMCDLXII']], [['MXXIX', 'CCCCLXXXXVIIII', 'LXVIIII', 'cccclxiv', 'DXXXX']], [['DCXXXIII', 'MMDXII', 'CCCCIII']], [['CCLXXXXIX']], [['MDCLIX']], [['DCXXXXIIII', 'MMDCXXXIIII']], [['MMXLVIIII', 'MCDXXXIX', 'MCDXXVIIII']], [['CDXXXXIV', 'CMXVIIII', 'DCXLVI']], [['MCCCCVIIII', 'CCCXXIII', 'CCLXI']], [['DL', 'MCCCCXXIV', 'CCLXXXXVI']], [['CCCCXXXXIX', 'lxii', 'CDXCVIIII']], [['mmcxxii', 'CCXCVIIII', 'MCCCCXCV', 'ccxciv']], [['MCXIII', 'cxci', 'MCCCXXIIII', 'MMCCCXLIIII', 'CCCLXXXXI']], [['mmdcxxxxii', 'DCXCIX']], [['MMCCCCXL']]]
    results = ['XX', 'CDXCIX', 'N', 'XIII', 'MMMMM', 'CMXCIX', 'MM', 'MMMMD', 'IV', 'I', 'C', 'DCCCLXXXVIII', 'MMMMCXCVII', 'CXLIV', 'MMDCCXCV', 'DXXVI', 'MMMMMMXXIII', 'MMCMVII', 'MMCDXCVI', 'MMMCLII', 'MMCXCI', 'DXXIX', 'CDLVI', 'MMMDCCCXXXVII', 'LIX', 'MMMMCCLXXXVIII', 'CCCXIV', 'CMXL', 'MMMMMDLXXXII', 'MMMCDXL', 'CMXLI', 'CDLVI', 'CCXCV', 'DX', 'MMMMCXI', 'MMMMMDVII', 'MCCVI', 'MCXXXVI', 'DCIV', 'MMIII', 'MMMCMXX', 'CCCXLIII', 'MCCCLIII', 'MMDCCCXLVI', 'DCXLIX', 'CMXCI', 'MMMMMDVII', 'MMMMMMMCDXXXIII', 'DCCCLXVI', 'CDXII', 'MDCXX', 'MMDXIV', 'MMCMXIV', 'MMCDXII', 'MMMMDCCCLXII', 'MMMMCCCLXXXIII', 'CDV', 'MCCXCIV', 'MMMMMCCXLVII', 'CCCLIX', 'CMX', 'CDXCIX', 'MDCCCLXXXIX', 'DCLX', 'CCIV', 'DCXI', 'MMCCXLVII', 'MMCCCLXII', 'MMMMMMMMCMLXIV', 'DCCLXV', 'MXLIV', 'CMLXI', 'MMXCIX', 'MDXLIV', 'MMMMDXXIV', 'CCXLIX', 'CMXL', 'MCDXCVIII', 'MCXXIII', 'MDCCCX', 'MDLXVIII', 'MMCMLIV', 'MMCDLXX', 'CXLI', 'CMXLII', 'MMMMMCXXX', 'CXXXIX', 'MMCCXLIII', 'CCCXCVI', 'MMDLXI', 'MMDCCCII', 'MMMCDXXXI', 'XII', 'CMXXXI', 'MMMMMMMMDLXI', 'DXLIV', 'DLV', 'CCCLIII', 'MCCCLXVII', 'MMCCCXXII', 'XLVI', 'MMMMMMDXXXVII', 'MXLIX', 'MMCMLXXV', 'MMMCCCLXX', 'MMMMDCLVI', 'MMDCI', 'MMMDXLVIII', 'CCXCIX', 'MDCLIX', 'MMMCCLXXVIII', 'MMMMCMXVII', 'MMIX', 'MCMXCIII', 'MMCCLXX', 'MX', 'MMMMCCX', 'MMMMMCCCLXIII', 'MMMCCCXLI', 'MMCDXL']
    for i, (inp, exp) in enumerate(zip(inputs, results)):
        assertion(candidate(*inp), exp, 0)


check(roman_total)

from __future__ import annotations

import pytest

from lab.errors import LabError
from lab.suites import SUITES, get_suite


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_loads_under_its_name(name: str) -> None:
    suite = get_suite(name)
    assert suite.name == name
    assert suite.datasets


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("evalpluss", "Did you mean evalplus?"),
        ("stater", "Did you mean starter?"),
        ("../evalplus/x", "evalplus"),
        ("zzz", "There are: "),
        ("", "evalplus"),
    ],
)
def test_unknown_suite_is_one_line_that_helps(name: str, advice: str) -> None:
    with pytest.raises(LabError) as caught:
        get_suite(name)
    assert repr(name) in str(caught.value)
    assert advice in str(caught.value)
    assert "\n" not in str(caught.value)

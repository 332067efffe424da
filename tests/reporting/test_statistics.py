from __future__ import annotations

import itertools

import pytest

from lab.reporting.statistics import pass_at_k, wilson_interval

# the intervals that R's prop.test(k, n, correct=FALSE) and statsmodels' proportion_confint(method="wilson") give
KNOWN = [
    (0, 10, 0.0, 0.277533),
    (10, 10, 0.722467, 1.0),
    (1, 1, 0.206549, 1.0),
    (5, 10, 0.236593, 0.763407),
    (80, 100, 0.711170, 0.866633),
    (1, 542, 0.000326, 0.010378),
]


@pytest.mark.parametrize(("k", "n", "low", "high"), KNOWN)
def test_wilson(k: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(k, n) == pytest.approx((low, high), abs=1e-5)


def test_wilson_of_nothing() -> None:
    assert wilson_interval(0, 0) is None


def test_wilson_stays_within_bounds_and_holds_the_rate() -> None:
    for n in (1, 2, 7, 50):
        for halves in range(2 * n + 1):
            interval = wilson_interval(halves / 2, n)
            assert interval is not None
            assert 0 <= interval[0] <= halves / 2 / n <= interval[1] <= 1


def test_pass_at_k_is_the_share_of_draws_with_a_pass() -> None:
    for n in range(1, 8):
        for c in range(n + 1):
            for k in range(1, n + 1):
                draws = list(itertools.combinations(range(n), k))
                hits = sum(any(sample < c for sample in draw) for draw in draws)
                assert pass_at_k(n, c, k) == pytest.approx(hits / len(draws), abs=1e-12)


def test_pass_at_k_of_many_samples_is_exact() -> None:
    assert pass_at_k(3, 1, 1) == 1 / 3
    assert pass_at_k(10_000, 1, 100) == 0.01
    assert pass_at_k(10_000, 0, 10_000) == 0.0
    assert pass_at_k(10_000, 5000, 5001) == 1.0


@pytest.mark.parametrize(("n", "c", "k"), [(5, 1, 6), (5, 6, 1), (5, -1, 1), (5, 1, 0), (0, 0, 1)])
def test_pass_at_k_that_is_not_defined(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="there is no pass@"):
        pass_at_k(n, c, k)

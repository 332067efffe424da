"""The figures of a report. Every rule says where it comes from."""

from __future__ import annotations

import math

Z_95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that at least one of `k` samples passes, without bias, from `n` samples of which `c` passed.

    Source: M. Chen et al., Evaluating Large Language Models Trained on Code (2021), section 2.1: one less the share
    of the draws of `k` in `n` that hit none of the `c`. Raises ValueError unless 0 <= c <= n and 1 <= k <= n.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"there is no pass@{k} of {n} samples of which {c} passed")
    draws = math.comb(n, k)
    return (draws - math.comb(n - c, k)) / draws


def wilson_interval(k: float, n: int) -> tuple[float, float] | None:
    """The 95 % score interval of a rate of `k` in `n`, within 0 and 1; None where `n` is 0.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of the
    American Statistical Association 22 (1927). Unlike the textbook interval it holds near 0 and 1 and for small n.
    `k` may be a fraction: the sum of per-task means, with `n` tasks, for runs of one task are not independent.
    """
    if n == 0:
        return None
    rate = k / n
    scale = 1 + Z_95**2 / n
    centre = (rate + Z_95**2 / (2 * n)) / scale
    half = Z_95 / scale * math.sqrt(rate * (1 - rate) / n + Z_95**2 / (4 * n**2))
    # exact at the ends, where rounding would leave 1e-17
    low = 0.0 if k <= 0 else max(0.0, centre - half)
    high = 1.0 if k >= n else min(1.0, centre + half)
    return low, high

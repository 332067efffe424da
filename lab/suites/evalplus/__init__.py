"""The evalplus suite: HumanEval+ and MBPP+."""

from lab.suites.evalplus.suite import EvalPlus

__all__ = ["SUITE"]

SUITE = EvalPlus()

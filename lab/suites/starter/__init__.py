"""The starter suite: problems written for this project, whose rows ship with it."""

from lab.suites.starter.suite import Starter

__all__ = ["SUITE"]

SUITE = Starter()

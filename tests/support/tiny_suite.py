"""The tiny suite as a suite module."""

from __future__ import annotations

from tests.generate.tiny import TinySuite

SUITE = TinySuite()

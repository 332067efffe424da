#!/usr/bin/env python3
"""Write docs/result.schema.json: the JSON Schema of a run's result.json, from the records that lab reads and writes.

Usage: .venv/bin/python scripts/schema.py
"""

from __future__ import annotations

import json
from pathlib import Path

from lab.results import json_schema

PAGE = Path(__file__).resolve().parents[1] / "docs" / "result.schema.json"

if __name__ == "__main__":
    PAGE.write_text(json.dumps(json_schema(), indent=1) + "\n", encoding="utf-8")

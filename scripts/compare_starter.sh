#!/usr/bin/env bash
# The first comparison: generates and proves the starter suite in LAB_ROOT, runs the built-in tools over it and prints
# their table. Needs lab on PATH; ./scripts/quickstart sees to that, and scripts/readme.py takes the README's table here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
samples=evals/starter/samples

lab gen --suite starter --all
lab run reference --suite starter
lab run stub --suite starter
lab run replay --suite starter --samples "$samples/careful.jsonl"
lab run replay --suite starter --samples "$samples/hasty.jsonl"
lab report --suite starter

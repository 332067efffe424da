"""Serves a model on a free port of this machine's loopback, until its standard input ends.

`lab.running.local_model` starts this file as it is, so nothing of lab is imported. It says one line on standard output:
the address. What the server logs goes to standard error.
"""

from __future__ import annotations

import os
import sys

CONTEXT_TOKENS = 1536
"""Of a question and its answer together, however long an answer is asked for: a model this small may find no end."""


def main() -> None:
    (weights,) = sys.argv[1:]
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the library may write there
    import xllamacpp  # noqa: PLC0415 - only now

    parameters = xllamacpp.CommonParams()
    parameters.model.path = weights
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.n_parallel = 1
    # more threads than idle cores make it many times slower
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.port = 0
    server = xllamacpp.Server(parameters)
    out.write(f"{server.listening_address}\n")
    out.close()
    sys.stdin.read()
    os._exit(0)  # what is being answered is nobody's any more


if __name__ == "__main__":
    main()

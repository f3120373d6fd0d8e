"""Commands that begin with a word to the system, said in their own process.

``preexec_fn`` and ``user`` would say it in a fork of this one. Where a client of Milvus has been, its threads are not
there in the fork, and now and then that aborts.
"""

import sys


def after(statement, command):
    """Return a command that first runs a Python statement, and then becomes ``command``, whose program has a path."""
    program = f"import os, resource, signal, sys; {statement}; os.execv(sys.argv[1], sys.argv[1:])"
    return [sys.executable, "-IS", "-c", program, *map(str, command)]

#!/usr/bin/env python3
"""Writes a graph of PyG, DGL, OGB, networkx, SciPy or tables as a dataset.

    python3 examples/to_graphmill.py graph.pt data/mine --ignore edge_attr

`--help` has the options; from Python, `from to_graphmill import write` is the
same (examples/to_graphmill/__init__.py)."""

import sys

try:
    import numpy  # noqa: F401 - all that is needed beside Python.
except ImportError:
    sys.exit("to_graphmill.py: NumPy is not installed for this Python "
             f"({sys.executable}): apt-get install python3-numpy, or pip install "
             "numpy")

from to_graphmill.command import main

if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Writes a graph of PyG, DGL, OGB, networkx, SciPy or tables as a dataset.

    python3 examples/to_graphmill.py graph.pt data/mine --ignore edge_attr

`--help` has the options. From Python, call `graphmill.import_`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]
                       / "actors" / "python"))  # Of a checkout.
try:
    from graphmill.data.convert import convert as write, read  # noqa: F401
    from graphmill.data.values import Refused  # noqa: F401
    from graphmill.data.command import main
except ImportError as missing:
    sys.exit(f"to_graphmill.py: {missing} for {sys.executable}: apt-get install "
             "python3-graphmill python3-numpy, or pip install numpy")
if __name__ == "__main__":
    sys.exit(main())

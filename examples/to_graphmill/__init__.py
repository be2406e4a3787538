"""Writes graphs of other libraries as datasets of Graphmill.

    from to_graphmill import write
    write(data, "data/mine", ignore=["edge_attr"])

takes PyG's Data and HeteroData, DGL's graphs, OGB's datasets of nodes and
links, networkx, sparse matrices of SciPy, and tables of pandas and pyarrow. It
knows them by their attributes and imports none of these libraries; NumPy is
all that it needs. The folder of arrays for `graphmill import npy` is written,
and the import done if the program is found: that checks every value, sorts
edges in bounded memory and digests the arrays, so that there is one place which
knows the format of datasets. Features that are CSR are written so, and stay so
in the dataset with import_flags=["--sparse"]. Labels are numbers to be learnt
with ["--regression"], and rows that mark one class each are several labels with
["--multi-label"]."""

from .convert import read, write
from .values import Refused

__all__ = ["Refused", "read", "write"]

"""Graphmill makes batches; you train your own model on them.

>>> import graphmill                                          # doctest: +SKIP
>>> for batch in graphmill.Loader("data/wordnet", [15, 10]):  # doctest: +SKIP
...     ...

``help(graphmill.Loader)`` and ``help(graphmill.Batch)`` explain the rest.
"""

from .batch import Batch, Key
from .data import import_, write
from .errors import (Cancelled, CreditError, DataError, DefinitionError,
                     EngineError, Error, ForkError, StateError, Timeout,
                     Unavailable)
from .info import Info, LabelSet, NodeType, Task
from .links import LinkLoader, Negatives
from .loader import Graph, Loader, Verdict, open
from .run import Prediction, Run

__all__ = ["Batch", "Cancelled", "CreditError", "DataError",
           "DefinitionError", "EngineError", "Error", "ForkError", "Graph",
           "Info", "Key", "LabelSet", "LinkLoader", "Loader", "Negatives",
           "NodeType", "Prediction", "Run", "StateError", "Task", "Timeout",
           "Unavailable", "Verdict", "import_", "open", "write"]

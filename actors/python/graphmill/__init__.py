"""Graphmill makes batches; you train your own model on them.

>>> import graphmill                                          # doctest: +SKIP
>>> for batch in graphmill.Loader("data/wordnet", [15, 10]):  # doctest: +SKIP
...     ...

``help(graphmill.Loader)`` and ``help(graphmill.Batch)`` explain the rest.
"""

from .batch import Batch, Key
from .errors import (Cancelled, CreditError, DataError, DefinitionError,
                     EngineError, Error, ForkError, StateError, Timeout,
                     Unavailable)
from .loader import Graph, Info, Loader, NodeType, open

__all__ = ["Batch", "Cancelled", "CreditError", "DataError", "DefinitionError",
           "EngineError", "Error", "ForkError", "Graph", "Info", "Key", "Loader",
           "NodeType", "StateError", "Timeout", "Unavailable", "open"]

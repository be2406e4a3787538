"""Names of types that several modules use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
else:  # NumPy has the other name since 1.21 alone.
    Array = np.ndarray

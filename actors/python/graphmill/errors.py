"""The errors of the package: each with a sentence that says what was wrong."""


class Error(RuntimeError):
    """Anything that Graphmill cannot do. ``code`` is the kind, in snake_case."""

    def __init__(self, message: str, code: str = "internal") -> None:
        super().__init__(message)
        self.code = code


class DefinitionError(Error, ValueError):
    """An argument of a loader, or a field of a definition."""


class DataError(Error):
    """The dataset cannot be read, or its files are damaged."""


class Unavailable(Error):
    """The program ``graphmill-feed`` is not there, or of another version; or the
    cluster cannot be reached, or lacks daemons for too long."""


class Timeout(Error, TimeoutError):
    """No batch came within ``timeout`` seconds."""


class Cancelled(Error):
    """The loader was closed, or a newer iterator took its place."""


class CreditError(Error):
    """More batches are kept than ``hold`` allows: ``copy()`` those that you
    keep, or ``clone()`` their tensors."""


class StateError(Error, ValueError):
    """A state of another dataset or of other settings; or another thread uses the
    loader."""


class EngineError(Error):
    """The process that makes batches has ended, or reports a fault."""


class ForkError(Error):
    """A loader was used in a child of the process that opened it."""


_KINDS = {
    "invalid_argument": DefinitionError,
    "invalid_data": DataError,
    "not_found": DataError,
    "io": DataError,
    "permission": DataError,
    "no_space": DataError,
    "version_mismatch": Unavailable,
    "unavailable": Unavailable,
    "timeout": Timeout,
    "cancelled": Cancelled,
}


def error_of(code: str, message: str) -> Error:
    """The exception for an error that the engine has reported."""
    return _KINDS.get(code, EngineError)(message, code)

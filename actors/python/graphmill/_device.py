"""Copies of batches to a device, which go on while the model computes."""

from __future__ import annotations

import collections
import contextlib
import importlib
import warnings
from typing import Any, Iterator, Protocol

from ._types import Array
from .batch import Batch
from .errors import DefinitionError

_EXTENT = 64 << 20  # Memory is registered in such pieces.


def pieces(begin: int, past: int) -> Iterator[tuple[int, int]]:
    """Parts of a range of the memory of batches, each within an extent. CUDA refuses
    to copy what lies in two registered ranges, or in one of them only in part."""
    while begin < past:
        end = min((begin // _EXTENT + 1) * _EXTENT, past)
        yield begin, end
        begin = end


class Device(Protocol):
    """What copies need of a device."""

    def register(self, address: int, size: int) -> bool:
        """Has the device read memory where it is; False: it cannot."""

    def forget(self, address: int) -> None:
        """Undoes that. No copy from there is under way."""

    def copied(self, batch: Batch) -> tuple[Batch, Any]:
        """The batch on the device, and the event at which it is there. Begins the
        copies, and does not wait for them."""

    def use(self, batch: Batch, event: Any) -> None:
        """Has what is computed from now on wait for the event."""

    def is_over(self, event: Any) -> bool:
        """Whether it has happened."""

    def wait(self, event: Any) -> None:
        """Until it has happened."""


class Cuda:
    """A CUDA device of PyTorch. Copies have a stream of their own."""

    def __init__(self, device: Any) -> None:
        self._torch: Any = importlib.import_module("torch")
        self._device = self._torch.device(device)
        if not self._torch.cuda.is_available():
            raise DefinitionError(f"device is {device!r}, and PyTorch finds no CUDA "
                                  "device here", "invalid_argument")
        self._stream = self._torch.cuda.Stream(self._device)

    def register(self, address: int, size: int) -> bool:
        portable = 1
        with self._torch.cuda.device(self._device):
            done = int(self._torch.cuda.cudart().cudaHostRegister(
                address, size, portable)) == 0
            if not done:  # Else the next checked call would raise this error.
                with contextlib.suppress(RuntimeError):
                    self._torch.zeros(1, device=self._device).add_(1)
            return done

    def forget(self, address: int) -> None:
        self._torch.cuda.cudart().cudaHostUnregister(address)

    def copied(self, batch: Batch) -> tuple[Batch, Any]:
        with self._torch.cuda.stream(self._stream):
            made = batch._like(True, {
                at: self._copy(source, begin)
                for at, source, begin in batch._sources()})
            event = self._torch.cuda.Event()
            event.record(self._stream)
        return made, event

    def _copy(self, source: Array, begin: int) -> Any:
        """Begins the copy of an array that lies there in the memory of all batches.
        From extents that are not registered, CUDA copies by way of its own memory."""
        tensor = self._torch.from_numpy(source)
        parts = list(pieces(begin, begin + source.nbytes))
        if len(parts) < 2:
            return tensor.to(self._device, non_blocking=True)
        made = self._torch.empty_like(tensor, device=self._device)
        to, of = made.view(-1), tensor.view(-1)
        for first, past in parts:
            part = slice((first - begin) // source.itemsize,
                         (past - begin) // source.itemsize)
            to[part].copy_(of[part], non_blocking=True)
        return made

    def use(self, batch: Batch, event: Any) -> None:
        stream = self._torch.cuda.current_stream(self._device)
        stream.wait_event(event)
        for tensor in batch._tensors():
            # Its memory is that of the other stream, which must not use it again
            # before this one has ended with it.
            tensor.record_stream(stream)

    def is_over(self, event: Any) -> bool:
        return bool(event.query())

    def wait(self, event: Any) -> None:
        event.synchronize()


class Copies:
    """Copies of the batches of one loader. A batch keeps its shared memory until
    its copy is over; only then may another one be made there."""

    def __init__(self, device: Device, memory: Array) -> None:
        """``memory``: of all batches."""
        self._device, self._memory = device, memory
        self._extents: dict[int, bool] = {}  # Whether they are registered.
        self._under_way: collections.deque[tuple[Batch, Any]] = collections.deque()

    def begin(self, batch: Batch) -> tuple[Batch, Any]:
        """Begins a copy. For `end`."""
        for _, source, begin in batch._sources():
            for first, _ in pieces(begin, begin + source.nbytes):
                extent = first // _EXTENT
                if extent not in self._extents:
                    self._extents[extent] = self._register(extent)
        made, event = self._device.copied(batch)
        self._under_way.append((batch, event))
        return made, event

    def end(self, made: Batch, event: Any) -> Batch:
        """The copy, for what is computed from now on."""
        self._device.use(made, event)
        return made

    def settle(self, most: int) -> None:
        """Lets go of batches whose copies are over, and waits until there are not
        more of the others than that."""
        while self._under_way and (len(self._under_way) > most or
                                   self._device.is_over(self._under_way[0][1])):
            self._device.wait(self._under_way[0][1])
            self._under_way.popleft()

    def close(self) -> None:
        """After that, the memory may go."""
        self.settle(0)
        for extent, registered in self._extents.items():
            if registered:
                self._device.forget(self._memory.ctypes.data + extent * _EXTENT)
        self._extents.clear()

    def _register(self, extent: int) -> bool:
        begin = extent * _EXTENT
        done = self._device.register(self._memory.ctypes.data + begin,
                                     min(_EXTENT, self._memory.nbytes - begin))
        if not done and all(self._extents.values()):
            warnings.warn("the device cannot read the memory of batches where it "
                          "is, so copies to it are slower", RuntimeWarning,
                          stacklevel=2)
        return done

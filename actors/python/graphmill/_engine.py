"""The process that makes batches, and the socket to it."""

from __future__ import annotations

import array
import collections
import contextlib
import gc
import json
import logging
import mmap
import os
import pathlib
import select
import shutil
import socket
import subprocess
import tempfile
import time
import weakref
from typing import IO, Any

import numpy as np

from ._types import Array
from ._wording import of_loaders
from .errors import (Cancelled, CreditError, EngineError, ForkError, Timeout,
                     Unavailable, error_of)

VERSION = 4
PROGRAM = "graphmill-feed"
CLUSTER_PROGRAM = "graphmill-engine"  # It takes batches of a cluster, too.
_RETURNED, _FREED = 1, 2
_MOST_PACKET = 1 << 18
_BRACE = ord("{")  # All frames begin with it but those of batches.
_SEND_SECONDS, _MOST_SECONDS = 60.0, 1e6
_END_SECONDS = 5.0  # A feed ends at once with its socket; it gets that long.
_log = logging.getLogger("graphmill")


def find_program(name: str = PROGRAM) -> str:
    """The path of a program: named by ``GRAPHMILL_BIN`` (``graphmill-feed`` or
    its folder), beside this package, in the build of its checkout, or on PATH."""
    named = os.environ.get("GRAPHMILL_BIN")
    here = pathlib.Path(__file__).resolve().parent
    if named:
        at = pathlib.Path(named)
        places = [at if name == PROGRAM else at.with_name(name), at / name]
    else:
        places = [here / "bin" / name,
                  here.parents[2] / "build" / "actors" / name]
    for place in places:
        if place.is_file() and os.access(place, os.X_OK):
            return str(place)
    found = None if named else shutil.which(name)
    if found:
        return found
    raise Unavailable(
        f"there is no program {name} at {' or '.join(map(str, places))}"
        + ("" if named else " or on PATH")
        + f": build it (ninja -C build actors/{name}), install the package "
          "graphmill, or set GRAPHMILL_BIN to its folder", "unavailable")


class Root(Array):
    """The memory of all batches, as one batch sees it. Every array of a batch is
    a view of its root, whose end is that of the last of them."""

    __slots__ = ()


class Lease(weakref.ref[Root]):
    """A root that is there, and the number of its batch."""

    __slots__ = ("sequence",)
    sequence: int


def _end(process: subprocess.Popen[bytes], channel: socket.socket, log: IO[bytes],
         pid: int) -> None:
    """Ends an engine; in a forked child, only the copies of its files."""
    own = os.getpid() == pid
    if own:
        with contextlib.suppress(OSError):  # It may have been the first to end.
            channel.shutdown(socket.SHUT_RDWR)  # Wakes a thread that waits for it.
    channel.close()
    log.close()
    if not own:
        return
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Engine:
    """Starts an engine for one loader. One thread at a time may call it; arrays
    may be dropped in any thread."""

    def __init__(self, request: dict[str, Any], seeds: Array | None,
                 timeout: float, most_returned: int = 1) -> None:
        self._name = CLUSTER_PROGRAM if request.get("cluster") else PROGRAM
        program = find_program(self._name)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._log = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                [program, "--socket", str(theirs.fileno())],
                stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
                pass_fds=[theirs.fileno()], start_new_session=True,
                # It computes nothing, and OpenBLAS's threads spin at its start.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        except OSError as cause:
            ours.close()
            self._log.close()
            raise Unavailable(f"cannot start {program}: {cause}",
                              "unavailable") from cause
        finally:
            theirs.close()
        ours.setblocking(False)
        self._channel = ours
        self._room = bytearray(_MOST_PACKET)
        self._words = memoryview(self._room).cast("q")
        self._most_returned = most_returned
        self._returned: list[int] = []  # Of which it has not been told.
        # Frames of batches that came while something else was awaited.
        self._early: collections.deque[list[int]] = collections.deque()
        self._verdict: dict[str, Any] | None = None
        self._opened: dict[str, Any] | None = None
        self._descriptors: list[int] = []
        self._pid = os.getpid()
        self._freed: collections.deque[int] = collections.deque()
        self._leases: dict[int, Lease] = {}  # Of batches that are kept.
        # Without the engine, which the memory outlives.
        leases, freed = self._leases, self._freed

        def free(lease: Any) -> None:
            del leases[lease.sequence]
            freed.append(lease.sequence)
        self._free = free
        self._waits = ""  # What it says that it waits for.
        self._fed = False  # It has made a batch.
        self._failure: Exception | None = None
        self._end = weakref.finalize(self, _end, self._process, ours, self._log,
                                     self._pid)
        _engines.add(self)
        try:
            self.description, memory = self._open(request, seeds, timeout)
        except BaseException:
            self.close()
            raise
        self._memory = memory  # It lives as long as any array in it.

    @property
    def pid(self) -> int:
        """Of the process that makes batches."""
        return self._process.pid

    def close(self) -> None:
        """Ends the process. Batches at hand stay valid."""
        if self._failure is None:
            self._failure = Cancelled("the loader is closed", "cancelled")
        self._end()

    def begin(self, number: int, epoch: int, first: int, steps: int,
              seeds: Array | None = None) -> None:
        """Begins a pass over the steps from ``first`` to ``steps``. With ``seeds``
        in place of those it was opened with, all batches before are returned."""
        self._send(json.dumps({"begin": {
            "number": number, "epoch": epoch, "first": first, "steps": steps,
            "seeds": seeds is not None}}).encode(), seeds)

    def give_back(self, returned: list[int]) -> None:
        """These batches are returned. The engine wakes up for each word, so it
        hears of several at a time."""
        self._returned += returned
        if len(self._returned) >= self._most_returned:
            self.tell()

    def tell(self) -> None:
        """Tells the engine which batches are returned, and which are freed."""
        words = [0]
        for sequence in self._returned:
            words += (sequence, _RETURNED)
        self._returned.clear()
        while self._freed:
            words += (self._freed.popleft(), _FREED)
        if len(words) > 1:
            self._send(array.array("Q", words).tobytes())

    def next_batch(self, number: int, timeout: float) -> list[int]:
        """The frame of the next batch of a pass."""
        words = self.ready_batch(number)
        if words is None:
            self.tell()  # It may wait for that.
            end = time.monotonic() + timeout
            while words is None:
                self._await_packet(end, timeout)
                words = self.ready_batch(number)
        return words

    def ready_batch(self, number: int) -> list[int] | None:
        """The frame of the next batch of a pass; None: there is none yet."""
        self.check()
        while ((words := self._early.popleft() if self._early else self._received())
               is not None and words[2] != number):
            # Of a pass that was abandoned: nobody will look at it.
            self._freed.append(words[1])
            self._returned.append(words[1])
            self.tell()
        return words

    def verdict(self, timeout: float) -> dict[str, Any]:
        """What limits how fast batches come."""
        self._verdict = None
        self._send(b'{"judge": {}}')
        end = time.monotonic() + timeout
        while self._verdict is None:
            words = self._received()
            if words is not None:
                self._early.append(words)
            elif self._verdict is None and not self._wait(select.POLLIN, end):
                raise Timeout(f"{self._name} tells no verdict", "timeout")
        return self._verdict

    def check_hold(self, hold: int) -> None:
        """Fails if more batches are kept than that."""
        if len(self._leases) <= hold:
            return
        gc.collect()  # Cycles may hold what nobody can reach.
        if len(self._leases) > hold:
            raise CreditError(
                f"you hold {len(self._leases)} batches, and the loader lets you "
                f"keep {hold}: copy() a batch that you keep, clone() its tensors, or "
                "give a larger `hold`; an array or a tensor of a batch, or a graph "
                "of autograd with one, keeps all of it", "out_of_memory")

    def memory(self) -> Array:
        """That of all batches, for as long as it is kept."""
        return np.frombuffer(self._memory, np.uint8)

    def lease(self, sequence: int) -> Root:
        """The memory of a batch, which is freed with the last view of it."""
        # Directly on the mapping: NumPy would pass over a root on another array.
        root = Root(len(self._memory), np.uint8, self._memory)
        lease = self._leases[sequence] = Lease(root, self._free)
        lease.sequence = sequence
        return root

    # -- packets

    def _open(self, request: dict[str, Any], seeds: Array | None,
              timeout: float) -> tuple[dict[str, Any], mmap.mmap]:
        self._send(json.dumps({"open": {"version": VERSION, **request}}).encode(),
                   seeds)
        end = time.monotonic() + timeout
        while self._received() is None and self._opened is None:
            self._await_packet(end, timeout)
        opened, descriptors = self._opened, self._descriptors
        if opened is None or not descriptors:
            raise EngineError(f"{self._name} has sent no memory for batches")
        try:
            return opened, mmap.mmap(descriptors[0], opened["arena"])
        except (OSError, ValueError) as cause:
            raise EngineError(
                f"cannot map {opened['arena']} bytes of shared memory ({cause}); "
                "a limit on address space (ulimit -v) must allow that") from cause
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def forget_in_child(self) -> None:
        """This process is a fork of the engine's: it must not keep the engine when
        its owner has ended."""
        self._channel.close()
        self._failure = ForkError(
            f"this loader belongs to process {self._pid}, of which this one is a "
            "fork: make a loader here, or use one process (a loader needs no "
            "workers)", "unavailable")

    def check(self) -> None:
        """Raises what ended the engine, if it has ended."""
        if self._failure is not None:
            raise self._failure

    def _send(self, packet: bytes, ids: Array | None = None) -> None:
        """Sends a packet, and a descriptor of a file with ids."""
        if ids is not None:
            with os.fdopen(os.memfd_create("graphmill-seeds"), "wb") as file:
                file.write(np.ascontiguousarray(ids, np.int64).tobytes())
                file.flush()
                self._send_with(packet, [file.fileno()])
        else:
            self._send_with(packet, [])

    def _send_with(self, packet: bytes, descriptors: list[int]) -> None:
        self.check()
        end = time.monotonic() + _SEND_SECONDS
        while True:
            try:
                if descriptors:
                    socket.send_fds(self._channel, [packet], descriptors)
                else:
                    self._channel.send(packet)
                return
            except BlockingIOError:
                pass
            except OSError:
                while self._received() is not None:
                    pass  # It may have said why it ends.
                raise self._ended() from None
            if not self._wait(select.POLLOUT, end):
                raise Timeout(f"{self._name} takes nothing any more", "timeout")

    def _wait(self, events: int, end: float) -> bool:
        """Whether the socket is ready before a point in time."""
        left = end - time.monotonic()
        if left <= 0:
            return False
        poll = select.poll()
        poll.register(self._channel, events)
        return bool(poll.poll(1000 * min(left, _MOST_SECONDS)))

    def _await_packet(self, end: float, timeout: float) -> None:
        """Until ``end``, which is that of ``timeout`` seconds."""
        if not self._wait(select.POLLIN, end):
            raise Timeout(
                f"no batch within {timeout:g} s: " + (
                    self._waits or "give the loader a longer `timeout`, smaller "
                    "batches, or more `threads`"), "timeout")

    def _received(self) -> list[int] | None:
        """The frame of a batch that is there. Takes what is said before it."""
        while True:
            self.check()
            try:
                if self._opened is None:
                    packet, self._descriptors, _, _ = socket.recv_fds(
                        self._channel, _MOST_PACKET, 1)
                    size = len(packet)
                    self._room[:size] = packet
                else:
                    size = self._channel.recv_into(self._room)
            except BlockingIOError:
                return None
            except OSError:
                raise self._ended() from None
            if not size:
                raise self._ended()
            if self._room[0] != _BRACE:
                self._fed = True
                return self._words[:size // 8].tolist()
            said = json.loads(self._room[:size])
            if "opened" in said:
                self._opened = said["opened"]
                return None
            if "error" in said:
                reason = said["error"]
                self._failure = error_of(reason["code"],
                                         of_loaders(reason["message"]))
                raise self._failure
            if "verdict" in said:
                self._verdict = said["verdict"]
            else:
                self._hear_waits(said["waits"])

    def _hear_waits(self, what: str) -> None:
        """Who watches the loop hears of a loss, and when it is over: both once."""
        told = self._fed and bool(what) != bool(self._waits)
        self._waits = what
        _log.log(logging.WARNING if told else logging.INFO, "%s",
                 what or "the loader has stopped waiting")

    def _ended(self) -> EngineError:
        """How the process has ended, and the last that it said."""
        if self._failure is not None:
            raise self._failure  # Another thread has closed it.
        try:
            code = self._process.wait(1.0)
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        except subprocess.TimeoutExpired:
            how = "its connection"
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(self._log.tell() - 2000, 0))
        tail = self._log.read().decode(errors="replace").strip()
        self._failure = EngineError(
            f"{self._name} (process {self.pid}) has ended {how}"
            + (f"; it said last: {tail}" if tail else
               "; if it was killed for its memory, lower `budget` or the batch "
               "size"), "unavailable")
        return self._failure


_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


def _forget_in_child() -> None:
    for engine in list(_engines):
        engine.forget_in_child()


os.register_at_fork(after_in_child=_forget_in_child)

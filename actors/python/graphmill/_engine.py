"""The process that makes batches, and the socket to it."""

from __future__ import annotations

import array
import collections
import gc
import json
import mmap
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import weakref
from typing import IO, Any

import numpy as np

from ._types import Array
from .errors import (Cancelled, CreditError, EngineError, ForkError, Timeout,
                     Unavailable, error_of)

VERSION = 2
PROGRAM = "graphmill-feed"
CLUSTER_PROGRAM = "graphmill-engine"  # It takes batches of a cluster, too.
_RETURNED, _FREED = 1, 2
_MOST_PACKET = 1 << 18
_END_SECONDS = 5.0  # A feed ends at once with its socket; it gets that long.


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


def _end(process: subprocess.Popen[bytes], channel: socket.socket, log: IO[bytes],
         pid: int) -> None:
    """Ends an engine; in a forked child, only the copies of its files."""
    channel.close()
    log.close()
    if os.getpid() != pid:
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
                 timeout: float) -> None:
        self._name = CLUSTER_PROGRAM if request.get("cluster") else PROGRAM
        program = find_program(self._name)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._log = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                [program, "--socket", str(theirs.fileno())],
                stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
                pass_fds=[theirs.fileno()], start_new_session=True)
        except OSError as cause:
            ours.close()
            self._log.close()
            raise Unavailable(f"cannot start {program}: {cause}",
                              "unavailable") from cause
        finally:
            theirs.close()
        self._channel = ours
        self._pid = os.getpid()
        self._freed: collections.deque[int] = collections.deque()
        self._leases: set[int] = set()
        self._waits = ""  # What it says that it waits for.
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

    def begin(self, number: int, epoch: int, first: int, steps: int) -> None:
        """Begins a pass over the steps from ``first`` to ``steps``."""
        self._send(json.dumps({"begin": {
            "number": number, "epoch": epoch, "first": first,
            "steps": steps}}).encode())

    def give_back(self, returned: list[int]) -> None:
        """Tells the engine which batches are returned, and which are freed."""
        words = [0]
        for sequence in returned:
            words += (sequence, _RETURNED)
        while self._freed:
            words += (self._freed.popleft(), _FREED)
        if len(words) > 1:
            self._send(array.array("Q", words).tobytes())

    def next_batch(self, number: int, timeout: float) -> list[int]:
        """The frame of the next batch of a pass."""
        end = time.monotonic() + timeout
        while True:
            packet, _ = self._packet(end - time.monotonic(), timeout)
            words = array.array("q", packet).tolist()
            if words[2] == number:
                return words
            # Of a pass that was abandoned: nobody will look at it.
            self._freed.append(words[1])
            self.give_back([words[1]])

    def check_hold(self, hold: int) -> None:
        """Fails if more batches are kept than that."""
        if len(self._leases) <= hold:
            return
        gc.collect()  # Cycles may hold what nobody can reach.
        if len(self._leases) > hold:
            raise CreditError(
                f"you hold {len(self._leases)} batches, and the loader lets you "
                f"keep {hold}: copy() what you keep, or give it a larger `hold`; "
                "an array or a tensor of a batch, or a graph of autograd with one, "
                "keeps all of it", "out_of_memory")

    def lease(self, sequence: int) -> Root:
        """The memory of a batch, which is freed with the last view of it."""
        # Directly on the mapping: NumPy would pass over a root on another array.
        root = Root(len(self._memory), np.uint8, self._memory)
        self._leases.add(sequence)
        weakref.finalize(root, self._free, sequence).atexit = False
        return root

    def _free(self, sequence: int) -> None:
        self._leases.discard(sequence)
        self._freed.append(sequence)

    # -- packets

    def _open(self, request: dict[str, Any], seeds: Array | None,
              timeout: float) -> tuple[dict[str, Any], mmap.mmap]:
        packet = json.dumps({"open": {"version": VERSION, **request}}).encode()
        if seeds is None:
            self._send(packet)
        else:
            with os.fdopen(os.memfd_create("graphmill-seeds"), "wb") as file:
                file.write(np.ascontiguousarray(seeds, np.int64).tobytes())
                file.flush()
                socket.send_fds(self._channel, [packet], [file.fileno()])
        answer, descriptors = self._packet(timeout, timeout, descriptors=1)
        opened = json.loads(answer)["opened"]
        if not descriptors:
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

    def _check(self) -> None:
        if os.getpid() != self._pid:
            raise ForkError(
                f"this loader belongs to process {self._pid}, of which this one "
                "is a fork: make a loader here, or use one process (a loader needs "
                "no workers)", "unavailable")
        if self._failure is not None:
            raise self._failure

    def _send(self, packet: bytes) -> None:
        self._check()
        self._channel.settimeout(60.0)
        try:
            self._channel.send(packet)
        except socket.timeout as cause:
            raise Timeout(f"{self._name} takes nothing any more",
                          "timeout") from cause
        except OSError:
            self._packet(0.0, 0.0)  # It may have said why it ends.
            raise self._ended() from None

    def _packet(self, wait: float, timeout: float,
                descriptors: int = 0) -> tuple[bytes, list[int]]:
        """A packet that comes within ``wait`` seconds, which are what is left of
        ``timeout``."""
        end = time.monotonic() + wait
        while True:
            packet, came = self._any_packet(wait, timeout, descriptors)
            if packet[:8] != b'{"waits"':
                return packet, came
            self._waits = json.loads(packet)["waits"]
            wait = end - time.monotonic()

    def _any_packet(self, wait: float, timeout: float,
                    descriptors: int) -> tuple[bytes, list[int]]:
        self._check()
        # 0 would mean not to wait at all, not even for what has come.
        self._channel.settimeout(max(wait, 0.001))
        came: list[int] = []
        try:
            if descriptors:
                packet, came, _, _ = socket.recv_fds(
                    self._channel, _MOST_PACKET, descriptors)
            else:
                packet = self._channel.recv(_MOST_PACKET)
        except socket.timeout as cause:
            raise Timeout(
                f"no batch within {timeout:g} s: " + (
                    self._waits or "give the loader a longer `timeout`, smaller "
                    "batches, or more `threads`"), "timeout") from cause
        except OSError:
            raise self._ended() from None
        if not packet:
            raise self._ended()
        if packet[:1] == b"{" and b'"error"' in packet[:16]:
            reason = json.loads(packet)["error"]
            self._failure = error_of(reason["code"], reason["message"])
            raise self._failure
        return packet, came

    def _ended(self) -> EngineError:
        """How the process has ended, and the last that it said."""
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
    """A child must not keep an engine alive whose owner has ended."""
    for engine in list(_engines):
        engine._channel.close()


os.register_at_fork(after_in_child=_forget_in_child)

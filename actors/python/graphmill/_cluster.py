"""Clusters that sample."""

from __future__ import annotations

import functools
import json
import os
import socket
import subprocess
import urllib.parse

from ._engine import find_program
from ._wording import of_loaders
from .errors import Unavailable

_PATIENCE_SECONDS = 60.0
_TROUBLED = 3  # Something in the cluster is wrong, and the answer is there.


_CONNECT_SECONDS = 5.0


def expect_listener(cluster: str) -> None:
    """Raises Unavailable if all addresses refuse a connection, which an engine
    would try again until its timeout. Other faults are for the engine to tell."""
    if not cluster:
        return
    for address in cluster.split(","):
        try:
            place = urllib.parse.urlsplit(address.strip())
            where = place.hostname or "", place.port or 0
            socket.create_connection(where, _CONNECT_SECONDS).close()
            return
        except ConnectionRefusedError:
            continue
        except (OSError, ValueError):
            return
    raise Unavailable(
        f"nobody listens at {cluster}: start the coordinator, or correct its "
        "address", "unavailable")


def _status_of(cluster: str, key: str, insecure: bool) -> str:
    """What the coordinator says, which may be at any of the addresses. Raises
    Unavailable if it is at none."""
    why = []
    for address in cluster.split(","):
        command = [find_program("graphmill"), "status", "--json", "--cluster",
                   address.strip()]
        if insecure:
            command.append("--insecure")
        elif key:
            command += ["--key", key]
        try:
            done = subprocess.run(command, capture_output=True, text=True,
                                  timeout=_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            why.append(f"{address.strip()} does not answer")
            continue
        if done.returncode in (0, _TROUBLED):
            return done.stdout
        why.append(of_loaders(done.stderr.strip()))
    raise Unavailable(
        f"cannot ask the cluster at {cluster} for its data: {'; '.join(why)}; "
        "give `data`, a folder here with the tables of its parts", "unavailable")


@functools.lru_cache(maxsize=64)
def served_here(cluster: str, key: str, insecure: bool) -> str:
    """The folder of a dataset that a daemon on this machine serves. Raises
    Unavailable if there is none."""
    said = _status_of(cluster, key, insecure)
    host = socket.gethostname()
    for daemon in json.loads(said.splitlines()[-1])["daemons"]:
        folder = daemon.get("data", "")
        if (daemon["host"] == host and daemon["state"] != "lost" and folder
                and os.path.isdir(folder)):
            return str(folder)
    raise Unavailable(
        f"no daemon of the cluster at {cluster} is on this machine: give `data`, "
        "a folder here with the tables of its parts", "unavailable")

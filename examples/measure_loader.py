#!/usr/bin/env python3
"""Measures how fast Python gets batches.

    PYTHONPATH=actors/python python3 examples/measure_loader.py DATA [FANOUTS [STEPS]]

Prints JSON: milliseconds of a batch while the consumer does nothing, with the
processor time of both processes; the time that `next` takes when a batch is
ready; page faults of the consumer for each batch; memory of both processes after a
tenth of the steps and at the end. For example: data/rmat 15,10,5 2000.
"""

import json
import os
import pathlib
import resource
import sys
import time

import graphmill

BATCH = 1024
READY_SECONDS = 0.25  # After that, all batches are made that may be.


def memory_of(pid):
    """Bytes that a process alone has, and its share of others."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return 1024 * int(text.split("\nPss:")[1].split()[0])


def seconds_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def batches_of(loader):
    """Without end, epoch after epoch."""
    while True:
        yield from loader


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    data = sys.argv[1]
    fanouts = [int(n) for n in (sys.argv[2] if len(sys.argv) > 2
                                else "15,10,5").split(",")]
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    loader = graphmill.Loader(data, fanouts, batch_size=BATCH, as_="numpy")
    batches = batches_of(loader)
    for _ in range(20):
        batch = next(batches)
    engine, own = loader.engine_pid, os.getpid()
    handed = []
    for _ in range(50):
        time.sleep(READY_SECONDS)
        began = time.perf_counter()
        batch = next(batches)
        for name in ("x", "edge_index", "y", "n_id", "input_id"):
            getattr(batch, name)
        handed.append(time.perf_counter() - began)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    began, cpu = time.perf_counter(), seconds_of(engine) + seconds_of(own)
    early = 0
    for step in range(steps):
        batch = next(batches)
        if step == steps // 10:
            early = memory_of(engine) + memory_of(own)
    took = time.perf_counter() - began
    print(json.dumps({
        "batch_bytes": sum(batch._raw(*at).nbytes for at in batch._all()),
        "ms_per_batch": round(1000 * took / steps, 2),
        "cpu_ms_per_batch": round(
            1000 * (seconds_of(engine) + seconds_of(own) - cpu) / steps, 2),
        "handover_us_median": round(1e6 * median(handed)),
        "handover_us_most": round(1e6 * max(handed)),
        "faults_per_batch": (resource.getrusage(resource.RUSAGE_SELF).ru_minflt
                             - faults) / steps,
        "bytes_early": early,
        "bytes_late": memory_of(engine) + memory_of(own)}))
    loader.close()


if __name__ == "__main__":
    main()

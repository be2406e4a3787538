#!/usr/bin/env python3
"""Measures how Python gets batches.

    PYTHONPATH=actors/python python3 examples/measure_loader.py MODE DATA [OPTIONS]

speed
    The time that `next` takes when a batch is ready, page faults, and batches a
    second of a consumer that does nothing, in turns with one that hands each batch
    straight back without looking at it.
model
    An epoch of a GraphSAGE of PyTorch, fed by the loader, in turns with one from
    copies of the same batches in memory.
memory
    Memory of both processes over many batches, after the first thousand.
troubles
    How soon what goes wrong is told, and whether anything is left behind.
cluster
    Batches a second and processor time of a loader that reads the folder, in turns
    with one whose batches come from a daemon on this machine with all parts.

Prints JSON, with processor time and the load of the machine. For example:
`speed data/rmat --fanouts 15,10,5 --steps 2000`, `memory data/rmat --fanouts 3,2
--batch-size 32 --steps 100000`, `memory data/rmat --batch-size 2048 --minutes 10`.
"""

import argparse
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

import graphmill
from graphmill._engine import find_program

READY_SECONDS = 0.1  # After that, all batches are made that may be.
WARM_BATCHES = 20
SETTLED_BATCHES = 1000


def memory_of(pid):
    """Bytes of memory that a process has written, and its share of that which it
    has in common with others: files are left out, whose share depends on which
    other processes there are."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return 1024 * sum(int(text.split(f"\n{kind}:")[1].split()[0])
                      for kind in ("Pss_Anon", "Pss_Shmem"))


def seconds_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def share_of(values, share):
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


class Span:
    """Time and processor time of this process, of an engine, and of a daemon if there
    is one, from now on."""

    def __init__(self, engine, daemon=None):
        self.pids = {"consumer": os.getpid(), "engine": engine}
        if daemon:
            self.pids["daemon"] = daemon
        self.began = time.perf_counter(), self.seconds()

    def seconds(self):
        return {name: seconds_of(pid) for name, pid in self.pids.items()}

    def per(self, count):
        wall, before = time.perf_counter() - self.began[0], self.began[1]
        return {"per_second": round(count / wall, 1),
                "ms": round(1000 * wall / count, 3),
                **{f"cpu_ms_{name}": round(1000 * (now - before[name]) / count, 3)
                   for name, now in self.seconds().items()}}


def fanouts_of(options):
    return [int(n) for n in options.fanouts.split(",")]


def loader_of(options, source=None, **more):
    return graphmill.Loader(
        source or options.data, fanouts_of(options),
        **{"batch_size": options.batch_size, "as_": "numpy", **more})


def batches_of(loader):
    """Without end, epoch after epoch."""
    while True:
        yield from loader


def touch(batch):
    """Makes all arrays, without reading them."""
    return sum(batch._raw(*at).nbytes for at in batch._all())


def read(batch):
    """Reads a byte of each page, as a model does at least."""
    for at in batch._all():
        array = batch._raw(*at)
        if array.size:
            array.reshape(-1)[::max(4096 // array.itemsize, 1)].max()
    return touch(batch)


# -- speed


def handovers(batches, count):
    """Seconds of `next` with all arrays when a batch is ready, and, of this thread,
    processor seconds and page faults."""
    took, worked, faulted = [], [], []
    for _ in range(count):
        end = time.perf_counter() + READY_SECONDS
        while time.perf_counter() < end:
            pass  # At work, as a model is.
        before, cpu, began = faults(), time.thread_time(), time.perf_counter()
        batch = next(batches)
        touch(batch)
        if batch.key.step == 0:
            continue  # It was begun with its epoch, and was not ready.
        took.append(time.perf_counter() - began)
        worked.append(time.thread_time() - cpu)
        faulted.append(faults() - before)
    return took, worked, faulted


def bare_batches(loader, steps):
    """Hands each batch straight back: a consumer that does less than nothing."""
    engine, done, number = loader._started(), 0, loader._pass
    while done < steps:
        number += 1
        loader._pass = number
        engine.begin(number, number, 0, len(loader))
        for _ in range(min(len(loader), steps - done)):
            sequence = engine.next_batch(number, 600.0)[1]
            engine._freed.append(sequence)
            engine.give_back([sequence])
            engine.tell()
            done += 1


def speed(options):
    with loader_of(options) as loader:
        batches = batches_of(loader)
        size = max(touch(next(batches)) for _ in range(WARM_BATCHES))
        took, worked, faulted = handovers(batches, options.handovers)
        out = {"batch_bytes": size}
        for name, each in ("handover_us", took), ("handover_cpu_us", worked):
            for share in 0.5, 0.9, 0.99:
                out[f"{name}_p{100 * share:.0f}"] = round(1e6 * share_of(each, share))
        out["faults_by_batch_median"] = share_of(faulted, 0.5)
        out["faults_by_batch_mean"] = sum(faulted) / len(faulted)
        # In turns, so that both have the same machine.
        turns = {"loader": [], "handed_back": []}
        part = max(options.steps // options.turns, 1)
        for _ in range(options.turns):
            span, before = Span(loader.engine_pid), faults()
            for _ in range(part):
                touch(next(batches))
            turns["loader"].append({**span.per(part),
                                    "faults": (faults() - before) / part})
            del batches
            span = Span(loader.engine_pid)
            bare_batches(loader, part)
            turns["handed_back"].append(span.per(part))
            batches = batches_of(loader)
        for name, each in turns.items():
            out[name] = {key: share_of([turn[key] for turn in each], 0.5)
                         for key in each[0]}
        out["share"] = round(out["loader"]["per_second"]
                             / out["handed_back"]["per_second"], 3)
    return out


# -- model


def model(options):
    import torch
    from torch.nn.functional import cross_entropy

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    from own_model import Sage

    torch.manual_seed(1)
    with loader_of(options, as_="torch") as loader:
        info, hops = loader.info, len(options.fanouts.split(","))
        net = Sage([info.num_features, *[options.hidden] * (hops - 1),
                    info.num_classes])
        optimizer = torch.optim.Adam(net.parameters())
        kept = []
        for batch in loader:
            kept.append(batch.copy())
            if len(kept) == options.steps:
                break

        def epoch(batches):
            span = Span(loader.engine_pid)
            for count, batch in enumerate(batches, 1):
                loss = cross_entropy(net(batch), batch.y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                if count == len(kept):
                    break
            return span.per(len(kept))

        epoch(kept)
        turns = [(epoch(kept), epoch(loader)) for _ in range(options.turns)]
        names = "in_memory", "loader"
        out = {name: {key: share_of([turn[place][key] for turn in turns], 0.5)
                      for key in turns[0][0]} for place, name in enumerate(names)}
        out["ratio"] = round(out["loader"]["ms"] / out["in_memory"]["ms"], 3)
        out["threads"] = torch.get_num_threads()
        return {"steps": len(kept), "batch_bytes": touch(kept[0]), **out}


# -- memory


def memory(options):
    with loader_of(options) as loader:
        batches, seen = batches_of(loader), []
        pids = os.getpid(), loader.engine_pid
        end = time.monotonic() + 60 * options.minutes
        span, step, total = Span(loader.engine_pid), 0, 0
        every = max(options.steps // 100, SETTLED_BATCHES)
        looked = time.monotonic()
        while (time.monotonic() < end if options.minutes else step < options.steps):
            total += read(next(batches))
            step += 1
            if step < SETTLED_BATCHES and step % WARM_BATCHES == 0:
                time.sleep(READY_SECONDS)  # There are as many as there may be.
            # A look takes time, and so it is not at each batch.
            if step == SETTLED_BATCHES or (step > SETTLED_BATCHES and (
                    time.monotonic() - looked > 5 or step % every == 0)):
                seen.append([memory_of(pid) for pid in pids])
                looked = time.monotonic()
        first, last = seen[0], [memory_of(pid) for pid in pids]
        return {  # Of the consumer, and of the engine.
            "steps": step, "batch_bytes": total // step, **span.per(step),
            "bytes_settled": first, "bytes_at_the_end": last,
            "bytes_by_tenth": [sum(seen[len(seen) * part // 10])
                               for part in range(10)],
            "growth": round(sum(last) / sum(first) - 1, 4)}


# -- cluster


def cluster(options):
    with tempfile.TemporaryDirectory() as folder:
        ready = pathlib.Path(folder) / "ready"
        with subprocess.Popen(
                [find_program("graphmill"), "node", "--data", options.data,
                 "--serve", "any", "--runs", f"{folder}/runs", "--ready-file", ready,
                 "--listen", "tcp://127.0.0.1:0"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as daemon:
            try:
                while not ready.exists():
                    if daemon.poll() is not None:
                        sys.exit("the daemon has ended")
                    time.sleep(0.01)
                return beside_daemon(options, daemon.pid, ready.read_text().strip())
            finally:
                daemon.terminate()


def beside_daemon(options, daemon, address):
    part = max(options.steps // options.turns, 1)
    turns = {"folder": [], "cluster": []}
    for _ in range(options.turns):
        for name, more in ("folder", {}), ("cluster", {"source": address}):
            with loader_of(options, **more) as loader:
                batches = batches_of(loader)
                for _ in range(WARM_BATCHES):
                    touch(next(batches))
                span = Span(loader.engine_pid, daemon if more else None)
                for _ in range(part):
                    touch(next(batches))
                turns[name].append(span.per(part))
    out = {name: {key: share_of([turn[key] for turn in each], 0.5)
                  for key in each[0]} for name, each in turns.items()}
    work = {name: sum(value for key, value in each.items() if "cpu" in key)
            for name, each in out.items()}
    return {**out, "cpu_ratio": round(work["cluster"] / work["folder"], 3),
            "speed_ratio": round(out["cluster"]["per_second"]
                                 / out["folder"]["per_second"], 3)}


# -- troubles


def failing(loader, kind, loop):
    """Seconds until it fails, and the sentence."""
    began = time.perf_counter()
    try:
        loop(loader)
    except kind as error:
        return round(time.perf_counter() - began, 3), str(error)
    raise AssertionError(f"no {kind.__name__}")


def is_running(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rsplit(")", 1)[1].split()[0] != "Z"


def hoard(options):
    with loader_of(options) as loader:
        next(iter(loader))
        return failing(loader, graphmill.CreditError, list)


def killed_engine(options):
    with loader_of(options) as loader:
        batches = batches_of(loader)
        next(batches)
        os.kill(loader.engine_pid, signal.SIGKILL)
        return failing(loader, graphmill.EngineError, lambda _: list(batches))


def interrupted(options):
    slow = ["faults.fetcher_delay_ms=10000"]
    with loader_of(options, overrides=slow) as loader:
        batches = iter(loader)
        sent = []

        def interrupt():
            sent.append(time.perf_counter())
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        threading.Timer(0.3, interrupt).start()
        try:
            next(batches)
        except KeyboardInterrupt:
            took = time.perf_counter() - sent[0]
        began = time.perf_counter()
        pid = loader.engine_pid
        loader.close()
        return round(took, 3), (f"the engine ended {time.perf_counter() - began:.2f}"
                                f" s after close: {not is_running(pid)}")


def forked(options):
    with loader_of(options) as loader:
        batches = batches_of(loader)
        next(batches)
        reading, writing = os.pipe()
        if os.fork() == 0:
            try:
                told = failing(loader, graphmill.ForkError, lambda _: next(batches))
                os.write(writing, json.dumps(told).encode())
            finally:
                os._exit(0)
        os.wait()
        told = json.loads(os.read(reading, 10000))
        next(batches)  # That of the parent goes on.
        return told


def script_of(options, body, *within):
    """A consumer of its own."""
    return [*within, sys.executable, "-c",
            "import graphmill, time\n"
            f"loader = graphmill.Loader({options.data!r}, "
            f"{fanouts_of(options)}, as_='numpy', "
            f"batch_size={options.batch_size})\n{body}"]


def killed_consumer(options):
    consumer = subprocess.Popen(
        script_of(options, "next(iter(loader))\n"
                  "print(loader.engine_pid, flush=True)\ntime.sleep(1000)\n"),
        stdout=subprocess.PIPE, text=True)
    pid = int(consumer.stdout.readline())
    consumer.kill()
    consumer.wait()
    began = time.perf_counter()
    while is_running(pid) and time.perf_counter() - began < 30:
        time.sleep(0.005)
    return round(time.perf_counter() - began, 3), f"running: {is_running(pid)}"


def cramped(options):
    """256 descriptors, and where one may mount it, a /dev/shm of 1 MiB."""
    body = ("import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, "
            "(256, 256))\nprint(sum(1 for _ in range(3) for _ in loader))\n")
    small = ["unshare", "-m", "sh", "-c",
             "mount -t tmpfs -o size=1m none /dev/shm && exec \"$@\"", "sh"]
    within = small if os.geteuid() == 0 else []
    began = time.perf_counter()
    done = subprocess.run(script_of(options, body, *within), text=True,
                          stdout=subprocess.PIPE, check=True)
    return (round(time.perf_counter() - began, 3), f"{int(done.stdout)} batches"
            + ("" if within else ", /dev/shm as it is"))


def troubles(options):
    out = {}
    for trouble in (hoard, killed_engine, killed_consumer, interrupted, forked,
                    cramped):
        seconds, told = trouble(options)
        out[trouble.__name__] = {"seconds": seconds, "told": told}
    return out


MODES = {"speed": speed, "model": model, "memory": memory, "cluster": cluster,
         "troubles": troubles}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=MODES)
    parser.add_argument("data")
    parser.add_argument("--fanouts", default="15,10,5")
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=5,
                        help="of what is measured beside each other: medians")
    parser.add_argument("--handovers", type=int, default=200)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--minutes", type=float, default=0,
                        help="in place of --steps, of memory")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    out = MODES[options.mode](options)
    print(json.dumps({**out, "cpus": os.cpu_count(), "load_before": round(load, 2),
                      "load_after": round(os.getloadavg()[0], 2)}, indent=1))


if __name__ == "__main__":
    main()

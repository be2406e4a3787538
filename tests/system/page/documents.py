"""Documents of a coordinator over HTTP, as examples/guide/http.md describes them,
in the states that a web page must tell apart."""

import copy
import json
import math
import pathlib
import re

NOW = 1_763_882_400.0
RUN = "20251123-073955-cora"
WAITING = "20251123-075101-cora-wide"
TABLES = (pathlib.Path(__file__).resolve().parents[3] / "pipelines" / "figures"
          / "figure_tables.hpp").read_text()


def rows_of(table):
    """Rows of a table of figures that have a field."""
    body, = re.findall(rf" {table}\[\] = \{{\n(.*?)\n\}};", TABLES, re.DOTALL)
    return [{"name": name, "unit": unit, "title": title}
            for unit, name, title in re.findall(
                r'"graphmill_\w+",\s*(\w+),\s*(?:"[^"]*"\s*)+,\s*[\w<>&:]+,\s*'
                r'"(\w+)"(?:,\s*"[^"]*",\s*"([^"]*)")?', body)]


# As the program writes them into a module of the page.
FIGURES = {
    "DAEMON_FIGURES": rows_of("load"),
    "RUN_FIGURES": rows_of("progress"),
    "STAGE_FIGURES": rows_of("actor"),
    "CURVED_STAGES": [
        kind.replace("_", " ") for kind in re.findall(
            r"actor_kind::(\w+)",
            re.search(r"curved_stages\[\] = \{(.*?)\}", TABLES, re.DOTALL)[1])]}
SHARES = ("busy", "starved", "stalled", "waiting", "down")


def actor(kind, state="running", **figures):
    out = {
        "kind": kind, "part": -1, "rank": -1, "peer": "", "workers": 1,
        "state": state, "in_state": 0.4, "why": "",
        "batch": {"phase": "train", "epoch": 3, "step": 212, "rank": 0},
        "queue": 0, "credit_batches": 0, "credit_bytes": 0, "most_batches": 0,
        "most_bytes": 0, "items": 8412, "bytes": 913_000_000,
        "items_per_second": 41.2, "bytes_per_second": 5.2e6, "busy": 0.0,
        "starved": 0.0, "stalled": 0.0, "waiting": 0.0, "down": 0.0,
        "answers": 206, "mean_latency": 0.0042, "median_latency": 0.0036,
        "p90_latency": 0.0081, "p99_latency": 0.014, "restarts": 0,
        "recent_restarts": 0, "last_error": "", "peak_batches": 0,
        "peak_bytes": 0}
    assert set(figures) <= set(out), figures
    out.update(figures)
    assert sum(out[share] for share in SHARES) <= 1.001, out
    return out


def member(name, first_part, others):
    """A daemon's share of a run: it has a part, and asks others for theirs."""
    actors = [
        actor("sampling service", part=first_part, workers=2, busy=0.46,
              starved=0.54, queue=2, items_per_second=812.5),
        actor("sampler", workers=4, busy=0.22, waiting=0.55, starved=0.23,
              queue=1),
        actor("feature service", part=first_part, workers=2, busy=0.31,
              starved=0.69, items_per_second=240.1),
        actor("fetcher", workers=4, busy=0.12, waiting=0.44, starved=0.44),
        actor("batcher", busy=0.34, starved=0.66),
        actor("trainer", rank=first_part, busy=0.91, starved=0.02,
              waiting=0.07),
        actor("gradient group", rank=first_part, state="waiting", busy=0.12,
              waiting=0.88),
        actor("dispatcher", busy=0.05, starved=0.95, credit_batches=12,
              credit_bytes=41_000_000, most_batches=32,
              most_bytes=268_435_456, peak_batches=30, peak_bytes=97_000_000)]
    for part, peer in others:
        actors += [
            actor("sampling proxy", part=part, peer=peer, state="waiting",
                  busy=0.04, waiting=0.7, starved=0.26, items_per_second=160),
            actor("feature proxy", part=part, peer=peer, state="starved",
                  busy=0.05, waiting=0.35, starved=0.6, items_per_second=81)]
    # The latest that each has taken up: twelve have credit, and one waits for it.
    for kind, step in ("dispatcher", 224), ("sampler", 218), ("fetcher", 215), \
                      ("batcher", 214), ("trainer", 212):
        for one in actors:
            if one["kind"] == kind:
                one["batch"].update(step=step, rank=first_part)
    return {
        "daemon": name, "run": RUN, "window": 5.0, "actors": actors,
        "left_out": 0, "peers": [
            {"name": peer, "requests": 1210, "mean_round_trip": 0.0031,
             "sent_per_second": 1.3e6, "received_per_second": 9.1e6,
             "asked_per_second": 260.0, "served_per_second": 240.0,
             "gradients_sent_per_second": 4.0e5,
             "gradients_received_per_second": 4.0e5,
             "state": "running", "in_state": 61.5, "why": ""}
            for _, peer in others],
        "cores": 2.6, "memory_bytes": 1_260_000_000,
        "peak_memory_bytes": 1_400_000_000, "cache_bytes": 268_000_000,
        "threads": 41, "descriptors": 88, "most_descriptors": 1048576,
        "disk_read_per_second": 2.0e6, "disk_written_per_second": 4.0e4,
        "sent_per_second": 3.1e6, "received_per_second": 9.7e6,
        "cache_rows_wanted": 812_000, "cache_rows_found": 511_000,
        "disk_cache_bytes": 120_000_000, "most_disk_cache_bytes": 256_000_000,
        "disk_rows_wanted": 90_000, "disk_rows_found": 60_000,
        "mapped_bytes": 310_000_000,
        "age": 0.6, "long_work": []}


def listed(name, part, state="ready", note=""):
    return {"name": name, "address": f"tcp://10.0.0.{part + 1}:7800",
            "host": f"host-{name}", "state": state, "parts": [part],
            "slots": 1, "cuda_devices": 0, "chaos": False, "note": note,
            "load": None if state == "lost" else {
                "cores": 2.6, "memory_bytes": 1_260_000_000,
                "peak_memory_bytes": 1_400_000_000,
                "mapped_bytes": 310_000_000, "threads": 41, "descriptors": 88,
                "most_descriptors": 1048576, "disk_read_per_second": 2.0e6,
                "disk_written_per_second": 4.0e4, "sent_per_second": 3.1e6,
                "received_per_second": 9.7e6, "host_load": 3.2}}


def status(running=None, queued=(), daemons=None, note=""):
    daemons = daemons or [listed(name, part)
                          for part, name in enumerate("abc")]
    owners = [{"part": part, "daemons": [one["name"]]} for one in daemons
              for part in one["parts"] if one["state"] == "ready"]
    return {"cluster": "tcp://10.0.0.1:7800", "coordinator": "a",
            "dataset": "ogbn-products", "parts": 3, "daemons": daemons,
            "owners": owners, "running": running, "queued": list(queued),
            "note": note}


def run():
    return {
        "run": RUN, "state": "running", "left_out": 0, "silent": [],
        "attempt": 1, "trainers": 3,
        "progress": {
            "phase": "train", "epoch": 3, "epochs": 10, "step": 212,
            "steps": 480, "loss": 0.8132, "learning_rate": 0.003,
            "seeds_per_second": 41_720.0, "seconds_left": 512.0,
            "checkpoint_age": 41.0},
        "daemons": [member("a", 0, [(1, "b"), (2, "c")]),
                    member("b", 1, [(0, "a"), (2, "c")]),
                    member("c", 2, [(0, "a"), (1, "b")])],
        "verdict": {
            "limit": "trainer",
            "sentence": "the trainers' arithmetic is the limit: they are busy "
                        "91 % of the time; more trainers, trainer.threads or a "
                        "faster trainer.device would help",
            "evidence": ["trainers: busy 91 %, starve 2 %, wait 7 % for each "
                         "other"]}}


class Events:
    """Events, numbered as they come."""

    def __init__(self):
        self.all = []

    def add(self, ago, kind, text, who="", run=""):
        self.all.append({"seq": 4294967297 + len(self.all), "time": NOW - ago,
                         "kind": kind, "who": who, "run": run, "text": text})
        return self

    def after(self, since):
        return {"next": 4294967297 + len(self.all),
                "events": [one for one in self.all if one["seq"] >= since]}


def usual_events():
    out = Events()
    for part, name in enumerate("abc"):
        out.add(1790 - part, "joined", f"daemon {name} at tcp://10.0.0."
                f"{part + 1}:7800 has joined with 1 part", who=name)
    return out.add(1502, "queued", f"run {RUN} waits for its turn", run=RUN)\
              .add(1500, "started", f"run {RUN} has begun", run=RUN)


def history(seconds=1500, ended=0, cut=None):
    """Rows for each second. `ended`: how long ago the run was over; `cut`:
    between which seconds it did not train."""
    out = {"now": NOW, "next": 4294967297 + seconds, "more": False,
           "daemons": {}, "runs": {}}
    begin = NOW - seconds

    def trains(i):
        return i < seconds - ended and not (cut and cut[0] <= i < cut[1])
    for d, name in enumerate("abc"):
        def told(i):
            known = {
                "cores": 2.4 + 0.25 * d + 0.2 * math.sin(i / 37 + d),
                "memory_bytes":
                    0.9e9 + 1.1e8 * d + 2e8 * (1 - math.exp(-i / 300)),
                "received_per_second": 9e6 + 1e6 * math.sin(i / 11 + d),
                "sent_per_second": 3e6,
                "disk_read_per_second": 2e6 * (i % 60 < 5),
                "disk_written_per_second": 4e4}
            return [known.get(one["name"], 3.2) if trains(i) else None
                    for one in FIGURES["DAEMON_FIGURES"]]
        out["daemons"][name] = {
            "fields": ["time", *(one["name"] for one in FIGURES["DAEMON_FIGURES"]),
                       "state"],
            "rows": [[begin + i, *told(i), "ready"]
                     for i in range(seconds + 1)]}
    rows, stages = [], {}
    for i in range(seconds + 1 - ended):
        epoch = i // 300
        rows.append([begin + i, "train", epoch, 10, i % 300, 300,
                     None if epoch == 0 else 0.5 + 1.6 * math.exp(-epoch / 2),
                     0.003, 41_000 + 2500 * math.sin(i / 23) - 1800
                     * (i % 300 < 5), 41.0]
                    if trains(i) else [begin + i] + [None] * 9)
        for kind, busy in ("sampler", 0.22), ("fetcher", 0.12), \
                          ("batcher", 0.34), ("trainer", 0.91):
            stages.setdefault(kind, []).append(
                [begin + i, busy + 0.05 * math.sin(i / 31), 0.2, 0.0, 0.1])
    out["runs"][RUN] = {
        "fields": ["time", "phase", "epoch", "epochs", "step", "steps", "loss",
                   "learning_rate", "seeds_per_second", "checkpoint_age"],
        "rows": rows,
        "stages": {kind: {"fields": ["time", "busy", "starved", "stalled",
                                     "waiting"], "rows": some}
                   for kind, some in stages.items()}}
    return out


def record(name, state, accuracy=None, message="", ended=None, measured=None):
    """`measured`: the metric that the run goes by, if that is not the
    accuracy, and its value on test nodes."""
    summary = {"test_accuracy": accuracy} if accuracy is not None else None
    if measured:
        summary.update(metric=measured[0], test=dict([measured]))
    return {"run": name, "name": "cora", "state": state, "submitted": NOW - 1502,
            "started": None if state == "queued" else NOW - 1500,
            "ended": ended, "message": message, "summary": summary}


def scene(now, past, events, records=(), running=None):
    return {"status": now, "history": past, "events": events,
            "records": list(records),
            "runs": {running["run"]: running} if running else {}}


def idle():
    past = history()
    past["runs"] = {}
    for one in past["daemons"].values():
        for row in one["rows"]:
            row[1:5] = [None] * 4
    events = Events()
    events.all = usual_events().all[:3]
    return scene(status(), past, events)


def training():
    events = usual_events().add(900, "checkpoint", f"run {RUN}: a checkpoint of "
                                "epoch 2 is written", run=RUN)
    return scene(status(RUN, [WAITING]), history(), events,
                 [record(WAITING, "queued"), record(RUN, "running")], run())


def starved():
    now = run()
    for one in now["daemons"]:
        for each in one["actors"]:
            if each["kind"] == "trainer":
                each.update(state="starved", busy=0.31, starved=0.62)
            elif each["kind"] == "fetcher":
                each.update(state="waiting", waiting=0.86, starved=0.02,
                            queue=17)
    slow = now["daemons"][1]["actors"][2]
    slow.update(busy=0.99, starved=0.0, queue=64, mean_latency=0.212,
                median_latency=0.2, p90_latency=0.3, p99_latency=0.41)
    now["daemons"][1]["long_work"] = ["a worker of feature service 1 has been "
                                      "at one piece of work for 14 s"]
    now["verdict"] = {
        "limit": 'feature service of part 1 at daemon "b"',
        "sentence": 'the feature service of part 1 at daemon "b" limits: its '
                    "workers are busy 99 % of the time; raise fetch.threads, or "
                    "spread its part over more daemons",
        "evidence": ["trainers: busy 31 %, starve 62 %, wait 7 % for each other",
                     'feature service of part 1 at daemon "b": an answer takes '
                     "212 ms on average, 410 ms in 99 of 100 cases at the "
                     "most"]}
    now["progress"]["seeds_per_second"] = 13_100.0
    out = training()
    out["runs"][RUN] = now
    return out


BESIDE = "20251123-074500-wide"


def beside():
    """Two runs that are on, of which one trains and the other one starves."""
    out = training()
    other = starved()["runs"][RUN]
    other["run"] = BESIDE
    for one in other["daemons"]:
        one["run"] = BESIDE
    out["runs"][BESIDE] = other
    out["status"]["also_running"] = [BESIDE]
    out["records"].insert(0, record(BESIDE, "running"))
    runs = out["history"]["runs"]
    runs[BESIDE] = {**copy.deepcopy(runs[RUN]), "rows": runs[RUN]["rows"][-300:]}
    runs[BESIDE]["stages"] = {"trainer": {
        **runs[RUN]["stages"]["trainer"],
        "rows": [[NOW - 300 + i, 0.31, 0.62, 0.0, 0.07] for i in range(300)]}}
    return out


def lost():
    out = training()
    out["records"] = [record(RUN, "running")]
    out["status"] = status(RUN, daemons=[
        listed("a", 0), listed("b", 1),
        listed("c", 2, "lost", "no heartbeat for 4 s")])
    now = out["runs"][RUN]
    now["silent"] = ["c"]
    now["daemons"][2]["age"] = 6.2
    now["verdict"] = {"limit": 'daemon "c"', "sentence": "nothing is heard of c: "
                      "see whether it is there", "evidence": []}
    out["events"].add(4, "lost", "daemon c is out of reach: no heartbeat for "
                      "4 s", who="c")
    return out


def recovering():
    out = lost()
    out["history"] = history(cut=(1496, 1501))
    out["status"] = status(None, [RUN], out["status"]["daemons"])
    out["runs"] = {}
    out["records"] = [record(RUN, "queued")]
    out["events"].add(3, "warning", f"attempt 1 of run {RUN} has failed: daemon "
                      "c is lost", run=RUN, who="c")\
                 .add(2, "queued", f"run {RUN} waits for its next attempt: part 2 "
                      "is at no daemon in service", run=RUN)
    return out


def over(state, message, text, accuracy=None):
    events = training()["events"].add(200, "ended", text, run=RUN)
    return scene(status(), history(ended=200), events,
                 [record(RUN, state, accuracy, message, NOW - 200)])


def finished():
    return over("finished", "", f"finished: run {RUN}, accuracy 0.7812",
                0.7812)


def waiting_for_a_part():
    """As `recovering`, of a coordinator whose record says what it waits for."""
    out = recovering()
    out["records"][0]["message"] = "it waits to go on: no daemon serves part 2"
    return out


def failed_for_a_lost_daemon():
    out = failed()
    out["status"] = status(None, [], lost()["status"]["daemons"])
    return out


def failed():
    return over("failed", "the loss is not finite in epoch 5, step 117; try a "
                "smaller learning rate", f"failed: run {RUN}: the loss is not "
                "finite in epoch 5, step 117")


def definition(**changes):
    """As a coordinator writes it out."""
    fields = {"sampler.fanouts": "[10, 5]", "model.kind": "sage",
              "train.epochs": "3", **changes}
    lines, section = ['name: "cora"'], None
    for name, value in fields.items():
        above, field = name.split(".")
        if above != section:
            lines.append(f"{above}:")
        section = above
        lines.append(f"  {field}: {value}")
    return "\n".join(lines) + "\n"


def metrics(epochs, accuracy, measure=None):
    """`measure`: what tells how good an epoch is, if not the accuracy."""
    lines = []
    for epoch in range(1, epochs + 1):
        for phase, loss in ("train", 2 / epoch), ("validation", 2.5 / epoch):
            lines.append({"phase": phase, "epoch": epoch, "loss": loss,
                          "learning_rate": 0.01 / epoch, "seconds": 12.5,
                          "accuracy": accuracy * epoch / epochs})
            if measure and phase == "validation":
                lines[-1].update({"metric": measure, measure: 0.25})
    return "".join(json.dumps(line) + "\n" for line in lines)


OTHER = "20251122-103000-cora"


def two_runs():
    """One that is over, and one before it with another definition."""
    out = finished()
    out["records"].append(record(OTHER, "cancelled", 0.75, "cancelled",
                                 NOW - 900, ("f1_macro", 0.65)))
    out["definitions"] = {
        RUN: definition(),
        OTHER: definition(**{"sampler.fanouts": "[4, 3]", "train.epochs": "2",
                             "optimizer.kind": "sgd"})}
    out["metrics"] = {RUN: metrics(3, 0.78), OTHER: metrics(2, 0.75, "f1_macro")}
    return out


HOSTILE = '<img src=x onerror="console.error(1)">'


def hostile():
    """Names that would be markup, were they taken for it."""
    def replaced(value):
        if isinstance(value, dict):
            return {replaced(key): replaced(one) for key, one in value.items()}
        if isinstance(value, list):
            return [replaced(one) for one in value]
        return {"c": HOSTILE, "b": "__proto__"}.get(value, value) \
            if isinstance(value, str) else value
    out = training()
    events = copy.deepcopy(out["events"].all)
    out = {name: replaced(one) for name, one in out.items() if name != "events"}
    out["events"] = Events()
    out["events"].all = [{**replaced(one), "text": HOSTILE} for one in events]
    return out


SCENES = {"idle": idle, "training": training, "starved": starved, "lost": lost,
          "recovering": recovering, "finished": finished, "failed": failed}

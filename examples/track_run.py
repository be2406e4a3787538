#!/usr/bin/env python3
"""Sends the metrics of runs to MLflow or Weights & Biases.

    python3 examples/track_run.py runs/RUN ... --to mlflow
    python3 examples/track_run.py runs/RUN --to wandb --project fraud
    python3 examples/track_run.py runs/RUN --to mlflow --follow

Each run folder becomes a run of the same name there: fields of the definition
are its parameters, each line of metrics.jsonl its metrics of that epoch
(`train/loss`, `validation/accuracy` ...), and the summary its results.
definition.yaml and summary.json are kept beside them. `--follow` sends lines as
they come, until the run has ended; without it a run that is on is sent up to
where it is. A run that is there already is not sent to MLflow again.

Where the server is, and who you are, is up to their own settings
(MLFLOW_TRACKING_URI, WANDB_MODE, WANDB_API_KEY ...). This needs `mlflow` or
`wandb`, and nothing else beyond Python."""

import argparse
import json
import math
import pathlib
import re
import sys
import time

KEPT_FILES = ("definition.yaml", "summary.json")
# In MLflow: of a value of a parameter, and parameters of a call.
LONGEST_VALUE, MOST_PARAMETERS = 500, 100
LOOK_SECONDS = 1.0
FIELD = re.compile(r'("(?:[^"\\]|\\.)*"|[^:]+): *(.*)')  # A name may have a colon.


def fields_of(text):
    """The fields of a definition.yaml that Graphmill has written, by path, as
    texts: {"model.hidden": "64", ...}."""
    out = {}
    path = []
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        depth = (len(line) - len(line.lstrip())) // 2
        key, value = FIELD.fullmatch(line.strip()).groups()
        path = path[:depth] + [json.loads(key) if key[0] == '"' else key]
        if value:
            out[".".join(path)] = value
    return out


def numbers_of(line):
    """What a line of metrics.jsonl measures, by name."""
    return {name: float(value) for name, value in line.items()
            if name not in ("phase", "epoch", "ended")
            and isinstance(value, (int, float)) and not isinstance(value, bool)
            and math.isfinite(value)}


class RunFolder:
    """The files of a run, which may be on."""

    def __init__(self, folder):
        self.folder = folder
        self.name = folder.resolve().name
        self.read = 0
        if not (folder / "run.json").is_file():
            sys.exit(f"{folder} is no folder of a run: it has no run.json")

    def fields(self):
        return fields_of((self.folder / "definition.yaml").read_text())

    def new_lines(self):
        """Whole lines of metrics.jsonl since the last call."""
        with (self.folder / "metrics.jsonl").open("rb") as file:
            file.seek(self.read)
            text = file.read()
        text = text[:text.rfind(b"\n") + 1]
        self.read += len(text)
        return [json.loads(line) for line in text.splitlines()]

    def summary(self):
        """None before the end of the run."""
        path = self.folder / "summary.json"
        return json.loads(path.read_text()) if path.is_file() else None

    def kept_files(self):
        return [path for path in map(self.folder.joinpath, KEPT_FILES)
                if path.is_file()]


class MlflowRun:
    """A run of MLflow."""

    @staticmethod
    def name_of(text):
        """The name of a metric or parameter. MLflow refuses characters such as
        the `@` and, in older versions, the `:` of recall_at_fpr@0.01:fraud."""
        return re.sub(r"[^\w/. -]", "_", text)

    def __init__(self, run, project):
        import mlflow
        self.mlflow = mlflow
        mlflow.set_experiment(project)
        mlflow.start_run(run_name=run.name,
                         tags={"graphmill.run": run.name})
        fields = [(self.name_of(name), value[:LONGEST_VALUE])
                  for name, value in run.fields().items()]
        for first in range(0, len(fields), MOST_PARAMETERS):
            mlflow.log_params(dict(fields[first:first + MOST_PARAMETERS]))

    @staticmethod
    def has(run, project):
        import mlflow
        experiment = mlflow.get_experiment_by_name(project)
        if experiment is None:
            return False
        found = mlflow.tracking.MlflowClient().search_runs(
            [experiment.experiment_id],
            filter_string=f"tags.`graphmill.run` = '{run.name}'")
        return len(found) > 0

    def send(self, line):
        for name, value in numbers_of(line).items():
            self.mlflow.log_metric(self.name_of(f"{line['phase']}/{name}"),
                                   value, step=line["epoch"])

    def end(self, run, summary):
        for name, value in numbers_of(summary).items():
            self.mlflow.log_metric(self.name_of(f"summary/{name}"), value)
        if summary.get("digest"):
            self.mlflow.set_tag("graphmill.digest", summary["digest"])
        for path in run.kept_files():
            self.mlflow.log_artifact(str(path))
        failed = summary.get("error") is not None
        self.mlflow.end_run(status="FAILED" if failed else "FINISHED")

    def leave(self):
        self.mlflow.end_run(status="RUNNING")


class WandbRun:
    """A run of Weights & Biases."""

    def __init__(self, run, project):
        import wandb
        self.run = wandb.init(project=project, name=run.name, id=run.name,
                              resume="allow", config=run.fields())

    @staticmethod
    def has(run, project):
        """It takes a run of the same id for the same one, and no step twice."""
        return False

    def send(self, line):
        values = {f"{line['phase']}/{name}": value
                  for name, value in numbers_of(line).items()}
        if line["phase"] == "test":  # Of an epoch that may be behind others.
            self.run.summary.update(values)
        else:
            self.run.log({"epoch": line["epoch"], **values},
                         step=line["epoch"])

    def end(self, run, summary):
        self.run.summary.update({f"summary/{name}": value for name, value
                                 in numbers_of(summary).items()})
        self.run.summary.update({"digest": summary.get("digest")})
        for path in run.kept_files():
            self.run.save(str(path), policy="now", base_path=str(run.folder))
        failed = summary.get("error") is not None
        self.run.finish(exit_code=1 if failed else 0)

    def leave(self):
        self.run.finish()


TRACKERS = {"mlflow": MlflowRun, "wandb": WandbRun}


def track(run, options):
    """Sends one run."""
    tracker = TRACKERS[options.to]
    if tracker.has(run, options.project):
        print(f"{run.name} is there already")
        return
    there = tracker(run, options.project)
    sent = 0
    while True:
        summary = run.summary()  # Before the lines, which come before it.
        for line in run.new_lines():
            there.send(line)
            sent += 1
        if summary is not None or not options.follow:
            break
        time.sleep(LOOK_SECONDS)
    if summary is None:
        there.leave()
    else:
        there.end(run, summary)
    print(f"{run.name}: {sent} lines of metrics sent to {options.to}"
          + ("" if summary else ", the run is not over"))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", type=pathlib.Path, nargs="+", metavar="run",
                        help="folder of a run")
    parser.add_argument("--to", choices=sorted(TRACKERS), required=True)
    parser.add_argument("--project", default="graphmill",
                        help="project, or experiment (default: graphmill)")
    parser.add_argument("--follow", action="store_true",
                        help="send lines until the run has ended")
    options = parser.parse_args()
    try:
        __import__(options.to)
    except ImportError:
        sys.exit(f"there is no Python module {options.to} here: "
                 f"`pip install {options.to}`")
    for run in [RunFolder(folder) for folder in options.runs]:
        track(run, options)


if __name__ == "__main__":
    main()

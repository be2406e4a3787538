#!/usr/bin/python3
"""Runs harnesses by libFuzzer, each for its share of processor time, and tells
what was found. Started by tests/fuzz.sh, which builds them."""

import argparse
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")
MOST_FINDINGS = 5  # Of a harness: what comes after them is mostly the same.
LONGEST_INPUT = 1 << 16  # As in harness.hpp.
INTERRUPTED = 72  # What libFuzzer ends with after SIGINT.
STATUS = re.compile(r"^#(\d+)\s.*\bcov: (\d+) ft: (\d+)(?: corp: (\d+))?")
EPILOG = """\
The processor time of HOURS is shared evenly, in turns, so that all harnesses have
had some of it soon. What was learnt is kept in BUILD/corpus/HARNESS, and is where
the next call begins, beside the inputs in tests/fuzz/corpus/HARNESS and the seeds
that harnesses make themselves. What ends a harness is kept in
BUILD/findings/HARNESS, with the log beside it; to see it again:
    GRAPHMILL_HARNESS=NAME BUILD/tests/fuzz/fuzz BUILD/findings/NAME/crash-...
Exit code: 0 without findings, 1 with some, 2 if it could not run."""


def arguments():
    parser = argparse.ArgumentParser(
        prog="tests/fuzz.sh", description=__doc__.split(". Started")[0] + ".",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hours", nargs="?", default="1", metavar="HOURS",
                        help="of processor time, for all harnesses together "
                        "(default: 1)")
    parser.add_argument("harnesses", nargs="*", metavar="HARNESS",
                        help="default: all")
    parser.add_argument("--jobs", type=int, default=2,
                        help="harnesses that run at a time (default: 2)")
    parser.add_argument("--turns", type=int, default=4,
                        help="turns of each harness (default: 4)")
    parser.add_argument("--json", action="store_true",
                        help="end with one line of JSON")
    parser.add_argument("--list", action="store_true", help="name the harnesses")
    parser.add_argument("--build", default="build-fuzz", metavar="BUILD",
                        help=argparse.SUPPRESS)
    return parser.parse_args()


def processor_seconds(process):
    """Of a process that runs or has not been waited for."""
    text = pathlib.Path(f"/proc/{process.pid}/stat").read_text()
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def names(program):
    """Of all harnesses: libFuzzer's program says them if none is chosen."""
    told = subprocess.run([program], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "GRAPHMILL_HARNESS": ""},
                          check=False)
    return told.stdout.split()


class Harness:
    """One harness, its folders, and what has become of it so far."""

    def __init__(self, name, options):
        build = pathlib.Path(options.build).resolve()
        self.name = name
        self.program = str(build / "tests/fuzz/fuzz")
        self.corpus = build / "corpus" / name
        self.findings_folder = build / "findings" / name
        self.committed = pathlib.Path(__file__).resolve().parent / "corpus" / name
        self.seeds = build / "seeds" / name
        self.corpus.mkdir(parents=True, exist_ok=True)
        self.seeds.mkdir(parents=True, exist_ok=True)
        self.findings_folder.mkdir(parents=True, exist_ok=True)
        self.runs = self.edges = self.features = self.kept = 0
        self.seconds = 0.0
        self.findings = []
        self.failed = None  # Why it could not run.
        self.write_seeds()

    def write_seeds(self):
        with tempfile.TemporaryDirectory(prefix="graphmill-fuzz-",
                                         dir=memory_folder()) as scratch:
            done = subprocess.run(
                [self.program], capture_output=True, text=True, check=False,
                env={**os.environ, "GRAPHMILL_HARNESS": self.name,
                     "GRAPHMILL_SEEDS": str(self.seeds), "TMPDIR": scratch})
        if done.returncode != 0:
            self.failed = "it has no seeds: " + done.stderr[-1000:]

    def turn(self, seconds):
        """Fuzzes for so much processor time, however often it ends before."""
        left = seconds
        while left > 0.5 and not self.failed:
            if len(self.findings) >= MOST_FINDINGS:
                return
            left -= max(self.go(left), 0.1)

    def go(self, seconds):
        log = self.findings_folder / "log.txt"
        with tempfile.TemporaryDirectory(prefix="graphmill-fuzz-",
                                         dir=memory_folder()) as scratch:
            command = [
                self.program, str(self.corpus), str(self.seeds),
                *([str(self.committed)] if self.committed.is_dir() else []),
                f"-artifact_prefix={self.findings_folder}/", "-print_final_stats=1",
                f"-max_len={LONGEST_INPUT}", "-len_control=20", "-reload=0",
                "-rss_limit_mb=2048", "-malloc_limit_mb=256", "-timeout=300",
                "-use_value_profile=1",
            ]
            environment = {
                **os.environ, "GRAPHMILL_HARNESS": self.name, "TMPDIR": scratch,
                "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
                "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:"
                                "handle_abort=1",
            }
            with open(log, "ab") as out:
                begin = out.tell()
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                           stdout=out, stderr=out,
                                           env=environment,
                                           preexec_fn=end_with_parent)
                used = wait(process, seconds)
            self.read(log, begin, process.returncode)
            self.seconds += used
            return used

    def read(self, log, begin, code):
        """Takes figures and findings from what libFuzzer has said."""
        with open(log, errors="replace") as file:
            file.seek(begin)
            text = file.read()
        runs = 0
        for line in text.splitlines():
            status = STATUS.match(line)
            if status:
                runs = int(status[1])
                self.edges = max(self.edges, int(status[2]))
                self.features = max(self.features, int(status[3]))
        final = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
        self.runs += int(final[1]) if final else runs
        self.kept = sum(1 for _ in self.corpus.iterdir())
        if code in (0, INTERRUPTED, -signal.SIGINT):
            return
        kept = re.findall(r"Test unit written to (\S+)", text)
        summary = re.findall(r"^(?:SUMMARY|==fuzz==|==\d+== ?ERROR).*$", text,
                             re.MULTILINE)
        if not kept and not summary:
            self.failed = "\n".join(text.splitlines()[-3:]) or f"exit code {code}"
            return
        self.findings.append({"input": kept[-1] if kept else None,
                              "what": summary[0] if summary else "?"})
        print(f"fuzz.sh: {self.name}: {self.findings[-1]['what']}\n"
              f"         {self.findings[-1]['input']}", file=sys.stderr,
              flush=True)


def end_with_parent():
    """In a child: whoever ends this program, by whatever signal, ends it."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def memory_folder():
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


def wait(process, seconds):
    """Until a process has had so much processor time, or ends by itself.
    Returns how much it has had."""
    used = 0.0
    asked = None
    while True:
        ended = os.waitid(os.P_PID, process.pid,
                          os.WEXITED | os.WNOHANG | os.WNOWAIT)
        used = max(used, processor_seconds(process))
        if ended:
            process.wait()
            return used
        if used >= seconds and asked is None:
            process.send_signal(signal.SIGINT)
            asked = time.monotonic()
        if asked is not None and time.monotonic() - asked > 300:
            process.kill()
        time.sleep(0.2)


def table(harnesses):
    rows = [("harness", "runs", "CPU s", "edges", "corpus", "findings")]
    rows += [(h.name, h.runs, f"{h.seconds:.0f}", h.edges, h.kept,
              len(h.findings)) for h in harnesses]
    rows.append(("all", sum(h.runs for h in harnesses),
                 f"{sum(h.seconds for h in harnesses):.0f}", "", "",
                 sum(len(h.findings) for h in harnesses)))
    widths = [max(len(str(row[i])) for row in rows) for i in range(6)]
    for row in rows:
        print("  ".join(str(cell).ljust(width) if i == 0 else
                        str(cell).rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))))
    for harness in harnesses:
        for finding in harness.findings:
            print(f"\n{harness.name}: {finding['what']}\n  {finding['input']}")
        if harness.failed:
            print(f"\n{harness.name} could not run: {harness.failed}")


def as_json(harnesses):
    return {"harnesses": [
        {"name": h.name, "runs": h.runs, "cpu_seconds": round(h.seconds, 1),
         "edges": h.edges, "features": h.features, "corpus": h.kept,
         "findings": h.findings, "error": h.failed} for h in harnesses],
        "findings": sum(len(h.findings) for h in harnesses)}


def campaign(harnesses, options, hours):
    """Turns, each of all harnesses, some at a time."""
    share = hours * 3600 / len(harnesses) / options.turns
    progress = pathlib.Path(options.build) / "findings" / "progress.json"
    for turn in range(options.turns):
        waiting = list(harnesses)
        lock = threading.Lock()

        def work():
            while True:
                with lock:
                    if not waiting:
                        return
                    harness = waiting.pop(0)
                harness.turn(share)
                with lock:
                    progress.write_text(json.dumps(
                        {"turn": turn + 1, "turns": options.turns,
                         **as_json(harnesses)}, indent=1))
        workers = [threading.Thread(target=work, daemon=True)
                   for _ in range(options.jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


def main():
    options = arguments()
    program = pathlib.Path(options.build).resolve() / "tests/fuzz/fuzz"
    try:
        hours = float(options.hours)
    except ValueError:  # A harness: an hour for it.
        options.harnesses.insert(0, options.hours)
        hours = 1.0
    known = names(str(program))
    if options.list:
        print("\n".join(known))
        return 0
    unknown = [name for name in options.harnesses if name not in known]
    if unknown or hours <= 0 or options.jobs < 1 or options.turns < 1:
        print(f"fuzz.sh: there is no harness {', '.join(unknown)}; --list names "
              "them" if unknown else "fuzz.sh: HOURS, --jobs and --turns must be "
              "above 0", file=sys.stderr)
        return 2
    # Also where whoever has started it has it ignore them, as a shell does for
    # what it runs in the background.
    for one in signal.SIGINT, signal.SIGTERM:
        signal.signal(one, signal.default_int_handler)
    harnesses = [Harness(name, options) for name in options.harnesses or known]
    try:
        campaign(harnesses, options, hours)
    except KeyboardInterrupt:
        print("fuzz.sh: stopped; these are the figures so far", file=sys.stderr)
    table(harnesses)
    if options.json:
        print(json.dumps(as_json(harnesses)))
    if any(h.failed for h in harnesses):
        return 2
    return 1 if any(h.findings for h in harnesses) else 0


if __name__ == "__main__":
    sys.exit(main())

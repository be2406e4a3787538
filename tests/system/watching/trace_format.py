"""What Google's "Trace Event Format" asks of a file, as far as a viewer depends on
it: which kinds of events there are, what each must have, and what belongs
together. Written from the format's description alone."""

import collections
import math

# Fields that an event has beside "ph", by its phase. All but metadata have a time.
FIELDS = {
    "X": {"name", "cat", "ts", "dur", "pid", "tid"},      # Complete.
    "B": {"name", "cat", "ts", "pid", "tid"},             # Duration: begin,
    "E": {"ts", "pid", "tid"},                            # and end.
    "b": {"name", "cat", "id", "ts", "pid", "tid"},       # Asynchronous: begin,
    "n": {"name", "cat", "id", "ts", "pid", "tid"},       # moment
    "e": {"name", "cat", "id", "ts", "pid", "tid"},       # and end.
    "s": {"name", "cat", "id", "ts", "pid", "tid"},       # Flow: begin,
    "t": {"name", "cat", "id", "ts", "pid", "tid"},       # step
    "f": {"name", "cat", "id", "ts", "pid", "tid"},       # and end.
    "i": {"name", "ts", "pid", "tid", "s"},               # Instant.
    "C": {"name", "ts", "pid", "args"},                   # Counter.
    "M": {"name", "pid", "tid", "args"},                  # Metadata.
}
METADATA = {"process_name": ("name", str), "process_labels": ("labels", str),
            "process_sort_index": ("sort_index", int),
            "thread_name": ("name", str),
            "thread_sort_index": ("sort_index", int)}
TEXTS = {"name", "cat", "ph"}
NUMBERS = {"ts", "dur"}
INTEGERS = {"pid", "tid"}


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def wrong_in(event):
    """What is wrong with an event by itself; nothing, if all is right."""
    if not isinstance(event, dict):
        return "no object"
    phase = event.get("ph")
    if phase not in FIELDS:
        return f"phase {phase!r}"
    if missing := FIELDS[phase] - set(event):
        return f"no {sorted(missing)}"
    for field, value in event.items():
        if field in TEXTS and not (isinstance(value, str) and value):
            return f"{field} is {value!r}"
        if field in INTEGERS and not is_integer(value):
            return f"{field} is {value!r}"
        if field in NUMBERS and not (
                (is_integer(value) or isinstance(value, float))
                and math.isfinite(value) and value >= 0):
            return f"{field} is {value!r}"
        if field == "id" and not (is_integer(value) or isinstance(value, str)):
            return f"id is {value!r}"
        if field == "args" and not isinstance(value, dict):
            return f"args are {value!r}"
        if field == "bp" and (phase not in "tf" or value != "e"):
            return f"bp is {value!r}"
    if phase == "M":
        kind = METADATA.get(event["name"])
        if kind is None or not isinstance(event["args"].get(kind[0]), kind[1]):
            return f"metadata {event['name']} with {event['args']}"
    return None


def check_flow(events):
    """Of one id: a begin, any steps, and an end. Times are those of several
    clocks, so that they may lie a little apart."""
    phases = collections.Counter(event["ph"] for event in events)
    assert phases["s"] == 1 and phases["f"] == 1, events


def check_document(whole):
    """Fails unless a document is a trace: the object form of the format."""
    assert isinstance(whole, dict), type(whole)
    assert isinstance(whole["traceEvents"], list)
    assert whole.get("displayTimeUnit", "ms") in ("ms", "ns")
    named, drawn = set(), set()
    flows, asynchronous = (collections.defaultdict(list) for _ in range(2))
    for event in whole["traceEvents"]:
        wrong = wrong_in(event)
        assert wrong is None, f"{wrong}: {event}"
        phase = event["ph"]
        if phase == "M":
            named.add((event["name"], event["pid"], event["tid"]))
            continue
        drawn.add((event["pid"], event["tid"]))
        if phase in "stf":
            flows[event["cat"], event["name"], event["id"]].append(event)
        elif phase in "bne":
            asynchronous[event["cat"], event["id"]].append(event)
    for pid, tid in drawn:  # A viewer shows numbers of those without names.
        assert ("thread_name", pid, tid) in named, (pid, tid)
        assert any(name == "process_name" and pid == of
                   for name, of, _ in named), pid
    for events in flows.values():
        check_flow(events)
    for events in asynchronous.values():
        phases = [event["ph"] for event in events]
        assert phases.count("b") == phases.count("e"), events
        assert len({event["name"] for event in events}) == 1, events

"""Reads the event files that TensorBoard reads, by the description of their
format alone: records of TFRecord files, messages of protocol buffers."""

import json
import pathlib
import struct

# What curves show of the lines of metrics.jsonl, by phase.
TAGS = {
    "train": {"train/loss": "loss", "train/accuracy": "accuracy",
              "learning_rate": "learning_rate"},
    "validation": {"validation/loss": "loss",
                   "validation/accuracy": "accuracy"},
    "test": {"test/loss": "loss", "test/accuracy": "accuracy"},
}


def _table():
    out = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        out.append(byte)
    return out


_TABLE = _table()


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    """The messages of a file; an error if a checksum is wrong, or if the last
    record is cut short."""
    at = 0
    while at < len(data):
        length, check = struct.unpack_from("<QI", data, at)
        if masked_crc32c(data[at:at + 8]) != check:
            raise ValueError(f"length at byte {at} is damaged")
        message = data[at + 12:at + 12 + length]
        check, = struct.unpack_from("<I", data, at + 12 + length)
        if masked_crc32c(message) != check:
            raise ValueError(f"record at byte {at} is damaged")
        yield message
        at += 16 + length


def _varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def fields(message):
    """Pairs of a field's number and its value: an int, or bytes."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _varint(message, at)
        elif kind in (1, 2, 5):
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                size, at = _varint(message, at)
            value, at = message[at:at + size], at + size
            if len(value) != size:
                raise ValueError("a field is cut short")
        else:
            raise ValueError(f"field {number} is of kind {kind}")
        yield number, value


def _event(message):
    """The fields of an Event that we know."""
    out = {"step": 0, "scalars": []}
    for number, value in fields(message):
        if number == 1:
            out["wall_time"], = struct.unpack("<d", value)
        elif number == 2:
            out["step"] = value
        elif number == 3:
            out["file_version"] = value.decode()
        elif number == 5:
            for inner, one in fields(value):
                if inner != 1:
                    raise ValueError(f"field {inner} of a summary")
                parts = dict(fields(one))
                out["scalars"].append((parts[1].decode(),
                                       struct.unpack("<f", parts[2])[0]))
        elif number == 7:
            out["session"] = dict(fields(value))
        else:
            raise ValueError(f"field {number} of an event")
    return out


def event_files(folder):
    return sorted(pathlib.Path(folder).glob("*tfevents*"))


def events(folder):
    """The events of all files of a folder, file by file."""
    out = []
    for path in event_files(folder):
        in_file = [_event(message) for message in records(path.read_bytes())]
        if in_file[0].get("file_version") != "brain.Event:2":
            raise ValueError(f"{path} does not begin with its version")
        out += in_file
    return out


def scalars(folder):
    """(tag, step) -> (value, wall time). No value may be there twice, even
    where a session start between the two would tell readers which counts."""
    out = {}
    for event in events(folder):
        for tag, value in event["scalars"]:
            if (tag, event["step"]) in out:
                raise ValueError(f"{tag} is there twice for step "
                                 f"{event['step']}")
            out[tag, event["step"]] = value, event["wall_time"]
    return out


def of_metrics(run):
    """What the curves of a run folder must be, by its metrics.jsonl; in the
    form of `scalars`."""
    out, steps = {}, 0
    for text in (run / "metrics.jsonl").read_text().splitlines():
        line = json.loads(text)
        values = {tag: line[name] for tag, name in TAGS[line["phase"]].items()}
        if line["phase"] == "train":
            steps += line["steps"]
            values["seeds_per_second"] = line["seeds"] / line["seconds"]
        for tag, value in values.items():
            rounded, = struct.unpack("<f", struct.pack("<f", value))
            out[tag, steps] = rounded, line["ended"]
    return out

"""In which state each actor of a run is, as those say who tell of it."""

import re


def title(actor):
    """As a table of actors calls it."""
    number = next((actor[what] for what in ("part", "rank")
                   if actor[what] >= 0), "")
    peer = f"-> {actor['peer']}" if actor["peer"] else ""
    return " ".join(f"{actor['kind']} {number} {peer}".split())


def states(document):
    """Of all actors, by daemon and title, as a document tells them."""
    return {(daemon["daemon"], title(actor)): actor["state"]
            for daemon in document["daemons"] for actor in daemon["actors"]}


def states_in_metrics(text):
    """The same, and the share of time in which each is busy, of a page for
    Prometheus."""
    found, busy = {}, {}
    for name, labels, value in re.findall(
            r"^graphmill_actor_(state|time_ratio){(.*)} (\S+)$", text,
            re.MULTILINE):
        of = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        who = of["daemon"], title({
            "kind": of["actor"], "peer": of.get("peer", ""),
            **{what: int(of.get(what, -1)) for what in ("part", "rank")}})
        if name == "time_ratio":
            if of["state"] == "busy":
                busy[who] = float(value)
        elif float(value) == 1:
            found[who] = of["state"]
    return found, busy


def states_in_screen(text):
    found, daemon = {}, ""
    for line in text.splitlines():
        if match := re.match(r"daemon (\S+):", line):
            daemon = match[1]
        elif match := re.match(
                r"  (\S.*?) +(starting|running|starved|stalled|waiting|"
                r"restarting|failed|stopped) +\d", line):
            found[daemon, match[1]] = match[2]
    return found


def states_in_lines(text):
    """The same of the last screen that `top` has printed, and the verdict: of
    the one before, while the last one has not come to its end."""
    screens = re.split(r"^run  ", text, flags=re.MULTILINE)
    if len(screens) < 3:
        return {}, ""
    before, found = map(states_in_screen, screens[-2:])
    if found.keys() != before.keys():
        found = before
    said = re.search(r"^verdict +(.*)$", screens[-2], re.MULTILINE)
    return found, said[1] if said else ""

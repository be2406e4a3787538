// All that the page knows of the cluster, from documents of the coordinator,
// which actors/monitoring.md describes. Of each kind of thing it keeps a limited number.

import { addRows, HOUR, Series } from "./series.js";

const MOST_DAEMONS = 256;
const MOST_RUNS = 32;
const MOST_EVENTS = 2000;

export const DAEMON_FIGURES = ["cores", "memory_bytes", "received_per_second"];
export const RUN_FIGURES = ["loss", "seeds_per_second", "epoch", "step"];
export const STAGE_FIGURES = ["busy", "starved", "stalled", "waiting"];

/** The series of a name in a map that has `most` at most: those that have been
 * silent for longest make room. */
function seriesOf(map, name, names, most) {
  let found = map.get(name);
  if (!found) {
    if (map.size >= most) {
      const oldest = [...map].reduce((a, b) => (a[1].last <= b[1].last ? a : b));
      map.delete(oldest[0]);
    }
    found = new Series(names);
    map.set(name, found);
  }
  return found;
}

export class Store {
  constructor() {
    this.status = null; // As `graphmill status --json`.
    this.run = null; // As `graphmill status RUN --json`, of the run that is on.
    this.daemons = new Map(); // Series by name.
    this.runs = new Map();
    this.stages = new Map(); // Of the run that is on, by kind of actor.
    this.stagesOf = "";
    this.records = new Map(); // What has become of runs, by id, the oldest first.
    this.events = []; // The oldest first.
    this.now = NaN; // By the coordinator's clock.
    this.historyNext = null;
    this.eventsNext = null;
  }

  takeStatus(status) {
    if (!status) return;
    this.status = status;
    for (const id of (status.queued ?? []).slice(0, MOST_RUNS / 2)) this.note(id);
    if (status.running) this.note(status.running);
    if (this.run?.run !== status.running) this.run = null;
  }

  takeHistory(history) {
    if (!history) return;
    this.historyNext = history.next;
    if (typeof history.now === "number") this.now = history.now;
    for (const [name, rows] of Object.entries(history.daemons ?? {}))
      addRows(seriesOf(this.daemons, name, DAEMON_FIGURES, MOST_DAEMONS), rows);
    for (const [id, rows] of Object.entries(history.runs ?? {})) {
      this.note(id);
      addRows(seriesOf(this.runs, id, RUN_FIGURES, MOST_RUNS), rows);
      this.takeStages(id, rows.stages ?? {});
    }
    this.forget();
  }

  /** Stages of an earlier run make room for those of the latest one. */
  takeStages(id, stages) {
    for (const [kind, rows] of Object.entries(stages)) {
      if (this.stagesOf !== id) {
        this.stages.clear();
        this.stagesOf = id;
      }
      addRows(seriesOf(this.stages, kind, STAGE_FIGURES, 32), rows);
    }
  }

  takeEvents(events) {
    if (!events) return;
    this.eventsNext = events.next;
    for (const event of events.events ?? []) {
      const last = this.events.at(-1);
      if (last && event.seq <= last.seq) continue; // It has come before.
      this.events.push(event);
      if (event.run) this.note(event.run);
      if (event.run && event.kind === "ended") this.outdated(event.run);
    }
    this.events.splice(0, this.events.length - MOST_EVENTS);
  }

  /** Of the run that is on, how it is; of others, what has become of them. */
  takeRun(document) {
    this.note(document.run);
    if (document.state === "running") this.run = document;
    this.records.set(document.run, document);
  }

  /** There is such a run. */
  note(id) {
    if (this.records.has(id)) return;
    this.records.set(id, null);
    if (this.records.size > MOST_RUNS) this.records.delete(this.records.keys().next().value);
  }

  outdated(id) {
    if (this.records.has(id)) this.records.set(id, null);
  }

  /** The ids of runs to ask for: the one that is on, and those of which the
   * last that is known may not be the last that there is. */
  toAsk() {
    const running = this.status?.running;
    const open = [...this.records].filter(([id, record]) => id !== running
      && (!record || record.state === "running"
          || (record.state === "queued") !== (this.status?.queued ?? []).includes(id)));
    const ids = open.map(([id]) => id).slice(-4);
    return running ? [running, ...ids] : ids;
  }

  /** There is no such run any more. */
  dropRun(id) {
    this.records.delete(id);
  }

  forget() {
    for (const map of [this.daemons, this.runs, this.stages])
      for (const [name, series] of map)
        if (series.last < this.now - HOUR) map.delete(name);
  }

  /** ID of the stream's last tick, to go on from. */
  get streamId() {
    return this.historyNext === null || this.eventsNext === null
      ? null : `${this.historyNext}-${this.eventsNext}`;
  }
}

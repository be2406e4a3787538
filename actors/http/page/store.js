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
    this.records = new Map(); // What has become of runs, by id, the latest first.
    this.recordsAreOld = true;
    this.events = []; // The oldest first.
    this.now = NaN; // By the coordinator's clock.
    this.historyNext = null;
    this.eventsNext = null;
  }

  takeStatus(status) {
    if (!status) return;
    const turns = (of) => JSON.stringify([of?.running, of?.queued]);
    if (turns(this.status) !== turns(status)) this.recordsAreOld = true;
    this.status = status;
    if (this.run?.run !== status.running) this.run = null;
  }

  takeHistory(history) {
    if (!history) return;
    this.historyNext = history.next;
    if (typeof history.now === "number") this.now = history.now;
    for (const [name, rows] of Object.entries(history.daemons ?? {}))
      addRows(seriesOf(this.daemons, name, DAEMON_FIGURES, MOST_DAEMONS), rows);
    const began = ([, { fields, rows }]) => rows[0]?.[fields.indexOf("time")] ?? 0;
    const inTurn = Object.entries(history.runs ?? {}).sort((a, b) => began(a) - began(b));
    for (const [id, rows] of inTurn) {
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
      if (event.run && event.kind !== "checkpoint") this.recordsAreOld = true;
    }
    this.events.splice(0, this.events.length - MOST_EVENTS);
  }

  /** How the run that is on is; it may have ended meanwhile. */
  takeRun(document) {
    if (document.state === "running" && document.run === this.status?.running)
      this.run = document;
  }

  /** The latest runs, as `graphmill runs --json`. Summaries are long. */
  takeRecords({ runs }) {
    this.records = new Map(runs.slice(0, MOST_RUNS).map(({ summary, ...record }) =>
      [record.run, { ...record, accuracy: summary?.test_accuracy ?? null }]));
    this.recordsAreOld = runs.some(({ run, state }) =>
      state === "running" && run !== this.status?.running);
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

// All that the page knows of the cluster, from documents of the coordinator,
// which actors/monitoring.md describes. Of each kind of thing it keeps a limited number.

import { addRows, HOUR, Series } from "./series.js";

const MOST_DAEMONS = 256;
const MOST_RUNS = 32;
const MOST_STAGES = 32;
const MOST_EVENTS = 2000;

export const DAEMON_FIGURES = ["cores", "memory_bytes", "received_per_second"];
export const RUN_FIGURES = ["loss", "seeds_per_second", "epoch", "step"];
export const STAGE_FIGURES = ["busy", "starved", "stalled", "waiting"];

/** Adds the rows of a name to its series in a map that has `most` at most: of
 * those of which nothing is told now, the one that has been silent for longest
 * makes room. If there is none, the rows are left out.
 * @param told The rows of all names. */
function addTold(map, name, told, names, most) {
  let found = map.get(name);
  if (!found) {
    if (map.size >= most) {
      const silent = [...map].filter(([key]) => !Object.hasOwn(told, key));
      if (silent.length === 0) return;
      map.delete(silent.reduce((a, b) => (a[1].last <= b[1].last ? a : b))[0]);
    }
    found = new Series(names);
    map.set(name, found);
  }
  addRows(found, told[name]);
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
    const turns = (of) => JSON.stringify([of?.running, of?.also_running, of?.queued]);
    if (turns(this.status) !== turns(status)) this.recordsAreOld = true;
    this.status = status;
    if (this.run?.run !== status.running) this.run = null;
  }

  takeHistory(history) {
    if (!history) return;
    this.historyNext = history.next;
    if (typeof history.now === "number") this.now = history.now;
    const { daemons = {}, runs = {} } = history;
    for (const name of Object.keys(daemons))
      addTold(this.daemons, name, daemons, DAEMON_FIGURES, MOST_DAEMONS);
    const began = ([, { fields, rows }]) => rows[0]?.[fields.indexOf("time")] ?? 0;
    for (const [id, { stages = {} }] of Object.entries(runs).sort((a, b) => began(a) - began(b))) {
      addTold(this.runs, id, runs, RUN_FIGURES, MOST_RUNS);
      if (!this.status?.also_running?.includes(id)) this.takeStages(id, stages);
    }
    this.forget();
  }

  /** Whether a run is on: the one whose actors are shown, or one beside it. */
  isOn(id) {
    return id === this.status?.running || Boolean(this.status?.also_running?.includes(id));
  }

  /** Stages of an earlier run make room for those of the latest one. */
  takeStages(id, stages) {
    for (const kind of Object.keys(stages)) {
      if (this.stagesOf !== id) {
        this.stages.clear();
        this.stagesOf = id;
      }
      addTold(this.stages, kind, stages, STAGE_FIGURES, MOST_STAGES);
    }
  }

  takeEvents(events) {
    if (!events) return;
    if (events.next < this.eventsNext) { // Numbers grow: this is another cluster.
      this.events = [];
      this.recordsAreOld = true;
    }
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
      state === "running" && !this.isOn(run));
  }

  /** What is over for an hour, or of a clock that has been set back since. */
  forget() {
    for (const map of [this.daemons, this.runs, this.stages])
      for (const [name, { last }] of map)
        if (last < this.now - HOUR || last > this.now) map.delete(name);
  }

  /** ID of the stream's last tick, to go on from. */
  get streamId() {
    return this.historyNext === null || this.eventsNext === null
      ? null : `${this.historyNext}-${this.eventsNext}`;
  }
}

// All that the page knows of the cluster, from documents of the coordinator,
// which actors/monitoring.md describes. Of each kind of thing it keeps a limited number.

// The program writes this module.
import { DAEMON_FIGURES, RUN_FIGURES, STAGE_FIGURES } from "./figures.js";
import { addRows, HOUR, Series } from "./series.js";

const MOST_DAEMONS = 256;
const MOST_RUNS = 32;
const MOST_STAGES = 32;
const MOST_STAGED = 8; // Runs whose stages are kept.
const MOST_EVENTS = 2000;
const WITHIN_RUNS = ["checkpoint", "limit", "trouble"]; // Events that no record tells of.

const [DAEMON_NAMES, RUN_NAMES, STAGE_NAMES] = [DAEMON_FIGURES, RUN_FIGURES, STAGE_FIGURES]
  .map((figures) => figures.map(({ name }) => name));

/** By which metric a run goes, if not by accuracy, and its value on the test split. */
function measuredBy(summary) {
  const { metric, test } = summary ?? {};
  if (typeof metric !== "string" || metric === "accuracy") return null;
  return { name: metric, value: test?.[metric] ?? null };
}

/** By what the page knows an event again. The number alone does not tell: another
 * cluster at the same address counts from its own begin. */
export function eventKey({ seq, time }) {
  return `${seq} ${time}`;
}

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
    this.chosen = ""; // The run that the reader has asked for.
    this.run = null; // As `graphmill status RUN --json`, of the run that is shown.
    this.daemons = new Map(); // Series by name.
    this.runs = new Map();
    this.stagesOf = new Map(); // Of runs, by id: series by kind of actor.
    this.staged = ""; // The run that was shown last.
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
    this.show();
  }

  /** Runs that are on, the one that began first at their head. */
  get on() {
    const { running, also_running: others } = this.status ?? {};
    return running ? [running, ...(others ?? [])] : [];
  }

  /** Of these, the one that is shown; empty: none is on. */
  get shown() {
    return this.on.includes(this.chosen) ? this.chosen : this.on[0] ?? "";
  }

  /** The reader asks for another run. */
  choose(id) {
    this.chosen = id;
    this.show();
  }

  show() {
    if (this.shown) this.staged = this.shown;
    if (this.run?.run !== this.shown) this.run = null;
  }

  /** Series by kind of actor, of the run that is shown or was shown last. */
  get stages() {
    return this.stagesOf.get(this.staged) ?? new Map();
  }

  takeHistory(history) {
    if (!history) return;
    if (history.next < this.historyNext) this.meetAnother();
    this.historyNext = history.next;
    if (typeof history.now === "number") this.now = history.now;
    const { daemons = {}, runs = {} } = history;
    for (const name of Object.keys(daemons))
      addTold(this.daemons, name, daemons, DAEMON_NAMES, MOST_DAEMONS);
    const began = ([, { fields, rows }]) => rows[0]?.[fields.indexOf("time")] ?? 0;
    for (const [id, { stages = {} }] of Object.entries(runs).sort((a, b) => began(a) - began(b))) {
      addTold(this.runs, id, runs, RUN_NAMES, MOST_RUNS);
      if (this.on.length === 0 && Object.keys(stages).length > 0) this.staged = id;
      this.takeStages(id, stages, runs);
    }
    this.forget();
  }

  /** Whether a run is on. */
  isOn(id) {
    return this.on.includes(id);
  }

  /** Stages of runs that are over make room for those of others, but not those
   * that are shown. */
  takeStages(id, stages, told) {
    if (Object.keys(stages).length === 0) return;
    if (!this.stagesOf.has(id)) {
      if (this.stagesOf.size >= MOST_STAGED) {
        const over = [...this.stagesOf.keys()].find((key) =>
          key !== this.staged && (id === this.staged || !Object.hasOwn(told, key)));
        if (over === undefined) return;
        this.stagesOf.delete(over);
      }
      this.stagesOf.set(id, new Map());
    }
    for (const kind of Object.keys(stages))
      addTold(this.stagesOf.get(id), kind, stages, STAGE_NAMES, MOST_STAGES);
  }

  /** Numbers grow, as long as a cluster is the same: this is another one, which has
   * all its events still to tell. */
  meetAnother() {
    this.events = [];
    this.eventsNext = null;
    this.recordsAreOld = true;
  }

  takeEvents(events) {
    if (!events) return;
    if (events.next < this.eventsNext) this.meetAnother();
    this.eventsNext = events.next;
    for (const event of events.events ?? []) {
      const last = this.events.at(-1);
      if (last && event.seq <= last.seq) continue; // It has come before.
      this.events.push(event);
      if (event.run && !WITHIN_RUNS.includes(event.kind)) this.recordsAreOld = true;
    }
    this.events.splice(0, this.events.length - MOST_EVENTS);
  }

  /** How the run that is shown is; it may have ended meanwhile. */
  takeRun(document) {
    if (document.state === "running" && document.run === this.shown)
      this.run = document;
  }

  /** The latest runs, as `graphmill runs --json`. Summaries are long. */
  takeRecords({ runs }) {
    this.records = new Map(runs.slice(0, MOST_RUNS).map(({ summary, ...record }) =>
      [record.run, { ...record, accuracy: summary?.test_accuracy ?? null,
        measured: measuredBy(summary) }]));
    this.recordsAreOld = runs.some(({ run, state }) =>
      state === "running" && !this.isOn(run));
  }

  /** What is over for an hour, or of a clock that has been set back since. */
  forget() {
    for (const map of [this.daemons, this.runs, ...this.stagesOf.values()])
      for (const [name, { last }] of map)
        if (last < this.now - HOUR || last > this.now) map.delete(name);
    for (const [id, stages] of this.stagesOf)
      if (stages.size === 0) this.stagesOf.delete(id);
  }

  /** ID of the stream's last tick, to go on from. */
  get streamId() {
    return this.historyNext === null || this.eventsNext === null
      ? null : `${this.historyNext}-${this.eventsNext}`;
  }
}

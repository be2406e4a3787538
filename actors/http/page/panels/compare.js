// One run or two of them side by side: what has become of them, their curves by
// epoch over each other, and where their definitions differ.

import { Chart } from "../curves/chart.js";
import { byId, el, keyed, saveAs, sight, text } from "../elements/dom.js";
import { decimal, exact, fullTime, metricText, number, seconds, threePlaces }
  from "../elements/format.js";
import { csvOf, definitionOf, differences, fieldsOf, metricsOf, rowsOf } from "../data/runfiles.js";
import { Series } from "../data/series.js";

const AGAIN = 10_000; // Between two looks at a run that is on, in ms.
const UNBROKEN = 1e9; // Epochs without a figure that break a curve: none do.

const EPOCHS = {
  steps: (from, to, most) => {
    const step = Math.max(1, Math.ceil((to - from) / most));
    const first = Math.ceil(from / step) * step;
    return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) },
      (_, i) => first + i * step);
  },
  text: () => exact,
  at: (epoch) => `epoch ${Math.round(epoch)}`,
  figures: "The files below have the figures.",
};

/** Which epochs the curves show: all, until some are picked. */
class EpochView {
  constructor(onChange) {
    this.onChange = onChange;
    this.last = 2;
    this.picked = null;
    this.hover = null;
  }

  get window() {
    return this.picked ?? [1, this.last];
  }

  point(at) {
    this.hover = at === null ? null : Math.round(at);
    this.onChange();
  }

  show(from, to) {
    const [low, high] = [Math.floor(Math.min(from, to)), Math.ceil(Math.max(from, to))];
    this.picked = high - low >= 1 ? [Math.max(low, 1), Math.min(high, this.last)] : null;
    this.onChange();
  }

  showLast() {
    this.picked = null;
    this.onChange();
  }
}

/** By which of its figures a line of a validation tells how good the epoch is. */
function measureOf({ metric }) {
  return typeof metric === "string" ? metric : "accuracy";
}

/** The charts: of which lines, which figure of each, and what is said of a run's curve
 * beside its name. */
const SPECS = [
  { title: "Loss by epoch", phase: "train", format: decimal, figure: (row) => row.loss },
  { title: "Metric of validations by epoch", phase: "validation", format: decimal,
    figure: (row) => row[measureOf(row)],
    more: (rows) => {
      const last = rows.findLast(({ phase }) => phase === "validation");
      return last ? ` (${measureOf(last)})` : "";
    } },
  { title: "Learning rate by epoch", phase: "train", format: threePlaces, zero: true,
    figure: (row) => row.learning_rate },
  { title: "Seconds of each training epoch", phase: "train", format: number, zero: true,
    figure: (row) => row.seconds },
];

function curveOf(rows, { phase, figure }) {
  const out = new Series(["figure"], UNBROKEN);
  for (const row of rows)
    if (row.phase === phase && typeof row.epoch === "number") out.add(row.epoch, [figure(row)]);
  return out;
}

/** @param record As the list of runs has it. */
function factsOf(record, rows, now) {
  const trained = rows.filter(({ phase }) => phase === "train");
  const ended = record.ended ?? (record.state === "running" ? now : NaN);
  return [
    ["state", record.state],
    ["test accuracy", decimal(record.accuracy)],
    ["test metric", metricText(record.measured)],
    ["time", seconds(record.started === null ? NaN : ended - record.started)],
    ["epochs", exact(trained.length)],
    ["last loss", decimal(trained.at(-1)?.loss)],
    ["submitted", fullTime(record.submitted)],
    ["note", record.message],
  ];
}

export class Compare {
  constructor(store) {
    this.store = store;
    this.known = new Map(); // What was read of the chosen runs, by id.
    this.view = new EpochView(() => this.draw());
    this.charts = SPECS.map((spec) => new Chart({ ...spec, along: EPOCHS,
      curves: () => this.curves(spec) }, this.view));
    byId("compare-charts").append(...this.charts.map(({ element }) => element));
    this.selects = ["compare-first", "compare-second"].map(byId);
    for (const select of this.selects)
      select.addEventListener("change", () => this.show());
    new ResizeObserver(() => this.draw()).observe(byId("compare-charts"));
    this.sight = sight(() => this.show());
    for (const element of [byId("compare"), ...this.charts.map((chart) => chart.element)])
      this.sight.watch(element);
  }

  /** Ids of the chosen runs, each once. */
  get chosen() {
    return [...new Set(this.selects.map(({ value }) => value))].filter(Boolean);
  }

  show() {
    const runs = [...this.store.records.keys()];
    this.selects.forEach((select, i) => {
      const offered = ["", ...runs.filter((run) => run !== this.selects[1 - i].value)];
      keyed(select, offered, (run) => run, (run) => el("option", { value: run },
        run || (i === 0 ? "choose a run" : "no other")));
    });
    for (const id of this.known.keys()) if (!this.chosen.includes(id)) this.known.delete(id);
    if (this.sight.sees(byId("compare"))) for (const id of this.chosen) this.look(id);
    this.draw();
  }

  /** Reads what a run has left, if that may be something new. */
  async look(id) {
    const record = this.store.records.get(id);
    const before = this.known.get(id);
    if (!record || before?.reads) return;
    const old = before?.state !== record.state
      || ((record.state === "running" || before.why) && Date.now() - before.when > AGAIN);
    if (!old) return;
    const now = { ...before, state: record.state, when: Date.now(), reads: true, why: "" };
    this.known.set(id, now);
    try {
      now.definition = await definitionOf(id);
      now.metrics = await metricsOf(id);
      now.rows = rowsOf(now.metrics);
    } catch (reason) {
      now.why = reason.name === "TypeError" || reason.name === "TimeoutError"
        ? "the coordinator does not answer" : reason.message;
    }
    now.reads = false;
    this.draw();
  }

  /** Runs that something is known of: [{id, record, rows, definition}]. */
  get read() {
    return this.chosen.map((id) => ({ id, record: this.store.records.get(id),
      ...this.known.get(id) })).filter(({ record, rows }) => record && rows);
  }

  curves(spec) {
    return this.read.map(({ id, rows }, i) => ({ key: id, style: i + 1, name: "figure",
      label: id + (spec.more?.(rows) ?? ""), series: curveOf(rows, spec) }));
  }

  draw() {
    const { read } = this;
    const why = this.chosen.map((id) => [id, this.known.get(id)?.why]).filter(([, said]) => said)
      .map(([id, said]) => `${id}: ${said}`);
    text(byId("compare-said"), why.join("; "));
    byId("compare-none").hidden = this.chosen.length > 0;
    byId("compare-body").hidden = read.length === 0;
    if (read.length === 0) return;
    this.view.last = Math.max(2, ...read.map(({ rows }) =>
      rows.reduce((most, { epoch }) => Math.max(most, epoch ?? 0), 0)));
    this.drawFacts(read);
    this.drawFiles(read);
    this.drawDefinitions(read);
    for (const chart of this.charts) if (this.sight.sees(chart.element)) chart.show([]);
  }

  drawFacts(read) {
    const facts = read.map(({ record, rows }) => factsOf(record, rows, this.store.now));
    showRows(byId("compare-facts"), read, facts[0].map(([name], i) =>
      ({ name, values: facts.map((one) => one[i][1]) })));
  }

  drawFiles(read) {
    const files = read.flatMap(({ id }) => [
      { id, name: "definition.yaml", make: (known) => known.definition },
      { id, name: "metrics.jsonl", make: (known) => known.metrics },
      { id, name: "metrics.csv", make: (known) => csvOf(known.rows) }]);
    keyed(byId("compare-files"), files, ({ id, name }) => `${id} ${name}`,
      ({ id, name, make }) => {
        const button = el("button", { type: "button" }, `Save ${name} of ${id}`);
        button.addEventListener("click", () => {
          const known = this.known.get(id);
          if (known?.rows) saveAs(`${id}-${name}`, make(known), "text/plain");
        });
        return button;
      });
  }

  drawDefinitions(read) {
    const [first, second] = read.map(({ definition }) => fieldsOf(definition));
    const rows = second ? differences(first, second) : [];
    byId("compare-differ").hidden = !second;
    text(byId("compare-differ"), rows.length === 0 ? "Their definitions are the same."
      : "Where their definitions differ");
    byId("compare-fields").hidden = rows.length === 0;
    showRows(byId("compare-fields"), read, rows);
    keyed(byId("compare-definitions"), read, ({ id }) => id,
      ({ id }) => el("details", {}, el("summary", {}, `Definition of ${id}`), el("pre")),
      (made, { definition }) => text(made.lastChild, definition));
  }
}

/** Makes a table one of names and their values, with a column for each run. */
function showRows(table, read, rows) {
  const [head, body] = [table.tHead.rows[0], table.tBodies[0]];
  keyed(head, ["", ...read.map(({ id }) => id)], (id) => id,
    (id) => (id ? el("th", { scope: "col" }, id) : el("td")));
  keyed(body, rows, ({ name }) => `${read.length} ${name}`, ({ name, values }) =>
    el("tr", {}, el("th", { scope: "row" }, name), ...values.map(() => el("td"))),
  (row, { values }) => values.forEach((value, i) => text(row.children[i + 1], value)));
}

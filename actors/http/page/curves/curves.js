// The curves of training and of resources, with one axis of time and one table.

import { Brush } from "./brush.js";
import { Chart } from "./chart.js";
import { byId, el, keyed, saveAs, sight, text } from "../elements/dom.js";
import { CURVED_STAGES, DAEMON_FIGURES, RUN_FIGURES, STAGE_FIGURES }
  from "../data/figures.js";
import { byUnit, timeOfDay } from "../elements/format.js";
import { eventKind } from "../elements/marks.js";
import { View } from "./view.js";

const MOST_CURVES = 6; // As there are styles of lines.
const TABLE_ROWS = 12;
const MOST_MARKS = 300; // Events on the axis of time.
const TRAINER_SHARES = [["busy", "busy"], ["starved", "starved: waits for input"],
  ["waiting", "waits for other ranks"]];

/** Curves of a figure for the names of a map that have a sample in a window, and
 * have ever told a figure: the first ones if there are many. */
function curvesOf(map, name, from) {
  const alive = [...map].filter(([, series]) => series.told && series.last >= from);
  return alive.slice(0, MOST_CURVES).map(([key, series], i) => ({
    key, series, name, style: i + 1,
    label: i === MOST_CURVES - 1 && alive.length > MOST_CURVES
      ? `${key} (and ${alive.length - MOST_CURVES} more that are not shown)` : key }));
}

/** Of runs, the latest ones. */
function runCurves(store, name, from) {
  return curvesOf(new Map([...store.runs].filter(([, series]) => series.last >= from)
    .slice(-MOST_CURVES)), name, from);
}

/** A share of the time of each stage, over all daemons. */
function stageCurves(store, share, from) {
  return curvesOf(new Map(CURVED_STAGES.flatMap((kind) =>
    (store.stages.has(kind) ? [[kind, store.stages.get(kind)]] : []))), share, from);
}

/** What trainers do, over all daemons: all the shares of one stage. */
function trainerCurves(store, from) {
  const series = store.stages.get("trainer");
  return series?.told && series.last >= from
    ? TRAINER_SHARES.map(([name, label], i) => ({ key: name, series, name, label, style: i + 1 }))
    : [];
}

/** A chart for each figure with a title. @param curves (name, from) => its curves */
function titled(figures, curves) {
  return figures.filter(({ title }) => title).map(({ name, title, unit }) =>
    ({ title, ...byUnit(unit), curves: (from) => curves(name, from) }));
}

function specs(store) {
  return [
    ...titled(RUN_FIGURES, (name, from) => runCurves(store, name, from)),
    { title: "Where the time of trainers goes", ...byUnit("ratio"),
      curves: (from) => trainerCurves(store, from) },
    ...titled(STAGE_FIGURES, (name, from) => stageCurves(store, name, from)),
    ...titled(DAEMON_FIGURES, (name, from) => curvesOf(store.daemons, name, from)),
  ];
}

/** Offers the samples that the page has as a file. */
function save(store) {
  const plain = (map) => Object.fromEntries([...map].map(([name, series]) => [name, {
    fields: ["time", ...series.names],
    rows: Array.from({ length: series.length }, (_, i) =>
      [series.times[i], ...series.columns.map((column) =>
        (Number.isNaN(column[i]) ? null : column[i]))]) }]));
  const all = JSON.stringify({ daemons: plain(store.daemons), runs: plain(store.runs),
    stages: plain(store.stages), events: store.events });
  saveAs("graphmill.json", all, "application/json");
}

export class Curves {
  constructor(store) {
    this.store = store;
    this.scheduled = false;
    this.view = new View(() => this.schedule());
    this.charts = specs(store).map((spec) => new Chart(spec, this.view));
    this.brush = new Brush(this.view);
    byId("charts").append(...this.charts.map(({ element }) => element));
    byId("brush").append(this.brush.element);
    this.buttons = [...document.querySelectorAll("[data-span]")];
    for (const button of this.buttons)
      button.addEventListener("click",
        () => this.view.showLast(Number(button.getAttribute("data-span"))));
    byId("save").addEventListener("click", () => save(store));
    byId("curves").addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.view.showLast(Infinity);
    });
    byId("figures-table").addEventListener("toggle", () => this.schedule());
    this.rows = this.makeTable();
    new ResizeObserver(() => this.schedule()).observe(byId("curves"));
    this.sight = sight(() => this.schedule());
    for (const element of [byId("curves"), ...this.charts.map((chart) => chart.element)])
      this.sight.watch(element);
  }

  /** Once before the browser draws next, whatever happens till then. */
  schedule() {
    if (this.scheduled || Number.isNaN(this.store.now)
        || !this.sight.sees(byId("curves"))) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.draw();
    });
  }

  show() {
    const { store } = this;
    let begin = Infinity;
    for (const map of [store.daemons, store.runs])
      for (const series of map.values()) begin = Math.min(begin, series.times[0]);
    this.view.tick(begin, store.now);
    this.schedule();
  }

  draw() {
    const { store, view } = this;
    const told = [...store.daemons.values(), ...store.runs.values()].some((one) => one.told);
    byId("charts").hidden = !told;
    byId("curves-none").hidden = told;
    const events = store.events.slice(-MOST_MARKS)
      .map((event) => ({ ...event, tone: eventKind(event).tone }));
    for (const chart of this.charts) {
      // Without a run in the last hour there is nothing of runs to be seen.
      chart.element.hidden = chart.spec.curves(view.begin, store.now).length === 0;
      if (this.sight.sees(chart.element)) chart.show(events);
    }
    this.brush.show(events, runCurves(store, "seeds_per_second", view.begin));
    for (const button of this.buttons) {
      const span = Number(button.getAttribute("data-span"));
      button.setAttribute("aria-pressed", String(view.to === null
        && (view.span === span || (span === 3600 && view.span > span))));
    }
    if (byId("figures-table").open) this.showTable();
  }

  makeTable() {
    const head = el("tr", {}, el("th", { scope: "col" }, "time"),
      ...this.charts.map(({ spec }) => el("th", { scope: "col" }, spec.title)));
    const body = el("tbody");
    byId("figures-rows").append(el("table", {}, el("caption", {},
      "Some moments of the time shown; figures of several runs, daemons or stages one after "
      + "the other"), el("thead", {}, head), body));
    return body;
  }

  showTable() {
    const [from, to] = this.view.window;
    const times = Array.from({ length: TABLE_ROWS },
      (_, i) => to - (i * (to - from)) / (TABLE_ROWS - 1));
    const curves = this.charts.map(({ spec }) => spec.curves(from));
    keyed(this.rows, times.map((time, i) => ({ time, i })), ({ i }) => i,
      () => el("tr", {}, el("th", { scope: "row" }), ...this.charts.map(() => el("td"))),
      (row, { time }) => {
        text(row.firstChild, timeOfDay(time));
        this.charts.forEach(({ spec }, i) => text(row.children[i + 1],
          curves[i].map(({ series, name, label }) => [label, series.at(name, time)])
            .filter(([, value]) => !Number.isNaN(value))
            .map(([label, value]) => `${label} ${spec.format(value)}`).join(", ")));
      });
  }
}

// Tables of daemons and runs. On a phone a row becomes a card (parts.css), and
// stays a row for screen readers, hence the roles.

import { byId, el, keyed, text } from "../elements/dom.js";
import { DAEMON_FIGURES } from "../data/figures.js";
import { bytesPerSecond, byUnit, decimal, exact, fromOne, fullTime, metricText, milliseconds,
  ranges, seconds } from "../elements/format.js";
import { word } from "../elements/marks.js";

/** Buttons of a row: [{label, about, start}]. */
function showActs(cell, acts) {
  keyed(cell, acts, ({ label }) => label,
    ({ label, about }) => el("button", { type: "button", "aria-label": `${label} ${about}` },
      label),
    (button, { start }) => {
      button.onclick = start;
    });
}

const CLASSES = ["number", "wide", "acts"]; // Kinds of columns that look different.

/** @param columns [{name, kind: "head" | "state" | "number" | "wide" | "acts" | "",
 *   of: (row) => text, or of "acts" => buttons}] */
class Table {
  constructor(parent, caption, columns) {
    this.parent = parent;
    this.columns = columns;
    this.body = el("tbody", { role: "rowgroup" });
    const head = columns.map(({ name, kind }) => el("th",
      { scope: "col", role: "columnheader",
        class: kind === "number" || kind === "acts" ? kind : null }, name));
    this.table = el("table", { class: "stack", role: "table" },
      el("caption", { class: "unseen" }, caption),
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...head)), this.body);
    parent.append(el("div", { class: "scroll" }, this.table));
  }

  makeRow() {
    return el("tr", { role: "row" }, ...this.columns.map(({ name, kind }) =>
      (kind === "head" ? el("th", { scope: "row", role: "rowheader" })
        : el("td", { role: "cell", "data-name": name,
          class: CLASSES.includes(kind) ? kind : null }))));
  }

  show(rows, keyOf) {
    this.parent.hidden = rows.length === 0;
    keyed(this.body, rows, keyOf, () => this.makeRow(), (made, row) => {
      this.columns.forEach(({ kind, of }, i) => {
        const cell = made.children[i];
        const value = of(row);
        if (kind === "acts") showActs(cell, value);
        else if (kind !== "state") text(cell, value);
        else if (cell.textContent !== value) cell.replaceChildren(word(value));
      });
    });
  }
}

/** The daemons of the cluster, with what they take, and what they tell of the run. */
function daemonRows(store) {
  const told = new Map((store.run?.daemons ?? []).map((one) => [one.daemon, one]));
  const silent = store.run?.silent ?? [];
  return (store.status?.daemons ?? []).map((one) => ({ ...one, health: told.get(one.name),
    state: one.state === "ready" && silent.includes(one.name) ? "silent" : one.state }));
}

/** How connections are that are not as they should be. */
function trouble(peer) {
  return [undefined, "running", "stopped"].includes(peer.state) ? "" : ` (${peer.state})`;
}

/** With whom it exchanges what: how long answers take, if any has come lately, and bytes. */
function links(health) {
  return (health?.peers ?? []).slice(0, 8).map((peer) =>
    `${peer.name}${trouble(peer)} ${milliseconds(peer.requests > 0 ? peer.mean_round_trip : NaN)}, `
    + `sends ${bytesPerSecond(peer.sent_per_second)}, `
    + `receives ${bytesPerSecond(peer.received_per_second)}`).join("; ")
    + (health?.peers?.length > 8 ? ` and ${health.peers.length - 8} more` : "");
}

export class DaemonTable {
  constructor(actions) {
    this.table = new Table(byId("daemon-table"), "Daemons of the cluster", [
      { name: "daemon", kind: "head", of: ({ name }) => name },
      { name: "state", kind: "state", of: ({ state }) => state },
      { name: "host", of: ({ host }) => host },
      { name: "parts", of: ({ parts }) => ranges(parts ?? []) },
      { name: "slots", kind: "number", of: ({ slots }) => exact(slots) },
      ...DAEMON_FIGURES.filter(({ title }) => title).map(({ name, title, unit }) =>
        ({ name: title.toLowerCase(), kind: "number",
          of: ({ load }) => byUnit(unit).format(load?.[name]) })),
      { name: "there and back", kind: "wide", of: ({ health }) => links(health) },
      { name: "note", kind: "wide", of: ({ note, chaos }) =>
        [note, chaos ? "clients may do it harm (--chaos-allowed)" : ""].filter(Boolean)
          .join("; ") },
      { name: "actions", kind: "acts", of: ({ state, name }) => actions.of(state, name) },
    ]);
  }

  show(store) {
    const rows = daemonRows(store);
    byId("daemons-none").hidden = rows.length > 0;
    this.table.show(rows, ({ name }) => name);
  }
}

function howFar({ progress }) {
  if (!progress) return "";
  const { phase, epoch, epochs, work } = progress;
  return (work || `${phase}, epoch ${fromOne(epoch)} of ${exact(epochs)}`)
    + `, step ${exact(progress.step)} of ${exact(progress.steps)}`;
}

function runRows(store) {
  return [...store.records.values()].map((record) => {
    const now = record.run === store.run?.run ? store.run : null;
    const series = store.runs.get(record.run);
    let loss = NaN;
    for (let i = (series?.length ?? 0) - 1; i >= 0 && Number.isNaN(loss); --i)
      loss = series.column("loss")[i];
    const { started } = record;
    const ended = record.ended ?? (store.isOn(record.run) ? store.now : NaN);
    return { ...record, loss, took: typeof started === "number" ? ended - started : NaN,
      text: now ? howFar(now) : record.message };
  });
}

export class RunTable {
  constructor(actions) {
    this.table = new Table(byId("run-table"), "Runs, the latest first", [
      { name: "run", kind: "head", of: ({ run }) => run },
      { name: "state", kind: "state", of: ({ state }) => state },
      { name: "submitted", of: ({ submitted }) => fullTime(submitted) },
      { name: "time", kind: "number", of: ({ took }) => seconds(took) },
      { name: "loss", kind: "number", of: ({ loss }) => decimal(loss) },
      { name: "accuracy", kind: "number", of: ({ accuracy }) => decimal(accuracy) },
      { name: "metric", of: ({ measured }) => metricText(measured) },
      { name: "note", kind: "wide", of: ({ text: said }) => said },
      { name: "actions", kind: "acts", of: ({ state, run }) => actions.of(state, run) },
    ]);
  }

  show(store) {
    const rows = runRows(store);
    byId("runs-none").hidden = rows.length > 0;
    this.table.show(rows, ({ run }) => run);
  }
}

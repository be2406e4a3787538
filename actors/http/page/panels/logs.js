// The log of the cluster, as far as the coordinator tells it: asked for while it
// is open and in sight alone.

import { byId, el, keyed, sight, text } from "../elements/dom.js";
import { machineTime, timeOfDay } from "../elements/format.js";
import { ask } from "../data/link.js";
import { mark } from "../elements/marks.js";

const PAUSE = 2000;
const MOST_LINES = 2000;
const MOST_SHOWN = 300;
const LEVELS = {
  warn: { tone: "warn", shape: "alarm" }, warning: { tone: "warn", shape: "alarm" },
  error: { tone: "bad", shape: "cross" }, critical: { tone: "bad", shape: "cross" },
};
const PLAIN = { tone: "idle", shape: "dash" };

function makeLine({ time, level, daemon, run, batch, module: part, text: said }) {
  const { tone, shape } = Object.hasOwn(LEVELS, level) ? LEVELS[level] : PLAIN;
  const about = [daemon, run, batch, part].filter(Boolean).join(" \u00b7 ");
  return el("li", {},
    el("time", { datetime: machineTime(time) }, timeOfDay(time)),
    el("span", { class: `word tone-${tone}` }, mark(shape), el("span", {}, String(level))),
    el("span", { class: "text" }, String(said), el("span", { class: "who" },
      about ? ` (${about})` : "")));
}

export class Logs {
  constructor(store) {
    this.store = store;
    this.lines = []; // The oldest first.
    this.next = null;
    this.count = 0;
    this.turn = 0; // Of the questions: an answer to an earlier one is dropped.
    this.timer = 0;
    this.box = byId("logs-open");
    this.sight = sight(() => this.look());
    this.sight.watch(this.box);
    this.box.addEventListener("toggle", () => this.begin());
    for (const id of ["log-level", "log-run", "log-daemon"])
      byId(id).addEventListener("change", () => this.begin());
    byId("log-search").addEventListener("input", () => this.draw());
  }

  /** What can be chosen. */
  show() {
    const offer = (id, names, all) => keyed(byId(id), ["", ...names], (name) => name,
      (name) => el("option", { value: name }, name || all));
    offer("log-run", [...this.store.records.keys()], "all runs");
    offer("log-daemon", (this.store.status?.daemons ?? []).map(({ name }) => name),
      "all daemons");
    this.look();
  }

  /** Anew, with what is chosen now. */
  begin() {
    ++this.turn;
    clearTimeout(this.timer);
    this.timer = 0;
    this.lines = [];
    this.next = null;
    text(byId("log-said"), "");
    this.draw();
    this.look();
  }

  /** Asks, unless that is under way or to be done in a moment. */
  look() {
    if (this.timer !== 0 || !this.box.open || document.hidden
        || !this.sight.sees(this.box)) return;
    this.timer = -1;
    this.take(this.turn);
  }

  async take(turn) {
    const wanted = [["run", byId("log-run").value], ["daemon", byId("log-daemon").value],
      ["level", byId("log-level").value], ["after", this.next ?? ""]]
      .filter(([, value]) => value !== "")
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    let said = "";
    let pause = PAUSE;
    try {
      const { lines, next, more, anew } = await ask(`/api/logs?${wanted}`,
        new AbortController().signal);
      if (turn !== this.turn) return;
      if (more) pause = 0;
      this.next = next;
      if (anew) this.lines = []; // Another coordinator tells all that there is.
      for (const line of lines) this.lines.push({ ...line, key: ++this.count });
      this.lines.splice(0, this.lines.length - MOST_LINES);
    } catch (reason) {
      if (turn !== this.turn) return;
      said = reason.status === 404 ? "No logs: this coordinator tells none."
        : `No news of the log: ${reason.message}`;
    }
    text(byId("log-said"), said);
    this.draw();
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.look();
    }, pause);
  }

  draw() {
    const wanted = byId("log-search").value.trim().toLowerCase();
    const found = this.lines.filter((line) =>
      [line.text, line.daemon, line.run, line.batch, line.module, line.level]
        .filter(Boolean).join(" ").toLowerCase().includes(wanted))
      .slice(-MOST_SHOWN).reverse();
    byId("log-none").hidden = found.length > 0 || byId("log-said").textContent !== "";
    byId("log-list").hidden = found.length === 0;
    keyed(byId("log-list"), found, ({ key }) => key, makeLine);
  }
}

// All figures of the actors of one kind at one daemon, and how they were in the last hour.

import { ask } from "../data/link.js";
import { byId, el, keyed, text } from "../elements/dom.js";
import { bytes, bytesPerSecond, exact, fromOne, milliseconds, number, percent, seconds }
  from "../elements/format.js";
import { label } from "./groups.js";
import { Past } from "./past.js";
import { stateOf } from "../elements/marks.js";

const PAUSE = 10_000; // As often as there is something new of the past.

function batchText(batch) {
  return batch ? `${batch.phase}, epoch ${fromOne(batch.epoch)}, step ${fromOne(batch.step)}, `
    + `rank ${batch.rank}` : "none yet";
}

/** Names and values; what says nothing of this actor is left out. */
function figuresOf(actor) {
  // Trainers and those who say who does what make none.
  const withBytes = (format, field) => (actor.bytes > 0 ? `, ${format(actor[field])}` : "");
  return [
    ["state", `${actor.state} (${stateOf(actor.state).says}) for ${seconds(actor.in_state)}`],
    actor.why && ["why", actor.why],
    ["works on", batchText(actor.batch)],
    ["workers", exact(actor.workers)],
    ["busy", percent(actor.busy)],
    ["starved", percent(actor.starved)],
    ["stalled", percent(actor.stalled)],
    ["waits for replies", percent(actor.waiting)],
    actor.down > 0 && ["without worker", percent(actor.down)],
    ["queue", exact(actor.queue)],
    actor.most_batches > 0 && ["credit in use",
      `${exact(actor.credit_batches)} of ${exact(actor.most_batches)} batches (most so far `
      + `${exact(actor.peak_batches)})`],
    actor.most_bytes > 0 && ["memory of batches",
      `${bytes(actor.credit_bytes)} of ${bytes(actor.most_bytes)}`],
    ["rate", `${number(actor.items_per_second)}/s${withBytes(bytesPerSecond, "bytes_per_second")}`],
    ["so far", `${exact(actor.items)} items${withBytes(bytes, "bytes")}`],
    actor.answers > 0 && ["answers take", `${milliseconds(actor.mean_latency)} on average; half `
      + `${milliseconds(actor.median_latency)}, 90 % ${milliseconds(actor.p90_latency)}, 99 % `
      + `${milliseconds(actor.p99_latency)} at the most`],
    ["restarts", actor.recent_restarts > 0
      ? `${exact(actor.restarts)}, ${exact(actor.recent_restarts)} of them lately`
      : exact(actor.restarts)],
    actor.last_error && ["last error", actor.last_error],
  ].filter(Boolean);
}

function pair([name]) {
  return el("div", { class: "pair" }, el("dt", {}, name), el("dd"));
}

function card() {
  const past = new Past();
  const made = el("article", {}, el("h3"), past.element, el("dl"));
  made.past = past;
  return made;
}

/** Of an actor, in the coordinator's answer. */
function pastOf(told, actor) {
  const found = told?.actors.find(({ part, rank, peer }) =>
    part === actor.part && rank === actor.rank && peer === actor.peer);
  return found && { fields: told.fields, rows: found.rows };
}

export class Details {
  constructor() {
    this.dialog = byId("details");
    this.cards = el("div", { class: "cards" });
    byId("details-body").append(this.cards);
    byId("details-close").addEventListener("click", () => this.dialog.close());
    this.of = null;
    this.run = null; // As it was shown last.
    this.past = null; // Of the actors of that run.
    this.timer = 0;
    this.stop = null; // Ends the question that is under way.
    this.dialog.addEventListener("close", () => {
      if (this.dialog.open) return; // Again.
      this.of = null;
      this.restPast();
    });
  }

  open(daemon, kind, run) {
    this.of = { daemon, kind };
    text(byId("details-title"), `${kind} at ${daemon}`);
    this.cards.replaceChildren();
    this.run = null;
    this.restPast();
    this.show(run);
    this.dialog.showModal();
  }

  restPast() {
    clearTimeout(this.timer);
    this.stop?.abort();
    this.past = null;
  }

  /** For as long as the dialog is open and looked at. Should there be no answer,
   * the page itself says so, and what is shown stays. */
  async askPast(run) {
    const stop = new AbortController();
    this.stop = stop;
    const query = Object.entries({ run, daemon: this.of.daemon, kind: this.of.kind })
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    const told = document.hidden ? null
      : await ask(`/api/actors?${query}`, stop.signal).catch(() => null);
    if (stop.signal.aborted) return;
    if (told) {
      this.past = told;
      this.show(this.run);
    }
    this.timer = setTimeout(() => this.askPast(run), PAUSE);
  }

  show(run) {
    if (!this.of) return;
    const before = this.run?.run;
    this.run = run;
    if (run?.run !== before) { // Its actors have another past.
      this.restPast();
      if (run) this.askPast(run.run);
    }
    const daemon = run?.daemons?.find((one) => one.daemon === this.of.daemon);
    const actors = (daemon?.actors ?? []).filter(({ kind }) => kind === this.of.kind);
    // Several may have one label, as the samplers that a chaos test adds.
    const named = actors.map((actor, i) => ({ actor, key: `${i} ${label(actor)}` }));
    keyed(this.cards, named, ({ key }) => key, card, (made, { actor }) => {
      text(made.firstChild, label(actor));
      made.past.show(pastOf(this.past, actor));
      keyed(made.lastChild, figuresOf(actor), ([name]) => name, pair,
        (row, [, value]) => text(row.lastChild, value));
    });
    if (actors.length === 0)
      keyed(this.cards, ["gone"], (key) => key,
        () => el("p", {}, "It is gone."));
  }
}

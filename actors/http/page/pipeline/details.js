// All figures of the actors of one kind at one daemon.

import { byId, el, keyed, text } from "../elements/dom.js";
import { bytes, bytesPerSecond, exact, fromOne, milliseconds, number, percent, seconds }
  from "../elements/format.js";
import { label } from "./groups.js";
import { stateOf } from "../elements/marks.js";

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
  return el("article", {}, el("h3"), el("dl"));
}

export class Details {
  constructor() {
    this.dialog = byId("details");
    this.cards = el("div", { class: "cards" });
    byId("details-body").append(this.cards);
    byId("details-close").addEventListener("click", () => this.dialog.close());
    this.of = null;
    this.dialog.addEventListener("close", () => {
      this.of = null;
    });
  }

  open(daemon, kind, run) {
    this.of = { daemon, kind };
    text(byId("details-title"), `${kind} at ${daemon}`);
    this.cards.replaceChildren();
    this.show(run);
    this.dialog.showModal();
  }

  show(run) {
    if (!this.of) return;
    const daemon = run?.daemons?.find((one) => one.daemon === this.of.daemon);
    const actors = (daemon?.actors ?? []).filter(({ kind }) => kind === this.of.kind);
    // Several may have one label, as the samplers that a chaos test adds.
    const named = actors.map((actor, i) => ({ actor, key: `${i} ${label(actor)}` }));
    keyed(this.cards, named, ({ key }) => key, card, (made, { actor }) => {
      text(made.firstChild, label(actor));
      keyed(made.lastChild, figuresOf(actor), ([name]) => name, pair,
        (row, [, value]) => text(row.lastChild, value));
    });
    if (actors.length === 0)
      keyed(this.cards, ["gone"], (key) => key,
        () => el("p", {}, "It is not there any more."));
  }
}

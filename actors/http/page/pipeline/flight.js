// Which batches of a daemon are in flight, and where: a line for each lane of the
// pipeline.

import { attribute, el, keyed, svg, text } from "../elements/dom.js";
import { fromOne, ranges } from "../elements/format.js";

// The way of a batch; the second of two kinds stands for the first one.
const WAY = [["dispatcher"], ["sampler", "sampler proxy"], ["fetcher"], ["batcher"], ["trainer"]];
const HOLDS = ["running", "waiting"]; // States of a trainer that is at its batch.
const MOST_SQUARES = 24; // Of a stage: a square is a step.
const PITCH = 9; // Pixels.

/** Where the batches of the phase are that a daemon has begun last: pure. An actor
 * tells the latest batch that it has taken up. So a stage has the steps between its own
 * latest and that of the next stage: they are at it, or wait to be handed on.
 * @param groups Of the daemon, by kind.
 * @return {phase, epoch, ranks, stages: [{kind, first, count}]}, epoch and steps from 0;
 * null: none has begun. */
export function flightOf(groups) {
  const actorsOf = (kinds) => kinds.flatMap((kind) => groups.get(kind)?.actors ?? []);
  const newest = actorsOf(["dispatcher"]).find(({ batch }) => batch)?.batch;
  if (!newest) return null;
  const inPhase = (kinds) => actorsOf(kinds).filter(({ batch }) => batch
    && batch.phase === newest.phase && batch.epoch === newest.epoch);
  const trainers = inPhase(["trainer"]);
  // All trainers are through with it. None has begun the phase: Infinity.
  let done = Math.min(...trainers.map(({ state, batch }) =>
    (HOLDS.includes(state) ? batch.step - 1 : batch.step)));
  const stages = [];
  for (const kinds of [...WAY].reverse()) {
    const kind = kinds.find((one) => groups.has(one));
    if (!kind) continue;
    const latest = Math.max(...inPhase(kinds).map(({ batch }) => batch.step));
    // Of the stage that has come furthest no more is known than its latest one.
    if (done === Infinity && latest !== -Infinity) done = latest - 1;
    const count = done === Infinity ? 0 : Math.max(latest - done, 0);
    stages.unshift({ kind, first: count > 0 ? done + 1 : null, count });
    done += count;
  }
  return { phase: newest.phase, epoch: newest.epoch, stages,
    ranks: actorsOf(["trainer"]).map(({ rank }) => rank).sort((a, b) => a - b) };
}

function stepsOf({ first, count }) {
  if (count === 0) return "none";
  return count === 1 ? `step ${fromOne(first)}`
    : `steps ${fromOne(first)}\u2013${fromOne(first + count - 1)}`;
}

/** A square for each step, and half of one for those that there is no room for. */
function squares(count) {
  const out = [];
  for (let i = 0; i < Math.min(count, MOST_SQUARES); ++i) out.push(`M${i * PITCH} 1h7v8h-7Z`);
  if (count > MOST_SQUARES) out.push(`M${MOST_SQUARES * PITCH} 1h3v8h-3Z`);
  return out.join("");
}

function makeStage({ kind }) {
  return el("li", {}, el("b", {}, kind), el("span"),
    svg("svg", { height: 10, "aria-hidden": "true" }, svg("path")));
}

function showStage(made, stage) {
  const [, steps, drawing] = made.children;
  text(steps, stepsOf(stage));
  attribute(drawing, "width", Math.min(stage.count, MOST_SQUARES + 1) * PITCH);
  attribute(drawing.firstChild, "d", squares(stage.count));
  attribute(made, "data-count", stage.count);
}

/** The line of a daemon. Whoever draws its lane shows it. */
export class Flight {
  constructor(daemon) {
    this.title = el("span");
    this.stages = el("ol", { "aria-label": `Where the batches of ${daemon} are` });
    this.line = el("div", { class: "flight" }, this.title, this.stages);
    this.line.hidden = true;
  }

  show(groups) {
    const flight = flightOf(groups);
    this.line.hidden = flight === null;
    if (flight === null) return;
    const { phase, epoch, ranks, stages } = flight;
    text(this.title, `Batches in flight: ${phase}, epoch ${fromOne(epoch)}`
      + (ranks.length > 0 ? `, rank${ranks.length === 1 ? "" : "s"} ${ranges(ranks)}` : ""));
    keyed(this.stages, stages, ({ kind }) => kind, makeStage, showStage);
  }
}

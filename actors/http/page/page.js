// The page: shows what the store knows, whenever the link brings news.

import { Actions } from "./panels/actions.js";
import { Compare } from "./panels/compare.js";
import { Curves } from "./curves/curves.js";
import { Details } from "./pipeline/details.js";
import { attribute, byId, el, keyed, text } from "./elements/dom.js";
import { EventList } from "./panels/eventlist.js";
import { count, decimal, exact, fromOne, number, seconds, threePlaces, timeOfDay }
  from "./elements/format.js";
import { headline } from "./panels/headline.js";
import { Link } from "./data/link.js";
import { Logs } from "./panels/logs.js";
import { mark } from "./elements/marks.js";
import { Pipeline } from "./pipeline/pipeline.js";
import { RunChoice } from "./panels/runchoice.js";
import { Store } from "./data/store.js";
import { DaemonTable, RunTable } from "./panels/tables.js";

const store = new Store();
const details = new Details();
const pipeline = new Pipeline((daemon, kind) => details.open(daemon, kind, store.run));
const curves = new Curves(store);
const events = new EventList(store);
const actions = new Actions();
const daemons = new DaemonTable(actions);
const runs = new RunTable(actions);
const compare = new Compare(store);
const logs = new Logs(store);
const choice = new RunChoice(store, () => link.askAgain());

let announced = "";

function showWhere({ coordinator, dataset, parts, daemons: all }) {
  text(byId("where"), `coordinator ${coordinator} \u00b7 dataset ${dataset} in `
    + `${count(parts, "part")} \u00b7 ${count(all.length, "daemon")}`);
}

function showHeadline() {
  const { tone, shape, state, sentence, evidence } = headline(store);
  const box = byId("verdict");
  if (box.dataset.shape !== shape) byId("verdict-mark").replaceChildren(mark(shape));
  box.dataset.shape = shape;
  box.dataset.tone = tone;
  attribute(byId("verdict-mark"), "class", `mark tone-${tone}`);
  text(byId("verdict-state"), state);
  text(byId("verdict-sentence"), sentence);
  keyed(byId("evidence"), evidence.slice(0, 8), (line) => line, (line) => el("li", {}, line));
  document.title = `${state} \u2013 Graphmill`;
  announce(`${state}. ${sentence}`);
}

/** To screen readers, unless only numbers are others. */
function announce(said) {
  const gist = said.replace(/[\d.,]+/g, "");
  if (gist !== announced) text(byId("announcement"), said);
  announced = gist;
}

function progressFigures({ run, attempt, trainers, progress: at }) {
  return [
    ["run", run],
    ["attempt", exact(attempt)],
    ["trainers", exact(trainers)],
    ["phase", at.work || at.phase],
    ["epoch", at.work ? "none" : `${fromOne(at.epoch)} of ${exact(at.epochs)}`],
    ["step", `${exact(at.step)} of ${exact(at.steps)}`],
    ["seeds in a second", number(at.seeds_per_second)],
    ["loss", decimal(at.loss)],
    ["learning rate", threePlaces(at.learning_rate)],
    ["time left", seconds(at.seconds_left)],
    ["last checkpoint", at.checkpoint_age < 0 ? "none yet" : `${seconds(at.checkpoint_age)} ago`],
  ];
}

function showProgress(run) {
  byId("progress").hidden = !run?.progress;
  if (!run?.progress) return;
  byId("progress-bar").value = run.progress.step / Math.max(run.progress.steps, 1);
  keyed(byId("progress-figures"), progressFigures(run), ([name]) => name,
    ([name]) => el("div", {}, el("dt", {}, name), el("dd")),
    (pair, [, value]) => text(pair.lastChild, value));
}

function show() {
  if (!store.status) return;
  const { run } = store;
  showWhere(store.status);
  choice.show();
  showHeadline();
  showProgress(run);
  pipeline.show(run, run?.silent ?? []);
  curves.show();
  events.show();
  daemons.show(store);
  runs.show(store);
  compare.show();
  logs.show();
  details.show(run);
}

/** "not connected since 12:03:04: the coordinator does not answer" */
function showState({ up, stuck, since, why, retry }) {
  const place = byId("link");
  attribute(place, "data-up", up ? "yes" : "no");
  attribute(document.body, "data-stale", up ? "no" : "yes");
  byId("retry").hidden = up || Number.isNaN(retry);
  const age = byId("verdict-age");
  age.hidden = up || since === null;
  if (!age.hidden) text(age, `as it was at ${timeOfDay(since)}`);
  if (up) return text(byId("link-text"), "live");
  if (stuck)
    return text(byId("link-text"),
      `nothing new since ${timeOfDay(since)}: the coordinator is stuck`);
  const head = since === null ? "not connected" : `not connected since ${timeOfDay(since)}`;
  return text(byId("link-text"), `${head}: ${why}`);
}

const link = new Link(store, {
  onState: showState,
  onNews: () => requestAnimationFrame(show),
});
byId("retry").addEventListener("click", () => link.retry());
link.onVisible();

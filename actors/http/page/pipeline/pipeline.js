// The pipeline of the run that is on, drawn for each of its daemons.

import { attribute, byId, el, keyed, sight, svg, text } from "../elements/dom.js";
import { bytes, count, exact, number, percent, seconds } from "../elements/format.js";
import { Flight } from "./flight.js";
import { groupsOf, isNamed, SHARE_WORDS, SHARES, toneOf } from "./groups.js";
import { KINDS, NARROW, place } from "./layout.js";
import { shape, stateOf, word } from "../elements/marks.js";

const OPEN_AT_FIRST = 4; // Daemons whose drawing is not folded.
const PAD = 9;
const BAR = 9; // Pixels that the bar of shares is high.

/** The fill of a share of time; patterns are in each drawing's own <defs>. */
const FILLS = {
  busy: null, starved: "starved", stalled: "stalled", waiting: "waiting", down: "down" };

function pattern(name, mark) {
  return svg("pattern", { id: `fill-${name}`, width: 6, height: 6,
    patternUnits: "userSpaceOnUse" }, mark);
}

/** Once for the page: what the bars are filled with. */
function patterns() {
  return svg("svg", { width: 0, height: 0, "aria-hidden": "true", class: "unseen" },
    svg("defs", {},
      pattern("starved", svg("path", { d: "M-1 7 7 -1M-1 1 1 -1M5 7 7 5", fill: "none",
        "stroke-width": 1.7, class: "starved-ink" })),
      pattern("stalled", svg("path", { d: "M1 1h3v3H1Z", class: "stalled-ink" })),
      pattern("waiting", svg("path", { d: "M0 2h6M0 5h6", fill: "none", "stroke-width": 1.2,
        class: "waiting-ink" })),
      pattern("down", svg("path", { d: "M0 0 6 6M0 6 6 0", fill: "none", "stroke-width": 1.3,
        class: "down-ink" }))));
}

function part(share) {
  const fill = FILLS[share] ? { fill: `url(#fill-${FILLS[share]})` } : {};
  return svg("rect", { ...fill, class: share === "busy" ? "part busy-fill" : "part" });
}

const ruler = document.createElement("canvas").getContext("2d");
const LETTERS = 12.5; // Pixels of a text, as in parts.css.
const TIGHT_LETTERS = 11.5; // Of a title that has no room otherwise.

function widthOf(value, weight, letters) {
  ruler.font = `${weight} ${letters}px ${getComputedStyle(document.body).fontFamily}`;
  return ruler.measureText(value).width;
}

/** As much of a text as some pixels have room for. */
function fit(value, pixels, weight = 400, letters = LETTERS) {
  if (widthOf(value, weight, letters) <= pixels) return value;
  let end = Math.min(value.length, 200);
  while (end > 1 && widthOf(`${value.slice(0, end)}\u2026`, weight, letters) > pixels) --end;
  return `${value.slice(0, end)}\u2026`;
}

function makeNode(node, open) {
  const made = svg("g", { class: node.side ? "node side" : "node", tabindex: 0, role: "button",
    "aria-haspopup": "dialog" });
  made.parts = {
    box: svg("rect", { class: "box", rx: 9 }),
    stripe: svg("rect", { class: "stripe", rx: 2.5, width: 5 }),
    title: svg("text", { class: "title" }),
    mark: svg("g"),
    state: svg("text", { class: "tone" }),
    limit: svg("text", { class: "limit", "text-anchor": "end" }, "limits "),
    back: svg("rect", { class: "bar-back", rx: 2, height: BAR }),
    figures: svg("text", { class: "small" }),
    shares: SHARES.map(part),
    hint: svg("title"),
  };
  const { hint, box, stripe, title, mark, state, limit, back, shares, figures } = made.parts;
  for (const one of shares) attribute(one, "height", BAR);
  made.append(hint, box, stripe, title, mark, state, limit, back, ...shares, figures);
  made.addEventListener("click", open);
  made.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open();
  });
  return made;
}

function put(of, x, y) {
  attribute(of, "x", x);
  attribute(of, "y", y);
}

/** Lines of text, and the bar, from the top of a node: in a low one the state
 * stands at the end of the first line. */
function linesOf({ x, y, w, h }) {
  const left = x + PAD + 3;
  return h < 70
    ? { left, title: y + 18, state: [x + 0.52 * w, y + 18], bar: y + 26, figures: y + 51,
      limit: y + 51 }
    : { left, title: y + 20, state: [left, y + 38.5], bar: y + 47, figures: y + 73,
      limit: y + 38.5 };
}

function placeNode(made, node) {
  const { x, y, w, h } = node;
  const { box, stripe, title, mark, state, limit, back, figures } = made.parts;
  const lines = linesOf(node);
  put(box, x, y);
  attribute(box, "width", w);
  attribute(box, "height", h);
  put(stripe, x + 3, y + 9);
  attribute(stripe, "height", h - 18);
  put(title, lines.left, lines.title);
  const [left, base] = lines.state;
  attribute(mark, "transform", `translate(${left - 1} ${base - 11.5}) scale(0.86)`);
  put(state, left + 17, base);
  put(limit, x + w - PAD, lines.limit);
  put(back, lines.left, lines.bar);
  attribute(back, "width", w - 2 * PAD - 3);
  put(figures, lines.left, lines.figures);
}

/** Queue and rate; of who gives credit, how much of it is in use. */
function figuresOf(group) {
  if (group.credit)
    return `${group.credit.credit_batches}/${group.credit.most_batches} batches`;
  return `queue ${number(group.queue)} \u00b7 ${number(group.rate)}/s`;
}

/** What the drawing says by shape and fill. */
function describe(group, named) {
  const shares = SHARES.filter((share) => group.shares[share] >= 0.005)
    .map((share) => `${percent(group.shares[share])} ${SHARE_WORDS[share]}`);
  return [
    stateOf(group.state).says,
    ...shares,
    ...(group.restarts > 0 ? [count(group.restarts, "restart")] : []),
    ...(named ? ["the verdict names it"] : []),
  ].filter(Boolean).join(", ");
}

function showNode(made, node, group, named) {
  const state = stateOf(group.state);
  const tone = toneOf(group, state.tone);
  const inner = node.w - 2 * PAD - 3;
  const { left, bar, state: [stateLeft] } = linesOf(node);
  attribute(made, "data-tone", tone);
  attribute(made, "data-state", group.state);
  attribute(made, "data-named", named ? "yes" : null);
  const { hint, title, mark, state: words, limit, shares, figures } = made.parts;
  const several = group.actors.length;
  // With a space behind each, since no line ends between them.
  const room = stateLeft > left ? stateLeft - left - 6 : inner + PAD - 3;
  const tight = widthOf(group.kind, 650, LETTERS) > room;
  attribute(title, "class", tight ? "title tight" : "title");
  text(title, `${fit(group.kind, room, 650, tight ? TIGHT_LETTERS : LETTERS)} `);
  attribute(limit, "visibility", named ? null : "hidden");
  if (mark.graphmillShape !== state.shape) {
    mark.replaceChildren(shape(state.shape));
    mark.graphmillShape = state.shape;
  }
  for (const one of [mark, words])
    attribute(one, "class", `${one === words ? "tone " : ""}tone-${tone}`);
  const often = several > 1 ? ` ${group.alike}/${several}` : "";
  const again = group.recent > 0 && group.state !== "restarting" ? ", restarted" : "";
  const says = fit(`${group.state}${often}${again}`, left + inner - stateLeft - 18, 600);
  text(words, `${says} `);
  let x = left;
  SHARES.forEach((share, i) => {
    const wide = Math.min(group.shares[share], 1) * inner;
    put(shares[i], x.toFixed(1), bar);
    attribute(shares[i], "width", Math.min(wide, left + inner - x).toFixed(1));
    x = Math.min(x + wide, left + inner);
  });
  const all = `${percent(group.shares.busy)} busy \u00b7 ${figuresOf(group)}`;
  text(figures, fit(all, inner) === all ? all : fit(figuresOf(group), inner));
  // By what can be read in it, those who speak to their computer call it.
  const read = [title, words, ...(named ? [limit] : []), figures]
    .map((one) => one.textContent).join("");
  const drawn = describe(group, named);
  attribute(made, "aria-label", `${read}: ${drawn}`);
  text(hint, `${several > 1 ? `${several} ` : ""}${group.kind}: ${drawn}, ${figuresOf(group)}`);
}

function wire({ from: [x, y], to: [u, v], ask }) {
  const out = [svg("path", { class: ask ? "wire ask" : "wire", "stroke-width": ask ? 1.2 : 2,
    d: `M${x} ${y}L${u} ${v}` })];
  if (!ask)
    out.push(svg("path", { class: "arrow",
      d: x === u ? `M${u} ${v}l-5 -8h10Z` : `M${u} ${v}l-9 -5.5v11Z` }));
  return out;
}

/** The drawing of a daemon: made anew when other kinds of actors are there, or
 * its width is another. */
class Graph {
  constructor(daemon, open) {
    this.daemon = daemon;
    this.open = open;
    this.drawing = svg("svg", { class: "graph", role: "group",
      "aria-label": `Pipeline of daemon ${daemon}` });
    this.made = new Map();
    this.shown = "";
  }

  show(groups, verdict) {
    const width = Math.floor(this.drawing.getBoundingClientRect().width);
    if (width < 50) return; // Not to be seen.
    const kinds = [...groups.keys()];
    const now = `${width} ${kinds.join("|")}`;
    if (now !== this.shown) this.draw(kinds, width);
    this.shown = now;
    for (const node of this.nodes)
      showNode(this.made.get(node.kind), node, groups.get(node.kind),
        isNamed(verdict, groups.get(node.kind), this.daemon, KINDS));
  }

  draw(kinds, width) {
    const { nodes, wires, height } = place(kinds, width);
    this.nodes = nodes;
    const focused = nodes.find(({ kind }) => this.made.get(kind) === document.activeElement);
    attribute(this.drawing, "viewBox", `0 0 ${width} ${height}`);
    attribute(this.drawing, "height", height);
    const kept = new Map();
    for (const node of nodes) {
      const made = this.made.get(node.kind) ?? makeNode(node, () => this.open(node.kind));
      placeNode(made, node);
      kept.set(node.kind, made);
    }
    this.made = kept;
    this.drawing.replaceChildren(...wires.flatMap(wire), ...kept.values());
    if (focused) kept.get(focused.kind).focus({ preventScroll: true });
  }
}

/** What could not be counted is 0. */
function told(daemon, groups) {
  const credit = groups.get("dispatcher")?.credit;
  const late = daemon.age > 3 ? `last heard ${seconds(daemon.age)} ago` : "";
  return [
    `${number(daemon.cores)} processors`, bytes(daemon.memory_bytes),
    daemon.threads > 0 ? count(daemon.threads, "thread") : "",
    daemon.most_descriptors > 0 ? `${exact(daemon.descriptors)} of `
      + `${number(daemon.most_descriptors)} descriptors` : "",
    credit ? `in flight: ${credit.credit_batches} of ${credit.most_batches} batches, `
      + `${bytes(credit.credit_bytes)} of ${bytes(credit.most_bytes)}` : "",
    daemon.cache_bytes > 0 ? `rows of other daemons: ${bytes(daemon.cache_bytes)}` : "",
    daemon.answer_bytes > 0 ? `answers to others: ${bytes(daemon.answer_bytes)} of `
      + bytes(daemon.most_answer_bytes) : "",
    daemon.most_disk_cache_bytes > 0 ? `rows from disk: ${bytes(daemon.disk_cache_bytes)} of `
      + bytes(daemon.most_disk_cache_bytes) : "",
    daemon.mapped_bytes > 0 ? `mapped files: ${bytes(daemon.mapped_bytes)}` : "",
    daemon.left_out > 0 ? `${daemon.left_out} actors are not told of` : "", late,
  ].filter(Boolean).join(" \u00b7 ");
}

/** @param openDetails (daemon, kind) */
export class Pipeline {
  constructor(openDetails) {
    this.openDetails = openDetails;
    this.lanes = byId("lanes");
    this.last = null;
    this.opened = 0;
    document.body.append(patterns());
    byId("share-key").append(...SHARES.map((share) => {
      const bar = part(share);
      for (const [name, value] of Object.entries({ width: 26, height: 10, rx: 2 }))
        attribute(bar, name, value);
      return el("li", {}, svg("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" },
        svg("rect", { class: "bar-back", width: 26, height: 10, rx: 2 }), bar),
      SHARE_WORDS[share]);
    }));
    const again = () => this.last && this.show(...this.last);
    new ResizeObserver(again).observe(this.lanes);
    this.sight = sight(again);
  }

  makeLane(daemon) {
    const graph = new Graph(daemon.daemon, (kind) => this.openDetails(daemon.daemon, kind));
    const lane = el("details", { class: "lane" });
    const narrow = this.lanes.getBoundingClientRect().width < NARROW;
    lane.open = this.opened++ < (narrow ? 1 : OPEN_AT_FIRST);
    lane.parts = { graph, told: el("span", { class: "told" }), quiet: word("silent"),
      work: el("ul", { class: "long-work" }), flight: new Flight(daemon.daemon) };
    lane.append(
      el("summary", {}, el("h3", {}, daemon.daemon), lane.parts.quiet, lane.parts.told),
      lane.parts.work, graph.drawing, lane.parts.flight.line);
    this.sight.watch(lane);
    lane.addEventListener("toggle", () => this.last && this.show(...this.last));
    return lane;
  }

  show(run, silent) {
    this.last = [run, silent];
    const none = byId("pipeline-none");
    const daemons = run?.daemons ?? [];
    none.hidden = daemons.length > 0;
    byId("share-key").hidden = daemons.length === 0;
    text(none, run ? "No daemon has reported its actors yet." : "No run is on.");
    if (daemons.length === 0) this.opened = 0;
    keyed(this.lanes, daemons, ({ daemon }) => daemon, (daemon) => this.makeLane(daemon));
    daemons.forEach((daemon, i) => {
      const lane = this.lanes.children[i];
      const groups = groupsOf(daemon);
      const quiet = silent.includes(daemon.daemon);
      lane.parts.quiet.hidden = !quiet;
      attribute(lane, "data-quiet", quiet ? "yes" : null);
      text(lane.parts.told, told(daemon, groups));
      keyed(lane.parts.work, daemon.long_work ?? [], (one) => one,
        (one) => el("li", {}, one));
      if (!lane.open || !this.sight.sees(lane)) return;
      lane.parts.graph.show(groups, run.verdict);
      lane.parts.flight.show(groups);
    });
  }
}

// One chart: curves over time, with the events below them, or over epochs.

import { attribute, el, keyed, svg, text } from "../elements/dom.js";
import { timeOfDay } from "../elements/format.js";
import { extent, path, steps, timeFormat, timeSteps } from "./scale.js";

const HEIGHT = 168;
const LEFT = 62;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 22;

/** Along what curves go: where it is written below them, what is written there, how a
 * place is called, and where those find the figures who do not see the curves. */
const TIME = {
  steps: timeSteps,
  text: timeFormat,
  at: timeOfDay,
  figures: "The table below has the figures.",
};

/** Lets the pointer choose a time, or by dragging a part of the view's window.
 * @param timeAt From pixels to time. @param picked The rectangle to show. */
export function brushable(area, view, timeAt, showPicked) {
  let start = null; // {x, time}
  const place = (event) => event.clientX - area.getBoundingClientRect().left;
  const done = () => {
    start = null;
    showPicked(null);
  };
  area.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    start = { x: place(event), time: timeAt(place(event)) };
    area.setPointerCapture(event.pointerId);
  });
  area.addEventListener("pointermove", (event) => {
    const x = place(event);
    view.point(timeAt(x));
    showPicked(start && Math.abs(x - start.x) > 5 ? [start.x, x] : null);
  });
  area.addEventListener("pointerup", (event) => {
    const x = place(event);
    const from = start;
    done();
    if (from && Math.abs(x - from.x) > 5) view.show(from.time, timeAt(x));
  });
  area.addEventListener("pointercancel", done);
  area.addEventListener("pointerleave", () => view.point(null));
  area.addEventListener("dblclick", () => view.showLast(Infinity));
}

export class Chart {
  /** @param spec {title, format: (figure) => text, axis: the same for the axis,
   *   along: as TIME, which it is if left out, zero: whether the axis begins there,
   *   least: up to where it goes at the least,
   *   curves: () => [{key, name, series, style, label}]} */
  constructor(spec, view) {
    this.spec = spec;
    this.along = spec.along ?? TIME;
    this.view = view;
    this.area = svg("svg", { role: "img", "aria-label": spec.title }); // Until it is drawn.
    this.layers = { grid: svg("g"), marks: svg("g"), curves: svg("g"),
      cross: svg("path", { class: "cross" }), picked: svg("rect", { class: "picked", y: TOP }) };
    this.area.append(...Object.values(this.layers));
    attribute(this.layers.picked, "height", HEIGHT - TOP - BOTTOM);
    this.when = el("span", { class: "hint" });
    this.legend = el("ul", { class: "legend" });
    this.empty = el("p", { class: "empty", hidden: "" }, "No figures in this time.");
    this.element = el("div", { class: "chart" },
      el("h3", {}, spec.title, this.when), this.area, this.empty, this.legend);
    brushable(this.area, view, (x) => this.timeAt(x), (range) => this.showPicked(range));
  }

  timeAt(x) {
    const [from, to] = this.view.window;
    const share = (x - LEFT) / Math.max(this.width - LEFT - RIGHT, 1);
    return from + Math.min(Math.max(share, 0), 1) * (to - from);
  }

  showPicked(range) {
    const [from, to] = range ? [Math.min(...range), Math.max(...range)] : [0, 0];
    attribute(this.layers.picked, "x", Math.max(from, LEFT));
    attribute(this.layers.picked, "width", Math.max(to - Math.max(from, LEFT), 0));
  }

  /** @param events To be marked: [{time, tone}] */
  show(events) {
    this.width = this.area.getBoundingClientRect().width;
    if (this.width < 50) return;
    const [from, to] = this.view.window;
    const curves = this.spec.curves(from, to);
    const found = extent(curves, from, to);
    const low = this.spec.zero ? 0 : found?.low ?? 0;
    const high = Math.max(found?.high ?? 1, this.spec.least ?? -Infinity);
    const ticks = steps(low, high, 4);
    const x = (time) => LEFT + ((time - from) / (to - from)) * (this.width - LEFT - RIGHT);
    const bottom = HEIGHT - BOTTOM;
    const y = (value) => bottom
      - ((value - ticks[0]) / (ticks.at(-1) - ticks[0])) * (bottom - TOP);
    attribute(this.area, "viewBox", `0 0 ${Math.round(this.width)} ${HEIGHT}`);
    this.showGrid(ticks, this.along.steps(from, to, Math.max(2, this.width / 110)), x, y);
    this.showMarks(events.filter(({ time }) => time >= from && time <= to), x);
    keyed(this.layers.curves, curves, ({ key }) => key, () => svg("path"), (line, curve) => {
      attribute(line, "class", `curve series-${curve.style}`);
      attribute(line, "d", path(curve, from, to, x, y) || null);
    });
    this.empty.hidden = found !== null;
    this.showLegend(curves, found, x);
  }

  /** All lines of a colour are one element: there may be hundreds in each chart. */
  showMarks(events, x) {
    const bottom = HEIGHT - BOTTOM;
    const lines = new Map();
    for (const { time, tone } of events) {
      const high = tone === "bad" || tone === "warn" ? bottom - TOP : 8;
      lines.set(tone, `${lines.get(tone) ?? ""}M${x(time).toFixed(1)} ${bottom}v-${high}`);
    }
    keyed(this.layers.marks, [...lines], ([tone]) => tone,
      ([tone]) => svg("path", { class: `event-line tone-${tone}` }),
      (made, [, line]) => attribute(made, "d", line));
  }

  showGrid(ticks, times, x, y) {
    const end = this.width - RIGHT;
    const timeText = this.along.text(times);
    this.layers.grid.replaceChildren(
      ...ticks.flatMap((value) => [
        svg("path", { class: "grid", d: `M${LEFT} ${y(value).toFixed(1)}H${end}` }),
        svg("text", { x: LEFT - 7, y: (y(value) + 4).toFixed(1), "text-anchor": "end" },
          (this.spec.axis ?? this.spec.format)(value))]),
      ...times.filter((time) => x(time) < end - 18 && x(time) > LEFT + 14).map((time) =>
        svg("text", { x: x(time).toFixed(1), y: HEIGHT - 5, "text-anchor": "middle" },
          timeText(time))));
  }

  /** What the curves say where the pointer is, or else last in the window. */
  showLegend(curves, found, x) {
    const { hover } = this.view;
    const [from, to] = this.view.window;
    const shown = hover !== null && hover >= from && hover <= to;
    attribute(this.layers.cross, "d", shown
      ? `M${x(hover).toFixed(1)} ${TOP}V${HEIGHT - BOTTOM}` : null);
    text(this.when, shown ? `at ${this.along.at(hover)}` : "");
    const { format } = this.spec;
    const values = curves.map(({ series, name }) => series.at(name, shown ? hover : to));
    keyed(this.legend, curves, ({ key }) => key, ({ style }) => el("li", {},
      svg("svg", { viewBox: "0 0 27 10", "aria-hidden": "true" },
        svg("path", { class: `curve series-${style}`, d: "M0 5h27" })),
      el("span"), el("b")),
    (item, { label, style, key }) => {
      attribute(item.querySelector("path"), "class", `curve series-${style}`);
      text(item.children[1], label);
      text(item.children[2], format(values[curves.findIndex((one) => one.key === key)]));
    });
    attribute(this.area, "aria-label", found
      ? `${this.spec.title} from ${this.along.at(from)} to ${this.along.at(to)}: from `
        + `${format(found.low)} to ${format(found.high)}. ${this.along.figures}`
      : `${this.spec.title}: nothing has been told in this time.`);
  }
}

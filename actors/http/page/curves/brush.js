// The axis of time: the whole of the last hour with its events, and the part of
// it that the curves show, between two handles.

import { eventKey } from "../data/store.js";
import { attribute, el, keyed, svg } from "../elements/dom.js";
import { timeOfDay } from "../elements/format.js";
import { eventKind, shape } from "../elements/marks.js";
import { extent, path, timeFormat, timeSteps } from "./scale.js";
import { brushable } from "./chart.js";

const HEIGHT = 62;
const BAND = 46; // Above it the curve and the marks, below it the times.
const EDGE = 13;
const KEYS = { ArrowLeft: -5, ArrowDown: -5, ArrowRight: 5, ArrowUp: 5, PageDown: -60,
  PageUp: 60 };

export class Brush {
  constructor(view) {
    this.view = view;
    this.area = svg("svg", { "aria-hidden": "true" });
    this.layers = { curve: svg("g"), marks: svg("g"), times: svg("g"), veils: svg("g"),
      picked: svg("rect", { class: "picked", y: 0, height: BAND }) };
    this.area.append(...Object.values(this.layers));
    this.handles = ["First moment shown", "Last moment shown"].map(
      (name, which) => this.makeHandle(name, which));
    this.element = el("div", { class: "brush" }, this.area, ...this.handles);
    brushable(this.area, view, (x) => this.timeAt(x), (range) => {
      const [from, to] = range ? [Math.min(...range), Math.max(...range)] : [0, 0];
      attribute(this.layers.picked, "x", from);
      attribute(this.layers.picked, "width", to - from);
    });
  }

  makeHandle(name, which) {
    const handle = el("div", { class: "handle", role: "slider", tabindex: 0,
      "aria-label": name, "aria-describedby": "brush-help" });
    const move = (to) => {
      const window = [...this.view.window];
      window[which] = Math.min(Math.max(to, which === 0 ? this.view.begin : window[0] + 10),
        which === 0 ? window[1] - 10 : this.view.now);
      this.view.show(...window);
    };
    handle.addEventListener("keydown", (event) => {
      const now = this.view.window[which];
      if (event.key in KEYS) move(now + KEYS[event.key]);
      else if (event.key === "Home") move(this.view.begin);
      else if (event.key === "End") move(this.view.now);
      else if (event.key === "Escape") this.view.showLast(Infinity);
      else return;
      event.preventDefault();
    });
    handle.addEventListener("pointerdown", (event) => handle.setPointerCapture(event.pointerId));
    handle.addEventListener("pointermove", (event) => {
      if (handle.hasPointerCapture(event.pointerId))
        move(this.timeAt(event.clientX - this.area.getBoundingClientRect().left));
    });
    return handle;
  }

  timeAt(x) {
    const share = (x - EDGE) / Math.max(this.width - 2 * EDGE, 1);
    return this.view.begin + Math.min(Math.max(share, 0), 1) * (this.view.now - this.view.begin);
  }

  /** @param curves Of the overview, each scaled to the whole height. */
  show(events, curves) {
    this.width = this.area.getBoundingClientRect().width;
    if (this.width < 50) return;
    const { begin, now } = this.view;
    const x = (time) => EDGE + ((time - begin) / (now - begin)) * (this.width - 2 * EDGE);
    attribute(this.area, "viewBox", `0 0 ${Math.round(this.width)} ${HEIGHT}`);
    const found = extent(curves, begin, now);
    const y = (value) => BAND - 4 - (value / Math.max(found?.high ?? 1, 1e-9)) * (BAND - 24);
    keyed(this.layers.curve, curves, ({ key }) => key, () => svg("path", { class: "curve" }),
      (line, curve) => attribute(line, "d", path(curve, begin, now, x, y) || null));
    const seen = events.filter(({ time }) => time >= begin && time <= now);
    keyed(this.layers.marks, seen, eventKey, (event) => {
      const { tone, shape: form } = eventKind(event);
      return svg("g", { class: `tone-${tone}` }, svg("title", {}, event.text), shape(form));
    }, (made, { time }) => attribute(made, "transform",
      `translate(${(x(time) - 5).toFixed(1)} 4) scale(0.65)`));
    const times = timeSteps(begin, now, Math.max(2, this.width / 110));
    const timeText = timeFormat(times);
    this.layers.times.replaceChildren(...times
      .filter((time) => x(time) > 20 && x(time) < this.width - 20)
      .map((time) => svg("text", { x: x(time).toFixed(1), y: HEIGHT - 4,
        "text-anchor": "middle" }, timeText(time))));
    const [from, to] = this.view.window.map(x);
    this.layers.veils.replaceChildren(
      svg("rect", { class: "veil", x: 0, y: 0, width: Math.max(from, 0), height: BAND }),
      svg("rect", { class: "veil", x: to, y: 0, width: Math.max(this.width - to, 0),
        height: BAND }));
    this.handles.forEach((handle, which) => {
      const at = this.view.window[which];
      handle.style.left = `${[from, to][which]}px`;
      attribute(handle, "aria-valuemin", Math.round(begin));
      attribute(handle, "aria-valuemax", Math.round(now));
      attribute(handle, "aria-valuenow", Math.round(at));
      attribute(handle, "aria-valuetext", timeOfDay(at));
    });
  }
}

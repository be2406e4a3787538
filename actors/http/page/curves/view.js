// Which part of the last hour the curves show, and where the pointer is: shared
// by all of them.

import { HOUR } from "../data/series.js";

const LEAST = 10; // Seconds that can be looked at.

export class View {
  /** @param onChange Told when anything else is to be shown. */
  constructor(onChange) {
    this.onChange = onChange;
    this.begin = NaN; // All that there is to see,
    this.now = NaN;
    this.span = HOUR; // up to now, if `to` is null.
    this.from = null;
    this.to = null;
    this.hover = null; // A time; null: none.
  }

  /** @param begin The first time of which anything is known. */
  tick(begin, now) {
    this.now = now;
    this.begin = Math.max(Math.min(begin, now - 60), now - HOUR);
    // It may have been of a clock that has been set back.
    if (this.to !== null && this.to > now) this.showLast(HOUR);
    // What has been looked at leaves the last hour at some time.
    if (this.to !== null && this.from < this.begin) {
      this.from = this.begin;
      if (this.to < this.from + LEAST) this.showLast(HOUR);
    }
  }

  get window() {
    return this.to === null ? [Math.max(this.begin, this.now - this.span), this.now]
      : [this.from, this.to];
  }

  showLast(span) {
    this.span = Math.max(span, LEAST);
    this.from = this.to = null;
    this.onChange();
  }

  /** Ends that come near the present follow it. */
  show(from, to) {
    let [low, high] = from <= to ? [from, to] : [to, from];
    low = Math.min(Math.max(low, this.begin), this.now - LEAST);
    high = Math.min(Math.max(high, low + LEAST), this.now);
    if (this.now - high < 2) {
      this.showLast(low - this.begin < 2 ? HOUR : this.now - low);
      return;
    }
    [this.from, this.to] = [low, high];
    this.onChange();
  }

  point(at) {
    if (at === this.hover) return;
    this.hover = at;
    this.onChange();
  }
}

// How an actor was in the last hour: what its workers' time went to, and its queue.

import { attribute, el, svg, text } from "../elements/dom.js";
import { exact, hourAndMinute, percent } from "../elements/format.js";
import { SHARE_WORDS, SHARES } from "./groups.js";

const WIDE = 300;
const HIGH = 36;
const HOUR = 3600;
const MOST_QUEUE = 65_535; // As it is told.
const SHOWN = 0.005; // A share that is less is not spoken of.

function stripe(share) {
  return svg("path", share === "busy" ? { class: "busy-fill" } : { fill: `url(#fill-${share})` });
}

/** What the rows of an actor say by the names of their fields. */
function periodsOf({ fields, rows }) {
  return rows.map((row) => Object.fromEntries(fields.map((name, i) => [name, row[i]])));
}

/** All shares of each period, one on top of the other. */
function pathsOf(periods, from) {
  const paths = Object.fromEntries(SHARES.map((share) => [share, ""]));
  for (const period of periods) {
    const x = ((period.time - from) / HOUR) * WIDE;
    const wide = (WIDE * period.seconds) / HOUR + 0.3; // Neighbours touch.
    let y = HIGH;
    for (const share of SHARES) {
      const high = Math.min(period[share], y / HIGH) * HIGH;
      y -= high;
      if (high > 0)
        paths[share] += `M${x.toFixed(1)} ${y.toFixed(1)}h${wide.toFixed(2)}v${high.toFixed(1)}`
          + `h-${wide.toFixed(2)}Z`;
    }
  }
  return paths;
}

/** What there is to be seen, in words. */
function sentence(periods, end) {
  const sum = (field) => periods.reduce((all, period) => all + period[field] * period.seconds, 0);
  const whole = periods.reduce((all, { seconds }) => all + seconds, 0);
  const shares = SHARES.map((share) => [sum(share) / whole, share])
    .filter(([all]) => all >= SHOWN)
    .map(([all, share]) => `${percent(all)} ${SHARE_WORDS[share]}`);
  const queue = Math.max(...periods.map((period) => period.queue));
  return `${hourAndMinute(periods[0].time)} to ${hourAndMinute(end)}: `
    + `${shares.join(", ") || "nothing"}; ${exact(queue)}${queue === MOST_QUEUE ? " or more" : ""} `
    + "waited for it at the most";
}

export class Past {
  constructor() {
    this.stripes = SHARES.map(stripe);
    this.area = svg("svg", { role: "img", width: WIDE, height: HIGH,
      viewBox: `0 0 ${WIDE} ${HIGH}` },
    svg("rect", { class: "bar-back", width: WIDE, height: HIGH }), ...this.stripes);
    this.words = el("figcaption");
    this.rows = null; // That are drawn.
    this.element = el("figure", { class: "past", hidden: "" }, this.area, this.words);
  }

  /** @param told {fields, rows} of the actor, or nothing. */
  show(told) {
    this.element.hidden = !told?.rows.length;
    if (this.element.hidden || this.rows === told.rows) return;
    this.rows = told.rows;
    const periods = periodsOf(told);
    const { time, seconds } = periods.at(-1);
    const paths = pathsOf(periods, time + seconds - HOUR);
    SHARES.forEach((share, i) => attribute(this.stripes[i], "d", paths[share]));
    const said = sentence(periods, time + seconds);
    attribute(this.area, "aria-label", said);
    text(this.words, said);
  }
}

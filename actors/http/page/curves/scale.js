// Steps of axes, and paths of curves. Pure.

import { hourAndMinute, timeOfDay } from "../elements/format.js";

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];

/** Round values from below `low` to above `high`, `most` at the most but for one. */
export function steps(low, high, most) {
  const span = high - low > 0 ? high - low : Math.max(Math.abs(high), 1) * 0.1;
  const power = 10 ** Math.floor(Math.log10(span / most));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => span / one <= most);
  const out = [];
  for (let i = Math.floor(low / step + 1e-9); out.length <= most + 2; ++i) {
    out.push(i * step);
    if (i * step >= high - 1e-9 * step) break;
  }
  return out.length > 1 ? out : [out[0], out[0] + step];
}

/** Times in a window at which to write the time of day. */
export function timeSteps(from, to, most) {
  const step = TIME_STEPS.find((one) => (to - from) / one <= most) ?? TIME_STEPS.at(-1);
  // By the reader's clock, whose hours may begin at another minute than those of UTC.
  const shift = 60 * new Date(1000 * from).getTimezoneOffset();
  const out = [];
  for (let at = Math.ceil((from - shift) / step) * step + shift; at <= to; at += step)
    out.push(at);
  return out;
}

/** How these times are written below an axis: none as another one is. */
export function timeFormat(times) {
  return times.every((time) => time % 60 === 0) ? hourAndMinute : timeOfDay;
}

/** The smallest and largest figure of a window; null: there is none. */
export function extent(curves, from, to) {
  let low = Infinity;
  let high = -Infinity;
  for (const { series, name } of curves) {
    const column = series.column(name);
    const end = series.from(to + 1e-6);
    for (let i = series.from(from); i < end; ++i) {
      const value = column[i];
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? { low, high } : null;
}

/** The `d` of a curve: of many samples in one pixel, the first, least, largest
 * and last, which is what a line through all of them would cover.
 * @param x,y From time and figure to pixels. */
export function path({ series, name }, from, to, x, y) {
  const { times, gap } = series;
  const column = series.column(name);
  const out = [];
  let before = -Infinity; // Time of the sample before.
  let pixel = NaN;
  let low = NaN;
  let high = NaN;
  let last = NaN;
  const point = (value) => out.push(`L${pixel} ${y(value).toFixed(1)}`);
  const flush = () => {
    if (low !== high) [low, high, last].forEach(point);
  };
  const end = Math.min(series.from(to) + 1, series.length);
  for (let i = Math.max(series.from(from) - 1, 0); i < end; ++i) {
    const value = column[i];
    if (Number.isNaN(value)) continue;
    const at = Math.round(2 * x(times[i])) / 2;
    if (at !== pixel || times[i] - before > gap) {
      if (!Number.isNaN(pixel)) flush();
      pixel = at;
      low = high = value;
      // A dot, if none follows.
      out.push(times[i] - before > gap ? `M${at} ${y(value).toFixed(1)}h.8`
        : `L${at} ${y(value).toFixed(1)}`);
    }
    low = Math.min(low, value);
    high = Math.max(high, value);
    last = value;
    before = times[i];
  }
  if (!Number.isNaN(pixel)) flush();
  return out.join("");
}

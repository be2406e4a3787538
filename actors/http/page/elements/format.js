// Numbers, sizes and times as people read them. What is not known is a dash.

const DASH = "\u2013";

function known(value) {
  return typeof value === "number" && Number.isFinite(value);
}

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A count or rate in at most five places: 0.42, 12.3, 1,234, 56k. */
export function number(value) {
  if (!known(value)) return DASH;
  const size = Math.abs(value);
  if (size >= 1e6) return `${(value / 1e6).toFixed(size >= 1e7 ? 0 : 1)}M`;
  if (size >= 1e4) return `${(value / 1e3).toFixed(0)}k`;
  if (size >= 100 || Number.isInteger(value)) return grouped.format(value);
  return value.toFixed(size >= 10 ? 1 : 2);
}

export function exact(value) {
  return known(value) ? grouped.format(value) : DASH;
}

/** An epoch or a step, which documents count from 0, as logs and traces name it:
 * from 1. */
export function fromOne(index) {
  return known(index) ? exact(index + 1) : DASH;
}

/** A loss or an accuracy. */
export function decimal(value) {
  return known(value) ? value.toFixed(4) : DASH;
}

/** The metric that a run goes by, where that is not the accuracy: {name, value}. */
export function metricText(measured) {
  return measured ? `${measured.name} ${decimal(measured.value)}` : "";
}

/** 0.00123 */
export function threePlaces(value) {
  return known(value) ? String(Number(value.toPrecision(3))) : DASH;
}

export function percent(share) {
  return known(share) ? `${Math.round(100 * share)} %` : DASH;
}

export function bytes(value) {
  if (!known(value)) return DASH;
  for (const [size, unit] of [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]])
    if (value >= size) return `${(value / size).toFixed(value >= 10 * size ? 0 : 1)} ${unit}`;
  return `${Math.round(value)} B`;
}

export function bytesPerSecond(value) {
  return known(value) ? `${bytes(value)}/s` : DASH;
}

/** How a figure of a unit is shown: as text, whether its axis begins at 0, and the
 * least that it reaches to. */
export function byUnit(unit) {
  return {
    bytes: { format: bytes, zero: true },
    bytes_per_second: { format: bytesPerSecond, zero: true, least: 1e3 },
    loss: { format: decimal, axis: number },
    number: { format: threePlaces, zero: true },
    per_second: { format: number, zero: true },
    ratio: { format: percent, zero: true, least: 1 },
  }[unit] ?? { format: number, zero: true, least: 1 };
}

export function milliseconds(seconds) {
  return known(seconds) ? `${(1e3 * seconds).toFixed(seconds < 0.01 ? 1 : 0)} ms` : DASH;
}

/** Negative: not known. */
export function seconds(value) {
  if (!known(value) || value < 0) return DASH;
  if (value < 120) return `${Math.round(value)} s`;
  if (value < 7200) return `${Math.round(value / 60)} min`;
  return `${(value / 3600).toFixed(1)} h`;
}

const clock = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit", minute: "2-digit", second: "2-digit" });
const shortClock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit",
  second: "2-digit" });

function date(unix) {
  return known(unix) && Math.abs(unix) < 8e12 ? new Date(1e3 * unix) : null;
}

/** Seconds since 1970 as the time of day. */
export function timeOfDay(unix) {
  const when = date(unix);
  return when ? clock.format(when) : DASH;
}

export function hourAndMinute(unix) {
  const when = date(unix);
  return when ? shortClock.format(when) : DASH;
}

export function fullTime(unix) {
  const when = date(unix);
  return when ? day.format(when) : DASH;
}

export function machineTime(unix) {
  const when = date(unix);
  return when ? when.toISOString() : null;
}

/** "3 parts", "1 part". */
export function count(amount, noun) {
  return `${exact(amount)} ${noun}${amount === 1 ? "" : "s"}`;
}

/** [0, 1, 2, 5] -> "0-2, 5" */
export function ranges(numbers) {
  const out = [];
  for (let i = 0; i < numbers.length; ++i) {
    const first = numbers[i];
    while (numbers[i + 1] === numbers[i] + 1) ++i;
    out.push(first === numbers[i] ? `${first}` : `${first}-${numbers[i]}`);
  }
  return out.join(", ");
}

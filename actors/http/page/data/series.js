// Samples of the last hour, in memory of a fixed size.

export const HOUR = 3600;
const SLACK = 496; // So that moving the last hour to the front is rare.
const GAP = 5; // Seconds.

/** Times with some figures for each, in the order of time. What is not known is
 * NaN. Keeps the last `HOUR` samples, which come once a second. */
export class Series {
  /** @param names Of the figures. @param gap How far from each other two samples
   * are that have nothing between them, and for how long one holds. */
  constructor(names, gap = GAP) {
    this.names = names;
    this.gap = gap;
    this.length = 0;
    this.told = false; // Whether any figure has ever been known.
    this.room = 64;
    this.times = new Float64Array(this.room);
    this.columns = names.map(() => new Float32Array(this.room));
  }

  get last() {
    return this.length === 0 ? -Infinity : this.times[this.length - 1];
  }

  /** What is there has come before. Of a time before the last sample's, it was
   * told after the coordinator's clock was set back: what is later makes room. */
  add(time, values) {
    if (time <= this.last) {
      const place = this.from(time);
      if (this.times[place] === time) return;
      this.length = place;
    }
    if (this.length === this.room) this.makeRoom();
    this.times[this.length] = time;
    this.columns.forEach((column, i) => {
      const known = typeof values[i] === "number";
      column[this.length] = known ? values[i] : NaN;
      this.told ||= known;
    });
    ++this.length;
  }

  makeRoom() {
    if (this.room < HOUR + SLACK) {
      this.room = Math.min(2 * this.room, HOUR + SLACK);
      const larger = (from) => {
        const out = new from.constructor(this.room);
        out.set(from);
        return out;
      };
      this.times = larger(this.times);
      this.columns = this.columns.map(larger);
      return;
    }
    const gone = this.length - HOUR + 1;
    this.times.copyWithin(0, gone, this.length);
    for (const column of this.columns) column.copyWithin(0, gone, this.length);
    this.length -= gone;
  }

  column(name) {
    return this.columns[this.names.indexOf(name)];
  }

  /** Index of the first sample at `time` or later. */
  from(time) {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The figure at a time: the last one that is known up to it, if that is no
   * older than the gap. */
  at(name, time) {
    const column = this.column(name);
    let i = this.from(time + 1e-6) - 1;
    while (i >= 0 && time - this.times[i] < this.gap && Number.isNaN(column[i])) --i;
    return i >= 0 && time - this.times[i] < this.gap ? column[i] : NaN;
  }
}

/** Adds the rows of one member of a document of history to a series. */
export function addRows(series, { fields = [], rows = [] }) {
  const time = fields.indexOf("time");
  const wanted = series.names.map((name) => fields.indexOf(name));
  for (const row of rows)
    if (typeof row[time] === "number")
      series.add(row[time], wanted.map((i) => row[i]));
}

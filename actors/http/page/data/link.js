// The connection to the coordinator: catches up, then listens, and begins anew
// when nothing comes.

const PATIENCE = 10_000; // Ticks come once a second.
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30_000;
const MOST_PAGES = 64; // Of an hour of history.

class Refused extends Error {}

/** A document of the coordinator. */
export async function ask(path, signal) {
  const answer = await fetch(path, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]), cache: "no-store" });
  if (answer.ok) return answer.json();
  const said = (await answer.text()).trim().slice(0, 200);
  const refused = new Refused(said || `it answers ${answer.status}`);
  refused.status = answer.status;
  throw refused;
}

/** Keeps a store up to date. States: connecting (catches up), up (listens), down
 * (waits before it tries again, longer each time), paused (nobody looks at the
 * page), stuck (the server tells the same again and again: the coordinator that
 * it speaks of tells it nothing). Tells of each by `onState({up, stuck, since,
 * why, retry})`, and of news by `onNews`. */
export class Link {
  constructor(store, { onState, onNews }) {
    this.store = store;
    this.onState = onState;
    this.onNews = onNews;
    this.pause = FIRST_PAUSE;
    this.heard = null; // When something came last, by this browser's clock.
    this.moved = 0; // When it was new, in ms.
    this.timer = 0;
    this.stop = null; // Ends what is under way.
    this.asking = false;
    document.addEventListener("visibilitychange", () => this.onVisible());
    window.addEventListener("online", () => this.retry());
  }

  /** When the page opens, and is seen, or no longer seen. */
  onVisible() {
    if (document.hidden) this.rest();
    else this.retry();
  }

  rest() {
    this.end();
    this.onState({ up: false, since: this.heard, why: "paused while out of sight", retry: NaN });
  }

  /** Now, whatever the pause. */
  retry() {
    if (document.hidden || this.stop) return;
    this.pause = FIRST_PAUSE;
    this.connect();
  }

  end() {
    clearTimeout(this.timer);
    this.stop?.abort();
    this.stop = null;
  }

  async connect() {
    this.end();
    const stop = new AbortController();
    this.stop = stop;
    try {
      await this.catchUp(stop.signal);
      if (!stop.signal.aborted) this.listen(stop);
    } catch (reason) {
      if (!stop.signal.aborted) this.lost(stop, reason);
    }
  }

  /** What has happened since it was last told. */
  async catchUp(signal) {
    const since = (next) => (next === null ? "" : `?since=${encodeURIComponent(next)}`);
    const { store } = this;
    store.takeStatus(await ask("/api/status", signal));
    for (let page = 0; page < MOST_PAGES; ++page) {
      const history = await ask(`/api/history${since(store.historyNext)}`, signal);
      store.takeHistory(history);
      if (!history.more) break;
    }
    store.takeEvents(await ask(`/api/events${since(store.eventsNext)}`, signal));
    await this.askRuns(signal);
    this.moved = Date.now();
    this.news();
  }

  listen(stop) {
    const id = this.store.streamId;
    const source = new EventSource(id === null ? "/api/stream"
      : `/api/stream?since=${encodeURIComponent(id)}`);
    stop.signal.addEventListener("abort", () => source.close());
    const watch = () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(
        () => this.lost(stop, new Error("nothing has come for 10 s")), PATIENCE);
    };
    watch();
    let opened = false;
    source.onopen = () => {
      opened = true;
    };
    source.onerror = () => this.lost(stop, new Error(opened ? "the connection has ended"
      : "the coordinator has no place for one more open page now"));
    source.addEventListener("tick", (tick) => {
      watch();
      this.pause = FIRST_PAUSE;
      this.take(tick.data, stop);
    });
  }

  async take(data, stop) {
    try {
      const { status, history, events } = JSON.parse(data);
      if (history.next !== this.store.historyNext) this.moved = Date.now();
      this.store.takeStatus(status);
      this.store.takeHistory(history);
      this.store.takeEvents(events);
      this.news();
      if (await this.askRuns(stop.signal)) this.news();
    } catch (reason) {
      this.lost(stop, reason);
    }
  }

  /** How the run that is shown is, and what has become of others if that may have
   * changed; nothing while earlier questions have no answer.
   * @return whether anything was asked. */
  async askRuns(signal) {
    const { store } = this;
    if (this.asking) return false;
    this.asking = true;
    try {
      const id = store.shown;
      if (id) await this.askRun(id, signal);
      const old = store.recordsAreOld;
      if (old) store.takeRecords(await ask("/api/runs", signal));
      return Boolean(id) || old;
    } finally {
      this.asking = false;
    }
  }

  /** Of another run, without waiting for the next tick. */
  async askAgain() {
    const { stop } = this;
    if (!stop) return;
    try {
      if (await this.askRuns(stop.signal)) this.news();
    } catch (reason) {
      this.lost(stop, reason);
    }
  }

  async askRun(id, signal) {
    try {
      this.store.takeRun(await ask(`/api/runs/${encodeURIComponent(id)}`, signal));
    } catch (reason) { // It is over, or just begins.
      if (reason.status !== 404 && reason.status !== 503) throw reason;
    }
  }

  news() {
    this.heard = Date.now() / 1000;
    if (Date.now() - this.moved < PATIENCE) this.onState({ up: true });
    else this.onState({ up: false, stuck: true, since: this.moved / 1000, retry: NaN });
    this.onNews();
  }

  lost(stop, reason) {
    if (stop.signal.aborted || this.stop !== stop) return;
    this.end();
    const why = reason instanceof Refused ? reason.message
      : reason.name === "TypeError" || reason.name === "TimeoutError"
        ? "the coordinator does not answer" : reason.message;
    this.onState({ up: false, since: this.heard, why, retry: this.pause / 1000 });
    // Not at one moment with all other pages that have lost it, too.
    this.timer = setTimeout(() => this.connect(), this.pause * (0.75 + Math.random() / 4));
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
  }
}

// States, each by a shape, a colour and a word, so that none needs the others.

import { el, svg } from "./dom.js";

// Within 16 x 16. An open shape is drawn, others are filled.
const SHAPES = {
  disc: { d: "M8 2.5a5.5 5.5 0 1 0 .01 0Z" },
  ring: { d: "M8 2.5a5.5 5.5 0 1 0 .01 0Z", open: true },
  square: { d: "M3 3h10v10H3Z" },
  diamond: { d: "M8 1.8 14.2 8 8 14.2 1.8 8Z", open: true },
  down: { d: "M2 4h12L8 13.5Z", open: true },
  cross: { d: "M3 3l10 10M13 3 3 13", open: true },
  dash: { d: "M2.5 8h11", open: true },
  again: { d: "M13 8a5 5 0 1 1-1.8-3.8M13 1.5v3.4H9.6", open: true },
  check: { d: "M2.5 8.5l3.7 3.8L13.5 4", open: true },
  alarm: { d: "M8 1.8 15 14H1ZM8 6.5v3M8 11.8v.1", open: true },
  play: { d: "M4 2.5 13.5 8 4 13.5Z" },
};

/** By the words of the documents: colour, shape, and what the word means. */
const STATES = {
  // Of actors.
  starting: { tone: "calm", shape: "ring", says: "starts" },
  running: { tone: "good", shape: "disc", says: "works" },
  starved: { tone: "calm", shape: "down", says: "waits for input" },
  stalled: { tone: "calm", shape: "square", says: "waits for credit" },
  waiting: { tone: "calm", shape: "diamond", says: "waits for the answers of others" },
  restarting: { tone: "bad", shape: "again", says: "is restarted" },
  failed: { tone: "bad", shape: "cross", says: "has failed" },
  stopped: { tone: "idle", shape: "dash", says: "has stopped" },
  // Of daemons.
  ready: { tone: "good", shape: "disc", says: "in service" },
  draining: { tone: "warn", shape: "down", says: "takes no more work" },
  lost: { tone: "bad", shape: "cross", says: "out of reach" },
  damaged: { tone: "bad", shape: "alarm", says: "its data is not believed" },
  silent: { tone: "bad", shape: "alarm", says: "tells nothing" },
  // Of runs.
  queued: { tone: "idle", shape: "ring", says: "waits for its turn" },
  finished: { tone: "good", shape: "check", says: "is over" },
  cancelled: { tone: "idle", shape: "dash", says: "was cancelled" },
};
const UNKNOWN = { tone: "idle", shape: "ring", says: "" };

export function stateOf(word) {
  return Object.hasOwn(STATES, word) ? STATES[word] : UNKNOWN;
}

/** The shape alone, to be put into a drawing. */
export function shape(name) {
  const { d, open } = SHAPES[name];
  return svg("path", { d, class: open ? "shape open" : "shape" });
}

/** The shape as a picture of its own. */
export function mark(name) {
  return svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, shape(name));
}

/** Shape and word of a state, in its colour. */
export function word(state) {
  const { tone, shape: form } = stateOf(state);
  return el("span", { class: `word tone-${tone}` }, mark(form), el("span", {}, state));
}

/** How kinds of events are marked: those that are about a state as that. */
const EVENTS = {
  joined: STATES.ready,
  left: STATES.stopped,
  lost: STATES.lost,
  back: STATES.ready,
  draining: STATES.draining,
  in_service: STATES.ready,
  queued: STATES.queued,
  started: { tone: "calm", shape: "play" },
  ended: { tone: "calm", shape: "square" },
  recovered: { tone: "good", shape: "again" },
  checkpoint: { tone: "calm", shape: "diamond" },
  limit: { tone: "calm", shape: "down" },
  trouble: { tone: "warn", shape: "again" },
  warning: { tone: "warn", shape: "alarm" },
};

/** Colour and shape of an event, and what it is called. */
export function eventKind(event) {
  const kind = String(event.kind);
  const state = kind === "ended" ? String(event.text).split(/[^a-z]/, 1)[0] : "";
  if (state === "failed" || state === "finished")
    return { ...STATES[state], says: state };
  return { ...(Object.hasOwn(EVENTS, kind) ? EVENTS[kind] : UNKNOWN),
    says: kind.replaceAll("_", " ") };
}

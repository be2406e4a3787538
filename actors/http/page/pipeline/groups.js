// Actors of one kind at one daemon, taken together. Pure.

// The first one that any has is the state of all that is shown first.
const BY_TROUBLE = ["failed", "restarting", "stalled", "starved", "waiting", "starting",
  "running", "stopped"];
export const SHARES = ["busy", "starved", "stalled", "waiting", "down"];
export const SHARE_WORDS = {
  busy: "busy", starved: "starved: waits for input", stalled: "stalled: waits for credit",
  waiting: "waits for replies", down: "without worker" };

function stateOfAll(actors) {
  const busy = actors.filter(({ state }) => state === "running").length;
  // One that waits while others work is no news, but one that has died is.
  const order = 2 * busy >= actors.length
    ? ["failed", "restarting", "running"] : BY_TROUBLE;
  const state = order.find((one) => actors.some((actor) => actor.state === one))
    ?? actors[0].state;
  return { state, alike: actors.filter((actor) => actor.state === state).length };
}

function group(kind, actors) {
  const sum = (field) => actors.reduce((all, actor) => all + (actor[field] || 0), 0);
  const workers = Math.max(sum("workers"), 1);
  const shares = {};
  for (const share of SHARES)
    shares[share] = actors.reduce(
      (all, actor) => all + (actor[share] || 0) * (actor.workers || 1), 0) / workers;
  return {
    kind, actors, shares, workers, ...stateOfAll(actors),
    queue: sum("queue"),
    rate: sum("items_per_second"),
    restarts: sum("restarts"),
    recent: sum("recent_restarts"),
    inState: Math.max(...actors.map((actor) => actor.in_state || 0)),
    credit: actors.find((actor) => actor.most_batches > 0) ?? null,
  };
}

/** By kind. @param daemon Of the document of a run. */
export function groupsOf(daemon) {
  const lists = new Map();
  for (const actor of daemon.actors ?? []) {
    if (!lists.has(actor.kind)) lists.set(actor.kind, []);
    lists.get(actor.kind).push(actor);
  }
  return new Map([...lists].map(([kind, actors]) => [kind, group(kind, actors)]));
}

/** Colour of a group, which is not that of its state where workers have died. */
export function toneOf(group, tone) {
  if (group.recent > 0) return "bad";
  return group.kind === "trainer" && group.shares.starved >= 0.1 && tone === "calm"
    ? "warn" : tone;
}

/** "trainer 1", "sampling proxy 2 -> b" */
export function label(actor) {
  let out = actor.kind;
  if (actor.part >= 0) out += ` ${actor.part}`;
  if (actor.rank >= 0) out += ` ${actor.rank}`;
  if (actor.peer) out += ` \u2192 ${actor.peer}`;
  return out;
}

/** Whether the verdict names one of a group at a daemon, or the link on which it asks
 * another one. */
export function isNamed(verdict, { kind, actors }, daemon, kinds) {
  const limit = verdict?.limit ?? "";
  if (limit.startsWith("link of "))
    return actors.some(({ peer }) => peer
      && limit === `link of daemon "${daemon}" to daemon "${peer}"`);
  if (limit === `credit at daemon "${daemon}"`) return kind === "dispatcher";
  const named = kinds.filter((one) => limit === one || limit.startsWith(`${one} `))
    .reduce((a, b) => (a.length > b.length ? a : b), "");
  return named === kind
    && (!limit.includes(' at daemon "') || limit.endsWith(` at daemon "${daemon}"`));
}

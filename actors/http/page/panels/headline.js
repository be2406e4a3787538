// How the cluster is, in a word and a sentence. Pure: from documents alone.

import { count, decimal, metricText, percent, ranges } from "../elements/format.js";

const PHASES = { train: "Training", validation: "Validating", test: "Testing" };
const WORTH_NAMING = 0.1; // As in the coordinator's verdict.

function say(tone, shape, state, sentence = "", evidence = []) {
  return { tone, shape, state, sentence, evidence };
}

function names(list) {
  const quoted = list.slice(0, 5).map((name) => `"${name}"`).join(", ");
  return list.length > 5 ? `${quoted} and ${list.length - 5} more` : quoted;
}

/** Parts that nobody in service has: no run can start without them. */
export function missingParts(status) {
  const owned = new Set((status.owners ?? []).map(({ part }) => part));
  const out = [];
  for (let part = 0; part < Math.min(status.parts ?? 0, 100_000); ++part)
    if (!owned.has(part)) out.push(part);
  return out;
}

function daemonsThatAre(status, state) {
  return (status.daemons ?? []).filter((one) => one.state === state).map(({ name }) => name);
}

/** What is wrong with the cluster beside the run. */
function troubles(status) {
  const out = [];
  for (const state of ["lost", "damaged"]) {
    const list = daemonsThatAre(status, state);
    if (list.length > 0)
      out.push(`${state}: ${list.length === 1 ? "daemon" : `${list.length} daemons:`} `
        + names(list));
  }
  const missing = missingParts(status);
  if (missing.length > 0)
    out.push(`no daemon in service has part ${ranges(missing)}: no run can start`);
  if (status.note) out.push(status.note);
  return out;
}

/** Whether a run lost an attempt, and has not trained since: as events tell.
 * @param run Its document; null: it waits. */
function recovers(id, run, events) {
  if (run?.progress) return false;
  const last = events.findLast((event) => event.run === id
    && ["warning", "recovered", "ended"].includes(event.kind));
  return last !== undefined && last.kind !== "ended";
}

function actorsOf(run) {
  return (run.daemons ?? []).flatMap(
    ({ daemon, actors }) => actors.map((actor) => ({ daemon, actor })));
}

/** Share of the time in which trainers wait for input, over all; NaN: none. */
export function starving(run) {
  const trainers = actorsOf(run).filter(({ actor }) => actor.kind === "trainer");
  return trainers.reduce((sum, { actor }) => sum + actor.starved, 0) / trainers.length;
}

function whileRunning(status, run, events) {
  const { verdict } = run;
  const about = [...(verdict.evidence ?? []), ...troubles(status)];
  const speak = (tone, shape, state) => say(tone, shape, state, verdict.sentence, about);
  if (run.silent?.length > 0)
    return speak("bad", "alarm", `Nothing is heard of ${names(run.silent)}`);
  if (recovers(run.run, run, events))
    return say("warn", "again", "Recovering",
      events.findLast((event) => event.run === run.run
        && ["warning", "recovered"].includes(event.kind)).text, about);
  const actors = actorsOf(run);
  const failed = actors.filter(({ actor }) => actor.state === "failed");
  if (failed.length > 0)
    return speak("bad", "cross", `${count(failed.length, "actor")} failed`);
  const weak = actors.filter(({ actor }) => actor.state === "restarting"
    || actor.recent_restarts > 0);
  if (weak.length > 0)
    return speak("bad", "again", `${count(weak.length, "actor")} restarted lately`);
  if (run.feeds) return say("good", "play", "Feeding", verdict.sentence, about);
  if (!run.progress) return say("calm", "ring", "Starting", verdict.sentence, about);
  const phase = PHASES[run.progress.phase] ?? "Running";
  if (verdict.limit && !["none", "trainer"].includes(verdict.limit)) {
    const share = starving(run);
    return speak("warn", "down", share >= WORTH_NAMING
      ? `${phase}; trainers starve ${percent(share)} of the time`
      : `${phase}, held up by the ${verdict.limit}`);
  }
  return speak("good", "play", phase);
}

/** A sentence on a run that is over, or that waits for its next attempt. */
export function outcome(record) {
  if (record.state === "finished" && record.measured)
    return `${record.run}: ${metricText(record.measured)} on the test split`;
  if (record.state === "finished" && typeof record.accuracy === "number")
    return `${record.run}: accuracy ${decimal(record.accuracy)} on the test split`;
  return record.message ? `${record.run}: ${record.message}` : record.run;
}

/** What runs, or else how it stands: {tone, shape, state, sentence, evidence}. */
export function headline(store) {
  const { status, run, events } = store;
  if (!status) return say("idle", "ring", "Nothing is known yet");
  const id = store.shown;
  if (id && run?.run === id) return whileRunning(status, run, events);
  const about = troubles(status);
  if (id) return say("calm", "ring", "Starting", id, about);
  const next = status.queued?.[0];
  if (next !== undefined) {
    const why = recovers(next, null, events) ? "Recovering" : "Waiting to start";
    const waits = store.records.get(next); // It says what for; an event may not.
    return say(why === "Recovering" || about.length > 0 ? "warn" : "calm",
      why === "Recovering" ? "again" : "ring", why, waits?.message ? outcome(waits)
        : events.findLast((event) => event.run === next)?.text ?? next, about);
  }
  const ended = events.findLast((event) => event.kind === "ended" && event.run);
  const record = ended ? store.records.get(ended.run) : null;
  if (missingParts(status).length > 0)
    return record?.state === "failed"
      ? say("bad", "cross", "Run failed, and no other can start", outcome(record), about)
      : say("bad", "cross", "No run can start", "", about);
  const tones = { finished: ["good", "check"], failed: ["bad", "cross"] };
  if (record?.state && record.state !== "running")
    return say(...(tones[record.state] ?? ["idle", "dash"]), `Run ${record.state}`,
      outcome(record), about);
  return about.length > 0
    ? say("warn", "alarm", "Idle, but not all is well", "", about)
    : say("idle", "dash", "Idle", "No run is running or queued.", []);
}

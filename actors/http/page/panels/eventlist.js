// What has happened, as a list, the latest first.

import { eventKey } from "../data/store.js";
import { byId, el, keyed, text } from "../elements/dom.js";
import { machineTime, timeOfDay } from "../elements/format.js";
import { eventKind, mark } from "../elements/marks.js";

const MOST_SHOWN = 200;

function makeItem(event) {
  const { tone, shape, says } = eventKind(event);
  const about = [event.who, event.run]
    .filter((name) => name && !event.text.includes(name)).join(" \u00b7 ");
  return el("li", {},
    el("time", { datetime: machineTime(event.time) }, timeOfDay(event.time)),
    el("span", { class: `word tone-${tone}` }, mark(shape), el("span", {}, says)),
    el("span", { class: "text" }, event.text, about ? el("span", { class: "who" },
      ` (${about})`) : ""));
}

export class EventList {
  constructor(store) {
    this.store = store;
    this.search = byId("event-search");
    this.search.addEventListener("input", () => this.show());
  }

  show() {
    const wanted = this.search.value.trim().toLowerCase();
    const fits = ({ text: said, who, run, kind }) =>
      `${said} ${who} ${run} ${kind}`.toLowerCase().includes(wanted);
    const found = this.store.events.filter(fits).slice(-MOST_SHOWN).reverse();
    const none = byId("events-none");
    none.hidden = found.length > 0;
    text(none, wanted ? "Nothing fits." : "No events yet.");
    const list = byId("event-list");
    list.hidden = found.length === 0;
    keyed(list, found, eventKey, makeItem);
  }
}

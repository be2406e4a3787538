// Which of several runs that are on is shown.

import { byId, el, keyed } from "../elements/dom.js";

export class RunChoice {
  /** @param onChoice Called when the reader has chosen one in the store. */
  constructor(store, onChoice) {
    this.store = store;
    this.box = byId("run-choice");
    this.list = byId("run-shown");
    this.list.addEventListener("change", () => {
      store.choose(this.list.value);
      onChoice();
    });
  }

  show() {
    const { on, shown } = this.store;
    this.box.hidden = on.length < 2;
    keyed(this.list, this.box.hidden ? [] : on, (id) => id,
      (id) => el("option", { value: id }, id));
    if (this.list.value !== shown) this.list.value = shown;
  }
}

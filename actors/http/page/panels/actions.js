// What changes something: behind a token that is kept in this page's memory
// alone, and only after a question.

import { byId, text } from "../elements/dom.js";

const PATIENCE = 40_000; // Somewhat more than the coordinator's own.
const TOKEN = /^[!-~]{16,512}$/;

/** What can be done: what is asked, what the button says, and what follows. */
const ACTIONS = {
  cancel: { verb: "Cancel run", ask: (run) => `Cancel ${run}?`,
    says: "It ends after the current step, and its weights are saved." },
  resume: { verb: "Resume run", ask: (run) => `Resume ${run}?`,
    says: "A new run continues from its latest checkpoint, with the same definition." },
  drain: { verb: "Drain", ask: (daemon) => `Drain daemon ${daemon}?`,
    says: "It accepts no new runs; its running run goes on." },
  undrain: { verb: "Bring back", ask: (daemon) => `Return daemon ${daemon} to service?`,
    says: "It accepts new runs again." },
};

/** Which of them a run or a daemon allows, by its state. */
const BY_STATE = {
  queued: ["cancel"], running: ["cancel"], failed: ["resume"], cancelled: ["resume"],
  ready: ["drain"], draining: ["undrain"],
};

export class Actions {
  constructor() {
    this.token = null;
    this.asked = null; // {action, name}
    this.tokenDialog = byId("token");
    this.dialog = byId("confirm");
    byId("act").addEventListener("click", () => this.enterOrForget());
    byId("token-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.enter(byId("token-input").value.trim());
    });
    byId("token-leave").addEventListener("click", () => this.tokenDialog.close());
    this.tokenDialog.addEventListener("close", () => {
      // Told later: it may be open again by then, with another token in it.
      if (!this.tokenDialog.open) byId("token-input").value = "";
    });
    byId("confirm-leave").addEventListener("click", () => this.dialog.close());
    byId("confirm-do").addEventListener("click", () => this.act());
  }

  /** Buttons for a row of a table. */
  of(state, name) {
    return (Object.hasOwn(BY_STATE, state) ? BY_STATE[state] : []).map((action) => ({
      label: ACTIONS[action].verb, about: name, start: () => this.ask(action, name) }));
  }

  enterOrForget() {
    if (this.token !== null) {
      this.hold(null);
      return;
    }
    text(byId("token-said"), "");
    byId("token-input").value = "";
    this.tokenDialog.showModal();
  }

  async enter(token) {
    const said = TOKEN.test(token) ? await this.post("/api/token", token)
      : { refused: "A token has 16 to 512 letters and no blanks." };
    text(byId("token-said"), said.refused ?? "");
    if (said.refused !== undefined) return;
    this.hold(token);
    byId("token-input").value = ""; // Of this end it may never be told.
    this.tokenDialog.close();
  }

  hold(token) {
    this.token = token;
    document.body.dataset.acts = token === null ? "no" : "yes";
    text(byId("act"), token === null ? "Enter token" : "Forget token");
  }

  ask(action, name) {
    this.asked = { action, name };
    text(byId("confirm-title"), ACTIONS[action].ask(name));
    text(byId("confirm-text"), ACTIONS[action].says);
    text(byId("confirm-said"), "");
    text(byId("confirm-do"), ACTIONS[action].verb);
    byId("confirm-do").disabled = false;
    this.dialog.showModal();
  }

  async act() {
    const { action, name } = this.asked;
    byId("confirm-do").disabled = true;
    const said = await this.post(`/api/${action}/${encodeURIComponent(name)}`, this.token);
    if (this.asked.action !== action || this.asked.name !== name) return;
    byId("confirm-do").disabled = false;
    text(byId("confirm-said"), said.refused ?? "");
    if (said.refused === undefined) this.dialog.close();
  }

  /** {refused: why}, or {} if it is done. A token that is not the right one any
   * more is forgotten. */
  async post(path, token) {
    try {
      const answer = await fetch(path, { method: "POST", cache: "no-store",
        headers: { "Graphmill-Token": token ?? "" }, signal: AbortSignal.timeout(PATIENCE) });
      const said = (await answer.text()).trim().slice(0, 500);
      if (answer.ok) return {};
      if (answer.status !== 401) return { refused: said || `It answers ${answer.status}.` };
      this.hold(null);
      return { refused: "This is not the token for actions." };
    } catch {
      return { refused: "The coordinator does not answer; the action may still be done." };
    }
  }
}

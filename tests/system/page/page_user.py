"""What somebody does who has the page open."""

import json

CELLS = """(selector) => [...document.querySelectorAll(selector)].map((row) =>
    [...row.children].map((cell) => cell.textContent))"""


class PageUser:
    """Of whoever has a `browser`."""

    def texts(self, selector):
        return self.browser.evaluate(
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            ".map((one) => one.textContent)")

    def click(self, selector):
        self.browser.evaluate(
            f"document.querySelector({json.dumps(selector)}).click()")

    def enter(self, selector, value, event="input"):
        self.browser.evaluate(
            f"((one) => {{ one.value = {json.dumps(value)};"
            f" one.dispatchEvent(new Event({json.dumps(event)})); }})"
            f"(document.querySelector({json.dumps(selector)}))")

    def rows(self, selector):
        return self.browser.evaluate(f"({CELLS})({json.dumps(selector)})")

    def give_token(self, token):
        self.click("#act")
        self.browser.wait_for("document.getElementById('token').open")
        self.enter("#token-input", token)
        self.browser.evaluate(
            "document.getElementById('token-form').requestSubmit()")

    def buttons(self):
        """Those of tables that can be seen."""
        return self.browser.evaluate(
            "[...document.querySelectorAll('td.acts button')]"
            ".filter((one) => one.offsetParent !== null)"
            ".map((one) => one.getAttribute('aria-label'))")

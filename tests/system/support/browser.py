"""A headless Chromium, led by its DevTools protocol over a pair of pipes: it
needs no port, and ends when the pipes do."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE_SECONDS = 60


def chromium():
    """Its path, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One window with one page."""

    def __init__(self):
        self.errors = []  # What was said on the console, or thrown.
        self.unanswered = []  # What could not be loaded.
        self.last_id = 0
        self.unread = b""
        self.profile = tempfile.mkdtemp(prefix="graphmill-browser-")
        theirs_in, self.to = os.pipe()
        self.come, theirs_out = os.pipe()
        # It reads from descriptor 3 and writes to 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}',
             chromium(), "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--disable-extensions",
             "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--no-first-run", "--hide-scrollbars",
             "--no-proxy-server",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile}",
             "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.password = None
        self.session = None
        page = next(target for target in self.pages()
                    if target["type"] == "page")
        self.session = self.ask("Target.attachToTarget", flatten=True,
                                targetId=page["targetId"])["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.ask(f"{domain}.enable")

    def pages(self):
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            found = self.ask("Target.getTargets")["targetInfos"]
            if found or time.monotonic() > end:
                return found

    def close(self):
        for end in self.to, self.come:
            os.close(end)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    # -- the protocol

    def tell(self, method, **parameters):
        self.last_id += 1
        question = {"id": self.last_id, "method": method, "params": parameters}
        if self.session:
            question["sessionId"] = self.session
        os.write(self.to, json.dumps(question).encode() + b"\0")
        return self.last_id

    def ask(self, method, **parameters):
        number = self.tell(method, **parameters)
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = self.read(end)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def read(self, end):
        while b"\0" not in self.unread:
            left = end - time.monotonic()
            if left < 0 or not select.select([self.come], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            some = os.read(self.come, 1 << 20)
            if not some:
                raise RuntimeError("the browser has ended")
            self.unread += some
        message, _, self.unread = self.unread.partition(b"\0")
        return json.loads(message)

    def note(self, event):
        told = event.get("params", {})
        if event.get("method") == "Fetch.requestPaused":
            self.tell("Fetch.continueRequest", requestId=told["requestId"])
        elif event.get("method") == "Fetch.authRequired":
            self.tell("Fetch.continueWithAuth", requestId=told["requestId"],
                      authChallengeResponse={"response": "ProvideCredentials",
                                             "username": "anybody",
                                             "password": self.password})
        elif event.get("method") == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get(
                "description", details["text"]))
        elif (event.get("method") == "Runtime.consoleAPICalled"
              and told["type"] in ("error", "warning", "assert")):
            self.errors.append(" ".join(
                str(one.get("value", one.get("description")))
                for one in told["args"]))
        elif (event.get("method") == "Log.entryAdded"
              and told["entry"]["level"] in ("error", "warning")):
            entry = told["entry"]
            (self.unanswered if entry["source"] == "network" else self.errors
             ).append(f"{entry['text']} {entry.get('url', '')}")

    # -- what a user does

    def know(self, password):
        """What it enters where a server asks for a name and a password."""
        self.password = password
        self.ask("Fetch.enable", handleAuthRequests=True)

    def open(self, url):
        self.ask("Page.navigate", url=url)

    def leave(self):
        """The page, which asks for nothing any more."""
        self.open("about:blank")
        self.wait_for("location.href", "about:blank")

    def evaluate(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression,
                          returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_for(self, expression, what=None):
        """Until it is true, or `what`."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            found = self.evaluate(expression)
            if found == what or (what is None and found):
                return
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} is {found!r}, not {what!r}; "
                                   f"errors: {self.errors}")
            time.sleep(0.02)

    def look(self, width=1440, height=1000, dark=False, still=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width,
                 height=height, deviceScaleFactor=1, mobile=width < 500)
        self.ask("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion",
             "value": "reduce" if still else "no-preference"}])

    def press(self, key, code=None, text=None):
        names = {"Tab": 9, "Enter": 13, "Escape": 27, "Home": 36, "End": 35,
                 "ArrowLeft": 37, "ArrowRight": 39}
        text = "\r" if key == "Enter" else text
        common = {"key": key, "code": code or key,
                  "windowsVirtualKeyCode": names.get(key, 0)}
        self.ask("Input.dispatchKeyEvent", type="keyDown",
                 **({"text": text} if text else {}), **common)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **common)

    def picture(self, path, whole=True):
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(path, "wb") as out:
            out.write(base64.b64decode(shot["data"]))

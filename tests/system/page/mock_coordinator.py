"""A coordinator's side of HTTP that plays documents: it sends a tick when it is
told to, so that no test depends on time."""

import http.server
import json
import pathlib
import queue
import threading
import urllib.parse

from documents import FIGURES, NOW, SHARES

ROOT = pathlib.Path(__file__).resolve().parents[3]
FILES = ROOT / "actors" / "http" / "page"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
# By the name that each is served by: nothing else is, whatever is asked for.
SERVED = {path.relative_to(FILES).as_posix(): path for path in FILES.rglob("*")
          if path.suffix in TYPES}
POLICY = "default-src 'self'; frame-ancestors 'none'"  # As the coordinator's.


def past_of_actors(run, daemon, kind):
    """How the actors of a run's daemon were: each starved for a while."""
    alike = [actor for one in run["daemons"] if one["daemon"] == daemon
             for actor in one["actors"] if actor["kind"] == kind]
    rows = []
    for i in range(120):
        busy = 0.2 if 60 <= i < 72 else 0.9
        rows.append([NOW - 1200 + 10 * i, 10, "running", busy, 0.95 - busy, 0.0,
                     0.05, 0.0, i % 7])
    return {"fields": ["time", "seconds", "state", *SHARES, "queue"],
            "actors": [{**{name: actor[name] for name in
                           ("kind", "part", "rank", "peer")}, "rows": rows}
                       for actor in alike]}


class MockCoordinator:
    def __init__(self, scene):
        self.scene = scene
        self.serves = True
        self.streams = []
        self.has_stream = threading.Event()
        self.asked = []  # Paths, with their queries.
        self.token = "0123456789abcdef"
        self.posted = []  # Paths of actions that had it.
        self.logs = None  # The document of /api/logs; None: there is none.
        mock = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                mock.answer(self)

            def do_POST(self):
                mock.act(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever,
                                       kwargs={"poll_interval": 0.05})
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def close(self):
        self.drop()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    # -- what a test does

    def tick(self, history=None, since=None):
        """Tells all pages how it is. `since`: the first event to tell."""
        events = self.scene["events"].after(2 ** 62 if since is None else since)
        empty = {**self.scene["history"], "daemons": {}, "runs": {}}
        told = {"status": self.scene["status"], "history": history or empty,
                "events": events}
        for stream in list(self.streams):
            stream.put(told)

    def drop(self):
        """Nobody is answered any more."""
        self.serves = False
        for stream in list(self.streams):
            stream.put(None)

    # -- what it answers

    def answer(self, to):
        self.asked.append(to.path)
        parsed = urllib.parse.urlsplit(to.path)
        if not self.serves:
            to.close_connection = True
            to.connection.close()
            return
        try:
            if parsed.path == "/api/stream":
                self.stream(to)
            elif parsed.path.startswith(("/api/definitions/", "/api/metrics/")):
                self.run_file(to, parsed)
            elif parsed.path.startswith("/api/"):
                self.document(to, parsed)
            else:
                self.file(to, parsed.path)
        except OSError:
            pass  # The page has gone.

    def act(self, to):
        """As the coordinator does: its refusals are sentences."""
        status, said = 200, b"{}\n"
        if to.headers.get("Graphmill-Token") != self.token:
            status, said = 401, b"show the token for actions\n"
        elif to.path.startswith("/api/resume/"):
            status, said = 409, b"no step is left to train\n"
        else:
            self.posted.append(to.path)
        self.send(to, status, "text/plain", said)

    def send(self, to, status, kind, body):
        to.send_response(status)
        for name, value in (("Content-Type", kind),
                            ("Content-Length", str(len(body))),
                            ("Content-Security-Policy", POLICY),
                            ("X-Content-Type-Options", "nosniff")):
            to.send_header(name, value)
        to.end_headers()
        to.wfile.write(body)

    def file(self, to, path):
        name = "index.html" if path == "/" else path.removeprefix("/page/")
        found = SERVED.get(name)
        if name == "data/figures.js":
            self.send(to, 200, TYPES[".js"], "".join(
                f"export const {name} = {json.dumps(rows)};\n"
                for name, rows in FIGURES.items()).encode())
        elif found is None:
            self.send(to, 404, "text/plain", b"there is no such page\n")
        else:
            self.send(to, 200, TYPES[found.suffix], found.read_bytes())

    def run_file(self, to, parsed):
        """In pieces of a hundred bytes, so that there are several."""
        _, _, kind, run = parsed.path.split("/")
        text = self.scene.get(kind, {}).get(urllib.parse.unquote(run))
        if text is None:
            self.send(to, 404, "text/plain", b"there is no such run\n")
            return
        offset = int(urllib.parse.parse_qs(parsed.query).get("offset", ["0"])[0])
        piece = text.encode()[offset:]
        self.send(to, 200, "text/plain",
                  piece[:100] if kind == "metrics" else piece)

    def document(self, to, parsed):
        query = urllib.parse.parse_qs(parsed.query)
        since = int(query.get("since", ["0"])[0])
        scene, kind = self.scene, parsed.path.removeprefix("/api/")
        found = None
        if kind == "status":
            found = scene["status"]
        elif kind == "history":
            found = scene["history"] if since < scene["history"]["next"] else {
                **scene["history"], "daemons": {}, "runs": {}}
        elif kind == "actors":
            run, daemon, of_kind = (query[name][0]
                                    for name in ("run", "daemon", "kind"))
            found = past_of_actors(scene["runs"][run], daemon, of_kind)
        elif kind == "logs":
            found = self.logs
        elif kind == "events":
            found = scene["events"].after(since)
        elif kind == "runs":
            found = {"runs": scene["records"], "more": False}
        elif kind.startswith("runs/"):
            found = scene["runs"].get(
                urllib.parse.unquote(kind.removeprefix("runs/")))
        body = json.dumps(found).encode()
        if found is None:
            self.send(to, 404, "text/plain", b"there is no such run\n")
        else:
            self.send(to, 200, "application/json", body)

    def stream(self, to):
        told = queue.Queue()
        self.streams.append(told)
        self.has_stream.set()
        try:
            to.send_response(200)
            to.send_header("Content-Type", "text/event-stream")
            to.end_headers()
            to.wfile.flush()
            while (one := told.get()) is not None:
                place = f"{one['history']['next']}-{one['events']['next']}"
                to.wfile.write(f"id: {place}\nevent: tick\n"
                               f"data: {json.dumps(one)}\n\n".encode())
                to.wfile.flush()
        finally:
            self.streams.remove(told)

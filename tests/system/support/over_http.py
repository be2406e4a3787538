"""What daemons tell over HTTP, asked by Python's own client."""

import http.client
import re
import time

from clusters import PATIENCE_SECONDS

TOLD = {"the cluster": re.compile(r"web page at http://(\S+)/, metrics at"),
        "itself": re.compile(r"metrics of this daemon at http://(\S+)/")}


def get(address, path, method="GET", **headers):
    """Status and body. A server that is flooded may close a connection before
    it has answered; then it is asked again."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        connection = http.client.HTTPConnection(address,
                                                timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.02)
        finally:
            connection.close()


def told_at(daemon, of):
    """Where a daemon answers, as its log says."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        log = daemon.log.read_text()
        if told := TOLD[of].search(log):
            return told[1]
        assert time.monotonic() < deadline, log
        time.sleep(0.01)

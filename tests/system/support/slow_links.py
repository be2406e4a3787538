"""Proxies on the way to a daemon, which make it slow or change what is said."""

import asyncio
import contextlib
import itertools
import socket
import threading
import time

from clusters import Cluster, free_port


class Link:
    """Forwards connections to a port on loopback. What comes is held back, in
    each direction, by `delays` seconds: connections take them in turn, so what
    two of them carry gets out of order. `change` is called for what a caller
    says and returns what is forwarded. All connections can be made slower while
    they are on: by `latency`, in seconds in each direction, and by `rate`, in
    bytes per second of each connection and direction (0: no limit)."""

    def __init__(self, delays=(0,), change=lambda piece: piece):
        self.change = change
        self.delays = itertools.cycle(delays)
        self.latency = 0
        self.rate = 0
        self.connections = 0
        self.bytes = 0
        self.target = None  # Port; connections wait until it is set.
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.loop = asyncio.new_event_loop()
        self.over = asyncio.Event()
        self.thread = threading.Thread(
            target=lambda: self.loop.run_until_complete(self.serve()),
            daemon=True)
        self.thread.start()

    def close(self):
        self.loop.call_soon_threadsafe(self.over.set)
        self.thread.join()
        self.loop.close()

    async def serve(self):
        server = await asyncio.start_server(self.connected,
                                            sock=self.listener)
        await self.over.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def connected(self, reader, writer):
        self.connections += 1
        delay = next(self.delays)
        with contextlib.closing(writer), contextlib.suppress(OSError):
            # Nobody may listen there yet.
            onward = await asyncio.open_connection("127.0.0.1", self.target)
            with contextlib.closing(onward[1]):
                await asyncio.gather(
                    self.forward(reader, onward[1], delay, self.change),
                    self.forward(onward[0], writer, delay))

    async def forward(self, reader, writer, delay,
                      change=lambda piece: piece):
        """Copies until the end, each piece `delay` after it came."""
        pieces = asyncio.Queue()

        async def deliver():
            while True:
                due, piece = await pieces.get()
                await asyncio.sleep(max(0, due - time.monotonic()))
                if not piece:
                    break
                self.bytes += len(piece)
                writer.write(change(piece))
                await writer.drain()
                if self.rate:
                    await asyncio.sleep(len(piece) / self.rate)

        delivery = asyncio.create_task(deliver())
        with contextlib.suppress(OSError):
            while not delivery.done():
                piece = await reader.read(1 << 16)
                due = time.monotonic() + delay + self.latency
                await pieces.put((due, piece))
                if not piece:
                    break
        with contextlib.suppress(OSError):
            await delivery
        writer.close()


# Seconds that a connection takes in each direction; 50 ms on average.
DELAYS = (0.05, 0.03, 0.07)


class SlowCluster(Cluster):
    """Daemons that reach each other by slow links alone: without a key, or else
    data would take the local sockets of the machine."""

    def __init__(self, *arguments):
        self.links = []
        super().__init__(*arguments, "--insecure")

    def add(self, share):
        link = Link(DELAYS)
        self.links.append(link)
        link.target = free_port()
        return super().add(share, "--advertise", f"127.0.0.1:{link.port}",
                           listen=f"tcp://127.0.0.1:{link.target}")

    def __exit__(self, *_):
        super().__exit__()
        for link in self.links:
            link.close()


class LinkedCluster(Cluster):
    """Daemons that reach d1 by `link` alone; it is as fast as any until it is
    told otherwise. Without a key, as a `SlowCluster`."""

    def __init__(self, *arguments):
        self.link = Link()
        super().__init__(*arguments, "--insecure")

    def add(self, share):
        if len(self.daemons) != 1:
            return super().add(share)
        self.link.target = free_port()
        return super().add(share, "--advertise", f"127.0.0.1:{self.link.port}",
                           listen=f"tcp://127.0.0.1:{self.link.target}")

    def __exit__(self, *_):
        super().__exit__()
        self.link.close()

"""Programs on a terminal that goes away."""

import fcntl
import os
import pty
import select
import subprocess
import termios
import threading


class Terminal:
    """A pseudo-terminal. A program started on it has it as its controlling
    terminal, and is the leader of its session."""

    def __init__(self):
        self.user, self.screen = pty.openpty()
        self.gone = threading.Event()
        self.output = b""
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def start(self, arguments, **more):
        return subprocess.Popen(
            arguments, stdin=self.screen, stdout=self.screen,
            stderr=self.screen, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **more)

    def read(self):
        """Takes what is printed, so that nobody waits for the screen."""
        while not self.gone.is_set():
            if select.select([self.user], [], [], 0.02)[0]:
                try:
                    self.output += os.read(self.user, 65536)
                except OSError:
                    return  # Nobody has it open.

    def close(self):
        """The window is closed: the kernel hangs up, and what is printed from
        now on is an error."""
        if not self.gone.is_set():
            self.gone.set()
            self.reader.join()
            os.close(self.screen)
            os.close(self.user)

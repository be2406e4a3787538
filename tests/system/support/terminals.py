"""Programs on a terminal, which may go away."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import threading
import time

# Characters that a terminal obeys, as far as progress and tables use them.
OBEYED = re.compile(r"\x1b\[K|.", re.DOTALL)


def lines_shown(output, columns):
    """The lines that a terminal of so many columns ends up with, that it has
    scrolled away included."""
    lines = [[]]
    column = 0
    for sign in OBEYED.findall(output.decode()):
        if sign == "\r":
            column = 0
        elif sign == "\n":
            lines.append([])
        elif sign == "\x1b[K":
            del lines[-1][column:]
        else:
            if column == columns:
                lines.append([])
                column = 0
            lines[-1][column:column + 1] = sign
            column += 1
    return ["".join(line).rstrip() for line in lines]


class Terminal:
    """A pseudo-terminal. A program started on it has it as its controlling
    terminal, and is the leader of its session."""

    def __init__(self, rows=24, columns=80):
        self.user, self.screen = pty.openpty()
        fcntl.ioctl(self.user, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))
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

    def await_output(self, process, timeout):
        """Returns once a program has printed something."""
        deadline = time.monotonic() + timeout
        while not self.output:
            assert process.poll() is None, process.returncode
            assert time.monotonic() < deadline, "nothing is printed"
            self.reader.join(0.02)

    def run(self, arguments, timeout):
        """Has a program run to its end; returns its exit code and all that it
        has printed."""
        code = self.start(arguments).wait(timeout)
        end = b"<end of the program>"
        os.write(self.screen, end)  # Comes after what it has printed.
        while not self.output.endswith(end):
            self.reader.join(0.02)
            assert self.reader.is_alive()
        return code, self.output.removesuffix(end)

    def close(self):
        """The window is closed: the kernel hangs up, and what is printed from
        now on is an error."""
        if not self.gone.is_set():
            self.gone.set()
            self.reader.join()
            os.close(self.screen)
            os.close(self.user)

"""What stands on a terminal that programs draw on."""

import re

# Of what ncurses sends to a VT100: sequences, then characters.
SIGNS = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|\x1b[()][0-9A-Z]|\x1b([=>78M])"
                   r"|([^\x1b])", re.DOTALL)
TAB = 8


class Screen:
    """The cells of a VT100 after what it was sent. What it does not know is a
    ValueError: a screen that is guessed proves nothing."""

    def __init__(self, rows, columns):
        self.rows = rows
        self.columns = columns
        self.cells = [[" "] * columns for _ in range(rows)]
        self.row = 0
        self.column = 0
        self.saved = 0, 0
        self.first, self.last = 0, rows - 1  # The rows that scroll.

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]

    def take(self, output):
        """@param output All bytes so far, of which the last may be a part of a
        sequence or character only."""
        text = output.decode(errors="replace")
        for found in SIGNS.finditer(text):
            numbers, letter, other, sign = found.groups()
            if letter:
                self.obey(letter, numbers)
            elif other == "7":
                self.saved = self.row, self.column
            elif other == "8":
                self.move(*self.saved)
            elif other == "M":
                self.step_up()
            elif sign:
                self.show(sign)
        return self

    def move(self, row, column):
        self.row = min(max(row, 0), self.rows - 1)
        self.column = min(max(column, 0), self.columns - 1)

    def obey(self, letter, numbers):
        if letter in "mhl":
            return  # Looks, and modes.
        given = [int(one or 0) for one in numbers.split(";")]
        many = max(given[0], 1)
        if letter == "H":
            self.move(many - 1, max(given[-1], 1) - 1 if len(given) > 1 else 0)
        elif letter in "ABCD":
            self.move(self.row + {"A": -many, "B": many}.get(letter, 0),
                      self.column + {"C": many, "D": -many}.get(letter, 0))
        elif letter == "r" and len(given) in (1, 2):
            self.first = max(given[0] - 1, 0)
            self.last = (given[1] if len(given) > 1 else self.rows) - 1
            self.move(0, 0)
        elif letter == "J" and given[0] == 0:
            self.clear(self.column, self.columns)
            for row in self.cells[self.row + 1:]:
                row[:] = [" "] * self.columns
        elif letter == "K" and given[0] in (0, 1):
            self.clear(*((self.column, self.columns) if given[0] == 0
                         else (0, self.column + 1)))
        else:
            raise ValueError(f"sequence {numbers}{letter}")

    def clear(self, begin, end):
        end = min(end, self.columns)
        self.cells[self.row][begin:end] = [" "] * (end - begin)

    def step_up(self):
        if self.row == self.first:
            del self.cells[self.last]
            self.cells.insert(self.first, [" "] * self.columns)
        else:
            self.move(self.row - 1, self.column)

    def step_down(self):
        if self.row == self.last:
            del self.cells[self.first]
            self.cells.insert(self.last, [" "] * self.columns)
        else:
            self.move(self.row + 1, self.column)

    def show(self, sign):
        if sign == "\r":
            self.column = 0
        elif sign == "\n":
            self.step_down()
        elif sign == "\b":
            self.move(self.row, self.column - 1)
        elif sign == "\t":
            self.move(self.row, (self.column // TAB + 1) * TAB)
        elif sign >= " ":
            if self.column == self.columns:  # The cursor waits behind the last.
                self.column = 0
                self.step_down()
            self.cells[self.row][self.column] = sign
            self.column += 1

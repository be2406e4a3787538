"""Completion and the manual page, made of the commands that there are: in the
shells themselves, and by the programs that check manual pages."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from command_tree import command_tree
from support import graphmill, program
from terminals import Terminal

# What is typed, and the word that it becomes.
TYPED = {
    "graphmill trai": "train",
    "graphmill --help trai": "train",
    "graphmill import wor": "wordnet",
    "graphmill import csv --undir": "--undirected",
    "graphmill evaluate --split v": "validation",
    "graphmill evaluate --split test --neigh": "--neighbours",
    "graphmill completion f": "fish",
}
BASH = """
source "$1"
complete -p graphmill >&2
while read -r -a COMP_WORDS; do
  [[ ${COMP_WORDS[-1]} == '""' ]] && COMP_WORDS[-1]=
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _graphmill
  echo "${COMPREPLY[*]}"
done
"""


class Completion(runs.Workplace):
    def script(self, shell):
        if shell != "bash" and not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        done = graphmill("completion", shell)
        self.assertEqual(done.returncode, 0, done.stderr)
        path = self.top / f"graphmill.{shell}"
        path.write_text(done.stdout)
        return path

    def in_bash(self, lines):
        """What bash offers at the end of each line; \"\" is an empty word."""
        done = subprocess.run(
            ["bash", "-c", BASH, "bash", self.script("bash")],
            input="".join(line + "\n" for line in lines), text=True,
            capture_output=True, timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("-F _graphmill graphmill", done.stderr)
        return [line.split() for line in done.stdout.split("\n")[:-1]]

    def test_bash(self):
        self.assertEqual(self.in_bash(TYPED), [[word] for word in
                                               TYPED.values()])
        # Bash has the sign = as a word of its own.
        self.assertEqual(self.in_bash(["graphmill evaluate --split =",
                                       "graphmill evaluate --split = tr"]),
                         [["train", "validation", "test"], ["train"]])
        # Names of files are left to bash.
        self.assertEqual(self.in_bash(["graphmill train ex",
                                       "graphmill train --data ex"]), [[], []])

    def test_all_commands_and_options(self):
        tree = command_tree()
        asked = []
        for words, there in tree.items():
            line = " ".join(("graphmill", *words))
            asked += [line + ' ""', line + " -"]
            asked += [f'{line} {option} ""' for option in there["choices"]]
        offered = iter(self.in_bash(asked))
        for words, there in tree.items():
            if words == ("completion",):
                there = {**there, "commands": ["bash", "zsh", "fish"]}
            self.assertEqual(next(offered), there["commands"], words)
            self.assertEqual(next(offered), there["options"], words)
            for option, values in there["choices"].items():
                self.assertEqual(next(offered), values, (words, option))

    def test_fish(self):
        script = self.script("fish")
        home = {**os.environ, "HOME": str(self.top)}
        for line, word in TYPED.items():
            done = subprocess.run(
                ["fish", "--no-config", "-c",
                 'source $argv[1]; complete -C "$argv[2]"', script, line],
                env=home, text=True, capture_output=True,
                timeout=runs.PATIENCE_SECONDS)
            self.assertEqual(done.stderr, "", line)
            self.assertEqual([offer.split("\t")[0] for offer in
                              done.stdout.splitlines()], [word], line)

    def test_zsh(self):
        """In a terminal, for zsh completes nowhere else: behind a tab, a key
        prints the line as it is then."""
        script = self.script("zsh")
        start = self.top / "start.zsh"
        start.write_text(
            f"autoload -Uz compinit && compinit -u -D\nsource {script}\n"
            "unsetopt beep\nPS1=\n"
            'show() { print -r -- "<<$BUFFER>>"; BUFFER= }\n'
            "zle -N show\nbindkey '^T' show\n")
        terminal = Terminal()
        self.addCleanup(terminal.close)
        process = terminal.start(
            ["zsh", "-f", "-i"], env={**os.environ, "TERM": "dumb",
                                      "HOME": str(self.top)})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def answer(keys, pattern):
            done = len(terminal.output)
            os.write(terminal.user, keys.encode())
            for _ in range(100 * runs.PATIENCE_SECONDS):
                found = re.search(pattern, terminal.output[done:])
                if found:
                    return found.group(1).decode()
                terminal.reader.join(0.01)
            self.fail(f"{keys!r}: {terminal.output[done:]}")
        answer(f"source {start}; print re''ady\n", rb"(ready)")
        for line, word in TYPED.items():
            shown = answer(line + "\t\x14", rb"<<(.*?)>>")
            # zsh offers --split= for an option with a value.
            self.assertEqual(shown.rstrip(" ="),
                             line.rpartition(" ")[0] + " " + word)


class Manual(runs.Workplace):
    def page(self):
        done = graphmill("manual")
        self.assertEqual(done.returncode, 0, done.stderr)
        path = self.top / "graphmill.1"
        path.write_text(done.stdout)
        return path

    def test_has_everything(self):
        text = self.page().read_text().replace("\\-", "-")
        for words, there in command_tree().items():
            if words and not there["commands"]:
                self.assertIn("\n.SS graphmill " + " ".join(words) + "\n",
                              text)
            for option in there["options"]:
                if option not in ("--help", "-h", "--version"):
                    self.assertIn(f"\\fB{option}\\fR", text)
        fields = json.loads(graphmill("help", "definition", "--json").stdout)
        for field in fields:
            self.assertIn(f"\n\\fB{field['field']}\\fR\n", text)
        for name in ("EXIT STATUS", "SIGNALS", "ENVIRONMENT"):
            self.assertIn(f"\n.SH {name}\n", text)

    def test_man_has_nothing_to_warn_of(self):
        if not shutil.which("man") or not shutil.which("groff"):
            self.skipTest("man or groff is not installed")
        done = subprocess.run(
            ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z",
             self.page()], text=True, capture_output=True,
            env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"},
            timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")

    def test_mandoc_has_nothing_to_warn_of(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not installed")
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning",
                               self.page()], text=True, capture_output=True,
                              timeout=runs.PATIENCE_SECONDS)
        found = [line for line in done.stdout.splitlines()
                 if "missing date" not in line]  # It is made at each build.
        self.assertEqual(found, [])


if __name__ == "__main__":
    program()
    unittest.main()

"""The commands of the program and their options, as their help lists them."""

import functools
import re

from support import graphmill

OPTION = re.compile(r"^  (-\S+)", re.MULTILINE)
COMMAND = re.compile(r"^  ([a-z]\S*) ", re.MULTILINE)


def section(text, name):
    """The lines below a heading, to the next empty one."""
    found = re.search(rf"^{name}:\n(.*?)(?:\n\n|\Z)", text,
                      re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""


@functools.cache  # It takes a process for each command.
def command_tree(words=()):
    """Every command by its words: {("import", "csv"): {"options", "commands",
    "choices"}}, with the program itself at ()."""
    text = graphmill(*words, "--help").stdout
    options = section(text, "Options")
    commands = COMMAND.findall(section(text, "Subcommands"))
    tree = {tuple(words): {
        "options": [name for names in OPTION.findall(options)
                    for name in names.split(",")],
        "choices": {names.split(",")[-1]: choices.split(",")
                    for names, choices in re.findall(
                        r"^  (-\S+) \w+:\{(.*?)\}", options, re.MULTILINE)},
        "commands": commands}}
    for name in commands:
        tree.update(command_tree((*words, name)))
    return tree

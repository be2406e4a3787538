"""Writes the C++ source that makes the files of the web page a part of the
program: embed.py OUTPUT FILE..."""

import hashlib
import pathlib
import sys

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
PER_LINE = 64  # Bytes.
PAGE = pathlib.Path(__file__).resolve().parent


def letter(byte):
    """As a literal of C++ has it: what follows is never a part of an octal
    escape of three digits."""
    plain = 32 <= byte < 127 and byte not in b'"\\?'
    return chr(byte) if plain else f"\\{byte:03o}"


def literal(content):
    lines = ["".join(map(letter, content[at:at + PER_LINE]))
             for at in range(0, len(content), PER_LINE)]
    return "\n".join(f'    "{line}"' for line in lines or [""])


def name_of(path):
    """As the program serves it: with its folder in the page's own."""
    return path.resolve().relative_to(PAGE).as_posix()


def entry(path):
    content = path.read_bytes()
    kind = TYPES.get(path.suffix)
    if kind is None:
        sys.exit(f"{path}: no content type is known for '{path.suffix}'; "
                 "add it to TYPES in embed.py")
    digest = hashlib.sha256(content).hexdigest()[:32]
    return (f'  {{"{name_of(path)}", "{kind}", "{digest}",\n'
            f"   {{\n{literal(content)},\n    {len(content)}}}}},\n")


def main():
    output, *files = map(pathlib.Path, sys.argv[1:])
    entries = "".join(map(entry, sorted(files, key=name_of)))
    output.write_text(f"""\
#include "actors/http/api/page_files.hpp"

namespace graphmill {{

namespace {{

constexpr page_file embedded_files[] = {{
{entries}}};

}} // namespace

std::span<const page_file> page_files() {{ return embedded_files; }}

}} // namespace graphmill
""")


if __name__ == "__main__":
    main()

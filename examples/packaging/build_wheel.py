#!/usr/bin/env python3
"""Makes a wheel of the Python package with its programs and their libraries.

    python3 examples/packaging/build_wheel.py [BUILD [FOLDER]]

BUILD is a release build (default: build), in which the programs are built first.
The wheel comes into FOLDER (default: BUILD) and suits systems whose C library is
at least as new as here. It needs NumPy alone. Prints the path of the wheel.

A program finds its libraries by a path relative to itself, so it also runs where
Debian's packages are missing. Those of the C and C++ compiler are left out: every
system with Python has them.
"""

import base64
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = "graphmill", "graphmill-engine", "graphmill-feed"
OF_SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|resolv|"
                       r"stdc\+\+|gcc_s))\.so.*")


def run(*command, **options):
    return subprocess.run(list(map(str, command)), check=True, text=True,
                          stdout=subprocess.PIPE, **options).stdout


def libraries_of(program):
    """The libraries that a program loads, by name, but those of the system."""
    out = {}
    for line in run("ldd", program).splitlines():
        name, _, rest = line.strip().partition(" => ")
        if OF_SYSTEM.fullmatch(pathlib.Path(name.split()[0]).name):
            continue
        if not rest.startswith("/"):
            sys.exit(f"{program} needs {name}, which is not installed")
        out[name] = pathlib.Path(rest.split()[0]).resolve()
    return out


def fill(tree, build):
    """The package, its programs and their libraries."""
    package = tree / "graphmill"
    shutil.copytree(ROOT / "actors/python/graphmill", package,
                    ignore=shutil.ignore_patterns("__pycache__"))
    (package / "bin").mkdir()
    (package / "lib").mkdir()
    needed = {}
    for name in PROGRAMS:
        copy = package / "bin" / name
        shutil.copy2(build / "actors" / name, copy)
        needed.update(libraries_of(copy))
        run("patchelf", "--set-rpath", "$ORIGIN/../lib", copy)
        run("strip", copy)
    for name, source in needed.items():
        copy = package / "lib" / name
        shutil.copy2(source, copy)
        run("patchelf", "--set-rpath", "$ORIGIN", copy)


def describe(tree, version, tag):
    about = tree / f"graphmill-{version}.dist-info"
    about.mkdir()
    shutil.copy2(ROOT / "LICENSE", about / "LICENSE")
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: graphmill\nVersion: {version}\n"
        "Summary: Train graph neural networks on large graphs, with models of "
        "your own\nRequires-Python: >=3.9\nRequires-Dist: numpy>=1.20\n"
        "License-File: LICENSE\nDescription-Content-Type: text/markdown\n\n"
        + (ROOT / "README.md").read_text())
    (about / "WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: build_wheel.py\n"
        f"Root-Is-Purelib: false\nTag: {tag}\n")
    (about / "entry_points.txt").write_text(
        "[console_scripts]\ngraphmill = graphmill.__main__:main\n")
    return about


def pack(tree, about, wheel):
    """In a fixed order and without times, so that equal builds give equal files."""
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        def add(name, content, mode):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
        for path in sorted(tree.rglob("*")):
            if not path.is_file():
                continue
            name, content = str(path.relative_to(tree)), path.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
            record.append(f"{name},sha256={digest.decode().rstrip('=')},"
                          f"{len(content)}")
            add(name, content, 0o755 if path.stat().st_mode & 0o111 else 0o644)
        record.append(f"{about.name}/RECORD,,")
        add(f"{about.name}/RECORD", "\n".join(record) + "\n", 0o644)


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
    out = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else build
    missing = [name for name in ("patchelf", "strip", "ldd")
               if shutil.which(name) is None]
    if missing:
        sys.exit(f"install {', '.join(missing)} first (Debian: patchelf, binutils)")
    if len(sys.argv) > 3 or not (build / "build.ninja").is_file():
        sys.exit(__doc__.split("\n\n")[1].strip() + "\nBUILD must be a build folder "
                 "(meson setup build --buildtype=release)")
    run("ninja", "-C", build, *(f"actors/{name}" for name in PROGRAMS))
    version = json.loads(run("meson", "introspect", "--projectinfo",
                             build))["version"]
    libc = platform.libc_ver()[1].replace(".", "_")
    tag = f"py3-none-manylinux_{libc}_{platform.machine()}"
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"graphmill-{version}-{tag}.whl"
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch)
        fill(tree, build)
        pack(tree, describe(tree, version, tag), wheel)
    print(wheel)


if __name__ == "__main__":
    main()

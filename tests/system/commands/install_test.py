"""What `meson install` puts where, and that the installed program works."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from support import ROOT, SKIPPED, program

PLACES = {
    "bin": ["graphmill", "graphmill-engine", "graphmill-feed"],
    "share/man/man1": ["graphmill.1"],
    "share/bash-completion/completions": ["graphmill.bash"],
    "share/zsh/site-functions": ["_graphmill"],
    "share/fish/vendor_completions.d": ["graphmill.fish"],
    "lib/systemd/system": ["graphmill-node.service"],
    "lib/sysusers.d": ["graphmill.conf"],
}
# What a link of a page leads to, unless it is a place in the page itself.
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
PAGES = (".md", ".txt")


class Installed(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        build = pathlib.Path(program()).parents[1]
        done = subprocess.run(
            [shutil.which("meson"), "install", "-C", build, "--no-rebuild",
             "--quiet", "--destdir", cls.top], text=True, capture_output=True,
            timeout=runs.PATIENCE_SECONDS)
        assert done.returncode == 0, done.stdout + done.stderr
        found = list(cls.top.glob("**/bin/graphmill"))
        assert len(found) == 1, found
        cls.prefix = found[0].parents[1]
        cls.doc = cls.prefix / "share/doc/graphmill"

    def test_places(self):
        for folder, names in PLACES.items():
            there = sorted(path.name for path in
                           (self.prefix / folder).iterdir())
            self.assertEqual(there, sorted(names), folder)
        self.assertEqual(
            sorted(path.name for path in self.doc.iterdir()),
            ["CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md",
             "actors", "examples", "messages", "partition", "pipelines",
             "tests"])
        for name in ("wordnet.yaml", "to_graphmill.py",
                     "own_model.py", "cluster/statefulset.yaml"):
            self.assertEqual((self.doc / "examples" / name).read_bytes(),
                             (ROOT / "examples" / name).read_bytes())
        for name in ("meson.build", "packaging/build_deb.sh", "quickstart.sh"):
            self.assertFalse((self.doc / "examples" / name).exists(), name)

    def links(self, page):
        """Relative ones, as paths."""
        return [page.parent / target for target in
                LINK.findall(page.read_text()) if "://" not in target]

    def test_links_of_the_readme(self):
        links = self.links(self.doc / "README.md")
        self.assertGreater(len(links), 20)
        for path in links:
            self.assertTrue(path.exists(), path)

    def test_links_between_pages(self):
        """Those to sources lead nowhere, which the package does not have."""
        pages = [path for path in self.doc.rglob("*.md")]
        self.assertGreater(len(pages), 20)
        for page in pages:
            for path in self.links(page):
                if path.suffix in PAGES:
                    self.assertTrue(path.exists(), f"{page}: {path}")

    def test_the_readme_begins_with_a_way_for_packages(self):
        """Which the examples that it names are there for."""
        begin = (self.doc / "README.md").read_text().split("## Two commands")[0]
        named = re.findall(r"/usr/(share/doc/graphmill/\S+\.yaml)", begin)
        self.assertEqual(len(named), 1)
        self.assertTrue((self.prefix / named[0]).exists(), named)

    def test_the_page_of_packages_names_the_places(self):
        page = (ROOT / "examples/packaging/README.md").read_text()
        for folder, names in PLACES.items():
            self.assertIn(f"`{folder}/", page)
            if folder != "bin":
                for name in names:
                    self.assertIn(f"`{folder}/{name}`", page)

    def test_the_copyright_of_the_package_is_that_of_the_license(self):
        text = (ROOT / "examples/packaging/copyright").read_text()
        self.assertTrue(text.startswith("Format: https://www.debian.org/doc/"
                                        "packaging-manuals/copyright-format/"
                                        "1.0/\n"))
        self.assertIn("\nCopyright: 2026 The authors of Graphmill\n", text)
        licenses = set(re.findall(r"^License: (.*)$", text, re.MULTILINE))
        self.assertEqual(licenses, {"Apache-2.0"})
        begin = " ".join((ROOT / "LICENSE").read_text().split()[:4])
        self.assertEqual(begin, "Apache License Version 2.0,")

    def test_the_service_starts_what_is_installed(self):
        unit = (self.prefix
                / "lib/systemd/system/graphmill-node.service").read_text()
        prefix = "/" / self.prefix.relative_to(self.top)
        self.assertIn(f"\nExecStart={prefix}/bin/graphmill node ", unit)

    def test_the_service_has_few_rights(self):
        unit = (self.prefix
                / "lib/systemd/system/graphmill-node.service").read_text()
        for line in ("User=graphmill", "UMask=0077", "LimitCORE=0",
                     "NoNewPrivileges=true", "CapabilityBoundingSet=",
                     "ProtectSystem=strict", "ProtectHome=true",
                     "StateDirectoryMode=0700",
                     "SystemCallFilter=@system-service"):
            self.assertIn(f"\n{line}\n", unit)

    def test_containers_are_of_a_user_without_rights(self):
        image = (ROOT / "examples/packaging/Containerfile").read_text()
        self.assertRegex(image.split("FROM ")[-1], r"\nUSER [1-9]\d*\n")
        pods = (ROOT / "examples/cluster/statefulset.yaml").read_text()
        for line in ("runAsNonRoot: true", "allowPrivilegeEscalation: false",
                     "readOnlyRootFilesystem: true",
                     "capabilities: {drop: [ALL]}"):
            self.assertIn(line, pods)

    def test_programs_are_hardened(self):
        """They lie anywhere, their stacks are not run, and what the loader has
        looked up is not written again."""
        readelf = shutil.which("readelf")
        if not readelf:
            self.skipTest("readelf is not installed (Debian: binutils)")
        for name in PLACES["bin"]:
            said = subprocess.run(
                [readelf, "-hldW", self.prefix / "bin" / name], text=True,
                capture_output=True, check=True).stdout
            self.assertRegex(said, r"Type: +DYN ", name)
            self.assertRegex(said, r"\n +GNU_RELRO ", name)
            self.assertRegex(said, r"\(FLAGS\) +BIND_NOW", name)
            self.assertRegex(said, r"\n +GNU_STACK .* RW +0x", name)

    def test_it_works(self):
        """The program finds its engine, and what was made of its commands is
        what it would make now; but for defaults that depend on who asks."""
        made = {("manual",): "share/man/man1/graphmill.1"}
        for shell, place in (("bash", "bash-completion/completions/"
                                      "graphmill.bash"),
                             ("zsh", "zsh/site-functions/_graphmill"),
                             ("fish", "fish/vendor_completions.d/"
                                      "graphmill.fish")):
            made["completion", shell] = "share/" + place
        for words, place in made.items():
            done = subprocess.run(
                [self.prefix / "bin/graphmill", *words], text=True,
                capture_output=True, timeout=runs.PATIENCE_SECONDS,
                env={"HOME": "~"})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.prefix / place).read_text(), done.stdout)


if __name__ == "__main__":
    if not shutil.which("meson"):
        print("skipped: meson is not installed")
        sys.exit(SKIPPED)
    if not (pathlib.Path(program()).parents[1] / "meson-info").exists():
        print("skipped: the program does not lie in a build folder")
        sys.exit(SKIPPED)
    unittest.main()

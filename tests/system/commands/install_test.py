"""What `meson install` puts where, and that the installed program works."""

import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from support import ROOT, SKIPPED, program

PLACES = {
    "bin": ["graphmill", "graphmill-engine"],
    "share/man/man1": ["graphmill.1"],
    "share/bash-completion/completions": ["graphmill.bash"],
    "share/zsh/site-functions": ["_graphmill"],
    "share/fish/vendor_completions.d": ["graphmill.fish"],
    "lib/systemd/system": ["graphmill-node.service"],
    "lib/sysusers.d": ["graphmill.conf"],
}


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

    def test_places(self):
        for folder, names in PLACES.items():
            there = sorted(path.name for path in
                           (self.prefix / folder).iterdir())
            self.assertEqual(there, sorted(names), folder)
        doc = self.prefix / "share/doc/graphmill"
        self.assertEqual(sorted(path.name for path in doc.iterdir()),
                         ["LICENSE", "README.md", "SECURITY.md", "examples"])
        for name in ("wordnet.yaml", "to_graphmill.py",
                     "to_graphmill/__init__.py", "cluster/statefulset.yaml"):
            self.assertEqual((doc / "examples" / name).read_bytes(),
                             (ROOT / "examples" / name).read_bytes())
        for name in ("meson.build", "packaging", "quickstart.sh"):
            self.assertFalse((doc / "examples" / name).exists(), name)

    def test_the_page_of_packages_names_the_places(self):
        page = (ROOT / "examples/packaging/README.md").read_text()
        for folder, names in PLACES.items():
            self.assertIn(f"`{folder}/", page)
            if folder != "bin":
                for name in names:
                    self.assertIn(f"`{folder}/{name}`", page)

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

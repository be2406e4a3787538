"""Which kernels of OpenBLAS the program computes with."""

import pathlib
import re
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from support import graphmill, program

WITHOUT_AVX2 = {"Core2", "Generic", "Nehalem", "Penryn", "Prescott",
                "Sandybridge"}


class Kernels(unittest.TestCase):
    def chosen(self, **variables):
        """As OpenBLAS tells it, each time that it is loaded."""
        given = [f"{name}={value}" for name, value in variables.items()]
        done = graphmill("help", "definition", within=[
            "env", "--unset=OPENBLAS_CORETYPE", "OPENBLAS_VERBOSE=2", *given])
        self.assertEqual(done.returncode, 0, done.stderr)
        names = re.findall(r"^Core: (\w+)$", done.stderr, re.M)
        if not names:
            self.skipTest("BLAS is not OpenBLAS with kernels for several CPUs")
        return names

    def test_they_suit_the_cpu(self):
        """OpenBLAS takes the oldest ones for a CPU that it does not know."""
        flags = pathlib.Path("/proc/cpuinfo").read_text().split()
        if "avx2" not in flags or "fma" not in flags:
            self.skipTest("the CPU has no AVX2")
        self.assertNotIn(self.chosen()[-1], WITHOUT_AVX2)

    def test_users_choose(self):
        self.assertEqual(self.chosen(OPENBLAS_CORETYPE="Prescott"),
                         ["Prescott"])


if __name__ == "__main__":
    program()
    unittest.main()

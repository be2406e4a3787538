"""Kernels give the same bits for every instruction set that this CPU has.

usage: kernel_bits_test.py LEVEL PROGRAM [LEVEL PROGRAM]...
"""

import pathlib
import subprocess
import sys

NEEDS = {"x86-64": set(),
         "x86-64-v3": {"avx2", "fma", "bmi2"},
         "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq",
                       "avx512vl"}}


def flags():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.split(":", 1)[1].split())
    return set()


def main():
    have = flags()
    printed = {}
    for level, program in zip(sys.argv[1::2], sys.argv[2::2]):
        if NEEDS[level] <= have:
            printed[level] = subprocess.run(
                [program], check=True, capture_output=True, text=True,
                timeout=60).stdout
    for level, text in printed.items():
        print(f"{level}:\n{text}")
    sys.exit(len(set(printed.values())) != 1)


main()

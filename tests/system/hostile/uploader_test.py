"""Clients that upload what is made to do harm are refused soon, in little
memory; others are answered meanwhile, and a run goes on."""

import json
import pathlib
import struct
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from asker import Bystanders
from clusters import PATIENCE_SECONDS, Cluster
from runs import SMALL, partitioned, small_rmat
from support import program

# All that is read of fields; what is forged is put into it.
STATE = {"format_version": 1, "epoch": 1, "step": 0, "train_steps": 4,
         "best_validation": None, "since_best": 0, "loss_sum": 0.0,
         "correct": 0, "seeds": 0, "definition": "", "dataset_digest": "none",
         "data": "/nowhere", "world": 1, "parts": 1, "seconds": 0.0,
         "metrics": [], "tensor_digest": "DIGEST OF TENSORS"}
TENSORS = 200000
STATE_BYTES = 63 << 20
# Of what a coordinator may take more for the state; 3.2 GB before.
MOST_KILOBYTES = 1 << 20
# All that a host may have; see coordinator_limits.hpp.
BYTES_OF_HOST = 8 << 30


class Uploader(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = partitioned(small_rmat(cls.top / "rmat"), 1, "random")

    def cluster(self):
        made = Cluster(self.top / self.own_name, self.data, ["0"],
                       "--insecure")
        self.addCleanup(made.__exit__)
        return made

    def uploader(self, *arguments):
        """Starts one; returns it and the first that it says."""
        process = subprocess.Popen(
            [pathlib.Path(program()).parents[1]
             / "tests/system/hostile/uploader", *map(str, arguments)],
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.wait, PATIENCE_SECONDS)
        self.addCleanup(process.kill)
        return process, process.stdout.readline().strip()

    def check_refused(self, state, header, *fragments):
        """A checkpoint of these, while others ask and a run is on."""
        cluster = self.cluster()
        definition = self.write(SMALL, self.data)
        cluster.run(definition)
        tensors = struct.pack("<Q", len(header)) + header
        folder = self.top / f"{self.own_name}-forged"
        folder.mkdir()
        (folder / "tensors").write_bytes(tensors)
        (folder / "state").write_text(json.dumps(
            {**STATE, "tensor_bytes": len(tensors)},
            separators=(",", ":")).replace('"metrics":[]',
                                           f'"metrics":{state}'))
        used = self.most_used(cluster)
        with Bystanders(self, cluster, self.data):
            _, said = self.uploader("submit", cluster.coordinator, folder,
                                    definition)
        for fragment in ("the checkpoint that was uploaded is refused",
                         *fragments):
            self.assertIn(fragment, said)
        self.assertNotIn(str(cluster.folder), said)
        self.assertLess(self.most_used(cluster) - used, MOST_KILOBYTES)

    def most_used(self, cluster):
        """The most memory that the coordinator has had, in kilobytes."""
        pid = cluster.daemons[0].process.pid
        about = pathlib.Path(f"/proc/{pid}/status").read_text()
        return int(about.split("VmHWM:")[1].split()[0])

    def test_many_tensors(self):
        """Without values: eleven megabytes took minutes, and SIGTERM."""
        tensor = '{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
        header = "{" + ",".join(f'"{n}":{tensor}'
                                for n in range(TENSORS)) + "}"
        # Seven each, of brackets and commas: three and three, and one between.
        self.check_refused(
            "[]", header.encode(), "the header of tensors.safetensors is "
            f"broken: it has some {7 * TENSORS + 1} values; at most 1048576")

    def test_many_values(self):
        unit = '{"a":0}'
        count = STATE_BYTES // (len(unit) + 1)
        self.check_refused("[" + ",".join([unit] * count) + "]", b"{}",
                           "state.json is broken: it has some",
                           "values; at most")

    def test_room_that_is_held(self):
        """By one client of a host, who sends little of what it announces."""
        cluster = self.cluster()
        with Bystanders(self, cluster, self.data):
            holder, said = self.uploader("hold", cluster.coordinator,
                                         BYTES_OF_HOST)
            self.assertEqual(said, "taken")
            _, said = self.uploader("hold", cluster.coordinator, 1)
            self.assertIn(
                "others are uploading checkpoints from your host, and "
                f"all of a host may have {BYTES_OF_HOST} bytes", said)
        holder.communicate(timeout=PATIENCE_SECONDS)
        cluster.wait_until(
            lambda: self.uploader("hold", cluster.coordinator,
                                  BYTES_OF_HOST)[1] == "taken",
            "room of who has left")


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

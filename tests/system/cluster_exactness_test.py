"""What a cluster computes does not depend on its network, nor on how the seeds
fall to the trainers."""

import unittest

from cluster_test import DEFINITION, ClusterTest
from clusters import Cluster, free_port
from runs import merged
from slow_links import SlowLink
from support import program

# Seconds that a connection takes in each direction; 50 ms on average.
DELAYS = (0.05, 0.03, 0.07)


class SlowCluster(Cluster):
    """Daemons that reach each other by slow links alone."""

    def add(self, share):
        link = SlowLink(DELAYS)
        self.links = [*getattr(self, "links", []), link]
        link.target = free_port()
        return super().add(share, "--advertise", f"127.0.0.1:{link.port}",
                           listen=f"tcp://127.0.0.1:{link.target}")

    def __exit__(self, *_):
        super().__exit__()
        for link in self.links:
            link.close()


class SlowLinks(ClusterTest):
    def check(self, trainers, change):
        definition = merged(DEFINITION, {"trainer": {"replicas": trainers},
                                         "train": {"epochs": 1}})
        alone = self.train(definition, self.parts[4])
        cluster = SlowCluster(self.top / self.id().split(".")[-1],
                              self.parts[4], ["0,3", "1", "2"])
        self.addCleanup(cluster.__exit__)
        summary = cluster.run(
            self.write(merged(definition, change), self.parts[4]))
        self.assertEqual(summary["digest"], alone["digest"], cluster.logs())
        self.assertEqual(summary["test_accuracy"], alone["test_accuracy"])
        # All went by the links, control and data by connections of their own.
        for link in cluster.links:
            self.assertGreaterEqual(link.connections, 2)
        sent = sum(stage["bytes"] for stage in summary["stages"]
                   if stage["stage"] in ("wire: sampling sent",
                                         "wire: features sent"))
        self.assertGreater(sent, 0)
        self.assertGreater(sum(link.bytes for link in cluster.links), sent)

    def test_delays(self):
        self.check(1, {})

    def test_delays_and_replies_out_of_order(self):
        self.check(2, {"faults": {"reply_delay_ms": 40},
                       "sampler": {"replicas": 2}})


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

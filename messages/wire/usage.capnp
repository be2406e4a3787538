@0xe91d5c7a02b8f346;
# What a daemon's share of a run has used: told at its end, in `MemberReply` of
# run.capnp.
#
# Evolution: as in wire.capnp.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("graphmill::schema");

struct StageReport {
  stage @0 :Text;
  replicas @1 :UInt32;
  items @2 :UInt64;
  bytes @3 :UInt64;
  busySeconds @4 :Float64;
  cpuSeconds @5 :Float64;
  inputWaitSeconds @6 :Float64;
  creditWaitSeconds @7 :Float64;
  restarts @8 :UInt64;
  replyWaitSeconds @9 :Float64;
  # With a job, and waiting for the answers of others that it needs for that.
}

struct ItemCount {
  items @0 :UInt64;
  bytes @1 :UInt64;
}

struct DiskUse {
  # What came from disk.

  readers @0 :StageReport;
  # Items: rows that were read.
  rowsWanted @1 :UInt64;
  # By batches.
  rowsFound @2 :UInt64;
  # In the cache.
  rowsShared @3 :UInt64;
  # Came by a read that another one began.
  reads @4 :ItemCount;
}

struct WireUse {
  # What came over the wire from other daemons, in bytes of arrays.

  idsAsked @0 :ItemCount;
  # Requests, and the bytes of their ids.
  sampledNeighbours @1 :ItemCount;
  featureRows @2 :ItemCount;
  otherBytes @3 :UInt64;
  sampledBatches @4 :ItemCount;

  samplingSent @5 :ItemCount;
  # Whole messages that the daemon sent, by what they are about.
  featuresSent @6 :ItemCount;
  controlSent @7 :ItemCount;
}

struct CacheUse {
  filling @0 :ItemCount;
  # Rows, and the bytes that filling the cache took, both ways.
  kept @1 :ItemCount;
  # Rows, and their memory.
  found @2 :ItemCount;
  # Rows that were not asked for, and what they would have taken.
}

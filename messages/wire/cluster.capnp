@0xf0a4de5f1d9b7c33;
# The cluster: what daemons tell the coordinator of themselves, and what clients
# ask of it. Bodies of the methods `join`, `leave`, `status`, `submit`, `plan`,
# `runs`, `watch`, `cancel`, `drain`, `stop`, `fetch_file`, `members`, `chaos`,
# `upload`, `feed` and `feed_state`.
#
# Evolution: as in wire.capnp.

using Cxx = import "/capnp/c++.capnp";
using Definition = import "/messages/definition/definition.capnp".Definition;
$Cxx.namespace("graphmill::schema");

# -- daemons -------------------------------------------------------------------

struct JoinRequest {
  # From a daemon to the coordinator, when it starts and whenever the coordinator
  # is back. Name and address stand in its handshake. Refused, with a sentence,
  # when a living daemon has the name, or when the parts are of another dataset.

  dataset @0 :Text;
  datasetDigest @1 :Text;
  partDigests @2 :List(Text);
  # Of all parts, as the daemon's partitions.json has them.

  parts @3 :List(Int32);
  # That it serves.

  slots @4 :UInt32;
  # How many trainers it takes.

  host @5 :Text;

  cudaDevices @6 :UInt32;
  # That its trainers can compute on.

  fault @7 :Text;
  # Why its data cannot be used now; empty: they can. A daemon registers again
  # when that changes.

  arithmetic @8 :Text;
  # What computes its products of matrices: library, version, kernels.
  arithmeticDigest @9 :Text;
  # Of what that gives for fixed numbers. Trainers of one run have the same.

  chaos @10 :Bool;
  # It lets itself be troubled by `chaos`: started with --chaos-allowed.

  data @11 :Text;
  # The folder of its dataset, on its machine.
}

struct JoinReply {
  coordinator @0 :Text;
  # Its name.

  members @1 :List(KeyHolder);
  # As in `MembersUpdate`. Empty where keys have no roles.
}

struct MembersUpdate {
  # From the coordinator to a daemon, when the keys of daemons have changed, and
  # when the daemon is back. Keys have roles then. The answer is empty.

  members @0 :List(KeyHolder);
  # All daemons that the receiver lets in, and no others: not the coordinator,
  # whose key it has from its key file.
}

struct KeyHolder {
  role @0 :KeyRole;
  name @1 :Text;
  key @2 :Text;
  # Public, 40 letters of Z85. A name may have several, of which any will do.
}

enum KeyRole {
  unset @0;
  coordinator @1;
  daemon @2;
  client @3;
  reader @4;
}

# `leave` has no body; the answer is empty.

# -- status --------------------------------------------------------------------

struct StatusReply {
  coordinator @0 :Text;
  dataset @1 :Text;
  parts @2 :UInt32;
  daemons @3 :List(DaemonStatus);
  running @4 :Text;
  # Id of the run that is on; empty: none.

  queued @5 :List(Text);

  note @6 :Text;
  # What is wrong with the coordinator itself; empty: nothing.

  standIns @7 :List(Text);
  # Names of those who wait to follow the coordinator, as far as its folder of
  # runs tells.

  alsoRunning @8 :List(Text);
  # Ids of the runs that are on beside `running`, which began before them.
}

struct DaemonStatus {
  name @0 :Text;
  address @1 :Text;
  state @2 :DaemonState;
  parts @3 :List(Int32);
  slots @4 :UInt32;
  host @5 :Text;
  note @6 :Text;
  # Why it is lost or damaged.

  cudaDevices @7 :UInt32;

  chaos @8 :Bool;
  # As in `JoinRequest`.

  load @9 :DaemonLoad;
  # Null: it has told nothing in the last seconds.

  data @10 :Text;
  # As in `JoinRequest`.
}

struct DaemonLoad {
  # What a daemon's process takes, whatever runs are on; rates are those of about a second.
  cores @0 :Float64;
  # Processors in use.
  memoryBytes @1 :UInt64;
  # That it holds for itself.
  peakMemoryBytes @2 :UInt64;
  mappedBytes @3 :UInt64;
  # Pages of mapped files, which the system may take back.
  threads @4 :UInt32;
  descriptors @5 :UInt32;
  mostDescriptors @6 :UInt32;
  # That it may have open.
  diskReadPerSecond @7 :Float64;
  diskWrittenPerSecond @8 :Float64;
  sentPerSecond @9 :Float64;
  # Bytes of messages, as those that are received.
  receivedPerSecond @10 :Float64;

  further @11 :List(FurtherFigure);
  # Figures without a field here: pipelines/figures/figure_tables.hpp names them.
}

struct FurtherFigure {
  key @0 :Text;
  values @1 :Float64;
}

enum DaemonState {
  unset @0;
  ready @1;
  draining @2;
  # Takes nothing of new runs.
  lost @3;
  damaged @4;
  # Its data cannot be used: takes nothing of new runs.
}

# -- runs ----------------------------------------------------------------------

struct SubmitRequest {
  definition @0 :Definition;

  resume @1 :Text;
  # Of `submit`: the run of which the new one is to go on; empty: of none.
  checkpoint @2 :Text;
  # Its name; empty: the newest one that is whole.
  withChanges @3 :Bool;
  # The definition may be another one than that of the checkpoint.

  tensorboard @4 :Bool;
  # Of `submit`: the run folder gets curves for TensorBoard.

  uploaded @5 :Bool;
  # It goes on with what this client has sent by `upload`. Then `resume` and
  # `checkpoint` are empty.
}

struct SubmitReply {
  run @0 :Text;
}

# `feed` has the body of `submit`, with a definition alone, and its answer. The
# daemon that asks takes the batches of the run. It asks for `feed_state` until it
# knows how the run ends.

struct FeedStateRequest {
  run @0 :Text;
}

struct FeedStateReply {
  state @0 :RunState;
  message @1 :Text;
  # What it waits for, or why it is over.
  code @2 :UInt16;
  # Of a run that is over: why, as `FailureCode` of wire.capnp. 0: it is on, or
  # nothing went wrong.
}

struct PlanReply {
  # The answer to `plan`, whose body is a `SubmitRequest`.

  daemonOfPart @0 :List(Text);
  daemonOfRank @1 :List(Text);

  samplers @2 :List(Text);
  # Daemons that sample for the trainers of others; none: each trainer's daemon
  # samples for itself.

  replicasOfPart @3 :List(DaemonNames);
  # By part: daemons that serve it beside that of `daemonOfPart`.
}

struct DaemonNames {
  names @0 :List(Text);
}

struct RunsRequest {
  run @0 :Text;
  # Empty: a page of the list.
  limit @1 :UInt32;
  before @2 :Text;
  # The page begins with the runs older than this one; empty: with the latest.
}

struct RunsReply {
  runs @0 :List(RunRecord);
  # The latest first. As many as were asked for or as fit; at least one, if there
  # is one.

  more @1 :Bool;
  # There are older ones.
}

enum RunState {
  unset @0;
  queued @1;
  running @2;
  finished @3;
  failed @4;
  cancelled @5;
}

struct RunRecord {
  id @0 :Text;
  name @1 :Text;
  state @2 :RunState;
  submitted @3 :Int64;
  # Milliseconds since 1970; 0: not yet. So are the next two.
  started @4 :Int64;
  ended @5 :Int64;
  message @6 :Text;
  # Why it failed, or what it waits for in the queue.
  summary @7 :Text;
  # JSON, as `train --json` prints it; empty before the end. Of a list, and of a
  # run on so many daemons that a message could not hold it: without `stages` and
  # `daemons`.
}

struct WatchRequest {
  run @0 :Text;
  cursor @1 :UInt64;
  # Events before it are known.
  wait @2 :UInt32;
  # Milliseconds that the answer may wait for an event.
}

struct WatchReply {
  next @0 :UInt64;
  # The cursor of the next request.
  events @1 :List(RunNews);
  record @2 :RunRecord;
}

struct RunNews {
  union {
    none @0 :Void;
    metrics @1 :Text;
    # The end of a phase: JSON, a line of metrics.jsonl.
    progress @2 :Progress;
  }
}

struct Progress {
  label @0 :Text;
  done @1 :UInt64;
  total @2 :UInt64;
}

struct CancelRequest {
  run @0 :Text;
  now @1 :Bool;
  # Do not finish the step.
}

struct DaemonRequest {
  # Of `drain` and `stop`.

  name @0 :Text;
  # Of a daemon. Empty, for `stop`: the whole cluster.

  back @1 :Bool;
  # Of `drain`: take it into service again.
}

struct ChaosRequest {
  # Has a daemon do harm to itself, so that users see that runs survive it. From a
  # client to the coordinator, which hands it on to the daemon. The answer is
  # empty, and comes before the harm. Refused by daemons that do not allow it.

  daemon @0 :Text;
  # Its name.

  kind @1 :ChaosKind;

  at @2 :ChaosMoment;

  wait @3 :UInt32;
  # In milliseconds: how long the moment is waited for; then nothing happens. Not
  # 0 unless it is `atOnce`. At most 10 min.

  lasts @4 :UInt32;
  # Of `stop`, `delay` and `disk`, in milliseconds. At most 2 min.

  each @5 :UInt32;
  # Of `delay`: how long a message is held back, in milliseconds. At most 2 s.

  messages @6 :UInt32;
  # Of `corrupt`: how many. At most 1000.

  peer @7 :Text;
  # Of `delay` and `cut`: only what this daemon asks of that one. From a client a
  # name, to a daemon an address; empty: all connections, either way.
}

enum ChaosKind {
  unset @0;
  kill @1;
  # The process ends by SIGKILL.
  stop @2;
  # It is stopped by SIGSTOP, and goes on.
  delay @3;
  # Its messages leave late.
  cut @4;
  # Its connections end, and are made anew.
  corrupt @5;
  # Messages of data channels leave with an envelope that no receiver can read.
  disk @6;
  # What it writes to the folder of its runs fails with ENOSPC.
}

enum ChaosMoment {
  unset @0;
  atOnce @1;
  startUp @2;
  # A share of a run is being prepared.
  fillingCaches @3;
  midEpoch @4;
  # A step that is not an epoch's first, or a request for data.
  exchange @5;
  # Of gradients between daemons.
  checkpoint @6;
  # It is copied by a trainer, or half of it is written by the coordinator.
  epochEdge @7;
  evaluation @8;
  drain @9;
  # A share is told to end.
}

struct FileRequest {
  # A piece of a file of a run folder.

  run @0 :Text;
  file @1 :Text;
  # Empty: the list of files.
  offset @2 :UInt64;
  most @3 :UInt32;
  # Bytes of the piece; 0, or more than a message takes: as many as that.
}

struct FileReply {
  files @0 :List(Text);
  size @1 :UInt64;
  # Of the file now. The bulk frames hold its bytes from the offset on, as many
  # as one message takes; none before its end, if it cannot be read.
}

struct UploadRequest {
  # A piece of a file of a checkpoint that the client has. A client, which is an
  # incarnation, sends one checkpoint at a time, and `submit` says that a run
  # goes on with it. The answer is empty.

  file @0 :Text;
  # Its name in the folder of the checkpoint.
  size @1 :UInt64;
  # Of the file in all.
  offset @2 :UInt64;
  # Where the bytes of the bulk frames belong: behind those that were sent
  # before. They are 4 MiB, or the rest of the file. A file is sent once.
}

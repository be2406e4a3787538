@0xc3a54b2f3d0e6d91;
# A run on a cluster: what the coordinator, where the conductor of the run is,
# and the daemons that take part in it say to each other. Bodies of the methods
# `deploy`, `order`, `weights`, `run_event` and `rendezvous`.
#
# Life of a run. The coordinator places parts and ranks and sends every daemon
# the same `Deployment`, which names them all. When all have answered, it sends
# `MemberRequest`s: phases to begin, requests to the trainers, at last the end.
# Daemons send `RunEvents` to the coordinator in turn: one message at a time, the
# next one when the last is answered, so that none is lost and none overtakes.
#
# A run whose daemon is lost is deployed again, as its next attempt. Orders and
# events name the attempt that they are of, so that none which comes late is taken
# for one of the next. What trainers had by then, daemons that are ordered to
# `keep` hold on to; the coordinator asks what is `kept`, and fetches it.
#
# A daemon that does not know the run of a request answers `unavailable`. A
# coordinator that does not know the run of an event answers `notFound`; the
# daemon then ends its share of the run.
#
# Evolution: as in wire.capnp.

using Cxx = import "/capnp/c++.capnp";
using Definition = import "/messages/definition/definition.capnp".Definition;
using Usage = import "/messages/wire/usage.capnp";
using StageReport = Usage.StageReport; using ItemCount = Usage.ItemCount;
using DiskUse = Usage.DiskUse; using WireUse = Usage.WireUse; using CacheUse = Usage.CacheUse;
$Cxx.namespace("graphmill::schema");

enum RunPhase {
  unset @0;
  train @1;
  validation @2;
  test @3;
}

# -- deploy --------------------------------------------------------------------

struct Deployment {
  run @0 :Text;
  # Id of the run, unique in the cluster.

  definition @1 :Definition;

  datasetDigest @2 :Text;
  # Of the whole dataset, as its partitions.json has it.

  generation @3 :UInt32;
  # Of the trainer group: 0 in the first attempt of the run, one more in each that
  # follows, whose trainers meet under keys of their own. Not to be confused with
  # that of the coordinator.

  daemons @4 :List(Daemon);

  ownerOfPart @5 :List(UInt16);
  # By part: position in `daemons`.

  daemonOfRank @6 :List(UInt16);
  # By rank: position in `daemons`.

  you @7 :UInt16;
  # The receiver's position in `daemons`.

  coordinator @8 :Text;
  # Address for run events and for the rendezvous.

  samplers @9 :List(UInt16);
  # Positions in `daemons` of those that sample batches for all trainers, in the
  # order in which batches are dealt to them. None: each trainer's daemon samples
  # for itself.

  daemonKeys @10 :List(Text);
  # As many as `daemons`: the public key that each has shown to the coordinator.
  # Empty where keys have no roles.

  replicasOfPart @11 :List(PartReplicas);
  # By part: who serves it beside its daemon in `ownerOfPart`. Empty: nobody does.

  beside @12 :List(Text);
  # Ids of the other runs that are on, or wait for their next attempt. Shares of
  # all others, and what is kept of them, the daemon ends and forgets.

  runsAtOnce @13 :UInt32 = 1;
  # How many runs the coordinator may have on: each counts on as large a share of
  # a daemon's memory. 1 to 16.

  learnt @14 :LearntLabels;
  # Of a run that predicts with weights of another dataset, whose labels say what
  # its outputs are. Null: those of this one do.

  feed @15 :Bool;
  # It has no trainers: the daemon of its only rank takes the batches, and begins
  # passes by itself after an order to `begin`.
}

struct LearntLabels {
  # What the outputs of a model are.
  kind @0 :Text;
  # "classes", "multi_label" or "regression".
  type @1 :Text;
  # The node type that has them.
  count @2 :Int64;
  # How many classes, or labels or numbers of a node.
}

struct PartReplicas {
  daemons @0 :List(UInt16);
  # Positions in `daemons` of the deployment.
}

struct Daemon {
  name @0 :Text;
  address @1 :Text;
}

# The answer to a deployment is empty.

# -- order ---------------------------------------------------------------------

struct MemberRequest {
  run @0 :Text;

  union {
    none @1 :Void;
    begin @2 :BeginPhase;
    stop @3 :Void;
    # Stop after the step that is being reduced. Not answered by anything but
    # an empty reply; each rank that has stopped tells by an event.

    trainers @4 :TrainerAction;
    end @5 :Void;
    # Ends the receiver's share of the run. The reply has the stages.

    check @6 :Void;
    # Fails unless the receiver has a share of the run that is not over.

    finish @7 :Void;
    # As `end`, of a run that has succeeded: answered once the data that the
    # receiver's share has mapped are verified, which may take as long as it takes
    # to read them.

    load @8 :TensorPiece;
    # A piece of a tensor for `restore`; its values are in bulk frames, as in the
    # answer to `weights`. Pieces come in order, tensor after tensor.

    keep @10 :Void;
    # As `end`, of an attempt that is to be followed by another one: the receiver
    # keeps what its trainers have, for a while.

    kept @11 :Void;
    # Asks what the receiver has kept of the run, which need not be on there.
  }

  steps @9 :Int64;
  # Of `restore`: the training that the tensors have taken.

  attempt @12 :UInt32;
  # That the order is of, from 1. 0: of whichever is there.
}

struct Position {
  # Where a run stands between two training steps, and what it depends on from
  # there.

  epoch @0 :Int32;
  step @1 :Int64;
  # Of the epoch; so many are done.
  trainSteps @2 :Int64;
  # Over all epochs.

  validated @3 :Bool;
  bestValidation @4 :Float64;
  # Of the validations before the epoch, if there were any.
  sinceBest @5 :UInt32;

  lossSum @6 :Float64;
  # What the steps of the epoch gave so far, all ranks together.
  correct @7 :Int64;
  seeds @8 :Int64;

  average @9 :Float64;
  # Of the validations before the epoch, where `train.patience_window` averages
  # them.
  bestAverage @10 :Float64;
}

struct TensorPiece {
  tensor @0 :Tensor;
  offset @1 :UInt64;
  # In values; 0 begins the tensor.
}

struct BeginPhase {
  phase @0 :RunPhase;
  epoch @1 :Int32;
  steps @2 :Int64;
  learningRate @3 :Float64;
  firstStep @4 :Int64;
  # The step to begin with: those before it were done before the run was resumed.
  from @5 :Position;
  # Where the epoch that is on began, or was gone on with.
}

enum TrainerAction {
  unset @0;
  keepBest @1;
  restoreBest @2;
  snapshot @3;
  fillCache @4;
  # Choose the rows of the cache and fetch them. Answered, for every trainer,
  # once it is filled; at once if there is none to fill.
  digest @5;
  # Answered with the digests of the present weights.
  checkpoint @6;
  # Copy all that the next steps depend on: weights, moments of the optimizer,
  # best weights. May come within a phase. Answered for the trainer of the lowest
  # rank alone, with the steps that it has taken; `weights` brings the copy.
  restore @7;
  # Take over the tensors that `load` has brought, after `steps` of training.
  # Answered with digests.
}

struct MemberReply {
  trainers @0 :List(TrainerState);
  # Of a trainer action.

  tensors @1 :List(Tensor);
  # What the daemon has kept of the last snapshot, of its trainer of the lowest
  # rank: to be fetched by `weights`.

  stages @2 :List(StageReport);
  # Of the end.

  peakMemoryBytes @3 :UInt64;
  peakCreditBytes @4 :UInt64;
  oversizeBatches @5 :UInt64;
  retriedBatches @6 :UInt64;
  cpuSeconds @7 :Float64;

  failure @8 :Text;
  # Of `finish`: why the run is no success; empty: it is.

  disk @9 :DiskUse;
  # Of the end, as are the next two. Null: all was in memory.
  wire @10 :WireUse;
  cache @11 :CacheUse;
  # Of remote rows. Null: there was none.

  checked @12 :ItemCount;
  # Values of other daemons that these have proved, and the bytes of that. Null:
  # the definition wants nothing to be checked.

  distrusted @13 :List(Text);
  # Names of daemons that have sent what the dataset does not have.

  kept @14 :Position;
  # Of `kept`: what state `tensors` are, whose trainer `trainers` names. Null:
  # nothing is kept of the run.

  keptAttempt @15 :UInt32;
  # The attempt whose trainers had it. The number of these may have been another one
  # in the next attempt, and then so are its weights after the same step.
}

struct TrainerState {
  rank @0 :Int32;
  digest @1 :Text;
  steps @2 :Int64;
  # Of training that its weights have taken.
}

struct Tensor {
  name @0 :Text;
  shape @1 :List(Int64);
}

# -- weights -------------------------------------------------------------------

struct WeightsRequest {
  # A piece of a tensor of the last snapshot.

  run @0 :Text;
  tensor @1 :UInt32;
  offset @2 :UInt64;
  # In values.
  count @3 :UInt64;
  checkpoint @4 :Bool;
  # Of the last `checkpoint`, and not of the snapshot.
  kept @5 :Bool;
  # Of what is kept of the run for its next attempt.
}

# The answer has no body: its bulk frames hold the values, float32 one after the
# other, full frames first.

# -- run events ----------------------------------------------------------------

struct RunEvents {
  run @0 :Text;
  sequence @1 :UInt64;
  # Of this message, from 1; one that came before is not told again.

  steps @2 :List(StepDone);
  stopped @3 :List(Int32);
  # Ranks that have stopped as they were told.

  failure @4 :Text;
  # Not empty: the sender's share cannot go on, and why.

  failureCode @5 :UInt16;
  # As `FailureCode` of wire.capnp.

  sound @6 :Bool;
  # The data that the sender's share has mapped were verified, and are sound. Told
  # in a message of its own, whose sequence is 0, for it may be told again.

  attempt @7 :UInt32;
  # Of the run, that the sender has its share of, from 1. 0: not told.
}

struct StepDone {
  phase @0 :RunPhase;
  epoch @1 :Int32;
  step @2 :Int64;
  rank @3 :Int32;
  lossSum @4 :Float64;
  correct @5 :Int64;
  seeds @6 :Int64;
  # Labelled ones.

  originalSeeds @7 :List(Int64);
  # All of the rank, by their ids before partitioning; empty unless the definition
  # asks for records.

  outcomes @8 :Outcomes;
  # Of an evaluation. Null: not told.

  logits @9 :UInt32;
  # Of a run that predicts: how many there are of each of `originalSeeds`. They are
  # in the bulk frames of the message (Float32, seed by seed), behind the outcomes
  # of the step, if it has any. 0: none are told.
}

struct Outcomes {
  # What an evaluation made of the labelled seeds of a batch. The arrays are in
  # the bulk frames of the message, one step's behind the other's, as values of
  # four bytes each: `pairs` times a label, what was predicted, and how many seeds
  # had both; then the labels of `scored` seeds (Int32); then their scores
  # (Float32), seed by seed, one for each class. With `multiLabel` a pair is a
  # label and what became of it (0: absent, 1: wrongly predicted, 2: missed, 3:
  # rightly predicted), and the labels of a seed are bits, 32 to a value. With
  # `regression` there are no pairs, the labels of a seed are its values
  # (Float32), and scores are what was predicted.

  classes @0 :Int32;
  pairs @1 :UInt32;
  scored @2 :UInt32;

  multiLabel @3 :Bool;
  # Seeds may have several labels. `classes` is their number.

  regression @4 :Bool;
  # Labels are numbers. `classes` is how many a seed has.

  links @5 :Bool;
  # Seeds are links. `classes` is 1, and labels are 1 for an edge and 0 for a
  # pair of nodes that is none.

  destinationRanks @6 :UInt32;
  sourceRanks @7 :UInt32;
  # Of links: so many ranks follow in the bulk, behind the scores, ascending by
  # edge type and rank: for each four values (Int32), which are twice the rank
  # (the lower half, then the upper one), how many links have it, and the place
  # of their type among those of the task.

  tied @8 :Int64;
  # Of links: ranks that a tie has moved.

  groups @9 :UInt32;
  # Of links: so many ranks within groups follow in the bulk, behind those of
  # sources, ascending: for each four values (Int32), which are the size of the
  # group, how many links have the rank, and twice the rank (the lower half, then
  # the upper one).
}

# -- rendezvous ----------------------------------------------------------------

struct RendezvousRequest {
  # Keys by which the ranks of a group find each other. They live as long as the
  # run does.

  run @0 :Text;
  key @1 :Text;
  set @2 :Bool;
  # Set the value; else get it.

  value @3 :Data;
  wait @4 :UInt32;
  # Milliseconds that a get may wait for the key to be set.
}

struct RendezvousReply {
  found @0 :Bool;
  value @1 :Data;
}

@0xd2f1c70b6a5e8943;
# How the actors of a run are, as daemons tell the coordinator and the coordinator
# tells clients. Bodies of the methods `health_report` and `health`.
#
# Once a second a daemon with a share of a run sends a `DaemonHealth`, unless the one
# before has not been answered yet: then it is dropped, for the next one knows more.
# The answer is empty. It says what happened in a window of the last seconds.
#
# Evolution: as in wire.capnp.

using Cxx = import "/capnp/c++.capnp";
using FurtherFigure = import "/messages/wire/cluster.capnp".FurtherFigure;
using RunPhase = import "/messages/wire/run.capnp".RunPhase;
$Cxx.namespace("graphmill::schema");

enum ActorKind {
  unset @0;
  samplingService @1;
  sampler @2;
  batchProxy @3;
  # Workers that have batches sampled by other daemons.
  featureService @4;
  fetcher @5;
  batcher @6;
  trainer @7;
  gradientGroup @8;
  dispatcher @9;
  samplingProxy @10;
  # Stands for the sampling service of a part of another daemon.
  featureProxy @11;
  batchLink @12;
  # Requests for whole batches to another daemon.
  cacheFiller @13;
  conductor @14;
}

enum ActorState {
  unset @0;
  starting @1;
  running @2;
  starved @3;
  # Waits for input.
  stalled @4;
  # Waits for credit.
  waiting @5;
  # Waits for the answers of others.
  restarting @6;
  failed @7;
  stopped @8;
}

struct BatchPlace {
  # The batch that an actor works on.

  phase @0 :RunPhase;
  epoch @1 :Int32;
  step @2 :Int64;
  rank @3 :Int32;
}

struct ActorHealth {
  # Of an actor, or of a pool of workers that do the same.

  kind @0 :ActorKind;
  part @1 :Int32;
  # That it serves or asks for; -1: none.
  rank @2 :Int32;
  # Of a trainer; -1: none.
  peer @3 :Text;
  # The daemon that a proxy asks; empty: none.
  workers @4 :UInt32;
  state @5 :ActorState;
  # What most of the workers do now.
  inState @6 :Float64;
  # Seconds since when.
  why @7 :Text;
  # In words.
  batch @8 :BatchPlace;
  # Null: none yet.

  queue @9 :UInt64;
  # What waits for it.
  creditBatches @10 :UInt64;
  creditBytes @11 :UInt64;
  # Held by batches in flight: of a dispatcher. So are the next two.
  mostBatches @12 :UInt64;
  mostBytes @13 :UInt64;

  items @14 :UInt64;
  # So far.
  bytes @15 :UInt64;
  itemsPerSecond @16 :Float64;
  bytesPerSecond @17 :Float64;

  busy @18 :Float64;
  # Share of the window, over its workers, from 0 to 1; so are the next four.
  starved @19 :Float64;
  stalled @20 :Float64;
  waiting @21 :Float64;
  down @22 :Float64;
  # Without a worker: it has died, or has not begun.

  answers @23 :UInt64;
  # In the window.
  meanLatency @24 :Float64;
  # Seconds from request to answer; so are the quantiles, which are upper bounds that
  # lie a quarter above the true ones at the most.
  medianLatency @25 :Float64;
  p90Latency @26 :Float64;
  p99Latency @27 :Float64;

  restarts @28 :UInt64;
  # So far.
  recentRestarts @29 :UInt64;
  # In the window.
  lastError @30 :Text;

  peakBatches @31 :UInt64;
  peakBytes @32 :UInt64;
  # The most that creditBatches and creditBytes have been so far.
}

struct PeerHealth {
  # What goes between a daemon and another one for the sake of batches and gradients.

  name @0 :Text;
  requests @1 :UInt64;
  # For neighbours, rows and batches: of the daemon, answered in the window.
  meanRoundTrip @2 :Float64;
  # Seconds, with the time that the other end has needed for the answer.
  sentPerSecond @3 :Float64;
  # Bytes of requests and answers; so is the next one.
  receivedPerSecond @4 :Float64;
  askedPerSecond @5 :Float64;
  # Requests of the daemon to the other one, those with gradients among them.
  servedPerSecond @6 :Float64;
  # Requests of the other one to the daemon, the same.
  gradientsSentPerSecond @7 :Float64;
  # Bytes of sentPerSecond that are messages between ranks.
  gradientsReceivedPerSecond @8 :Float64;
  # Of receivedPerSecond, the same.
  state @9 :ActorState;
  # Of the connections: running; starting, before the first handshake; waiting, when the peer leaves
  # signs of life unanswered; restarting, when they are broken and tried again; failed, when it is lost;
  # stopped, when nobody wants them.
  inState @10 :Float64;
  # Seconds; of as much as is known.
  why @11 :Text;
  # They are not running.
}

struct DaemonHealth {
  daemon @0 :Text;
  run @1 :Text;
  # Empty: it tells of itself alone.
  window @2 :Float64;
  # Seconds that shares and rates are about.
  actors @3 :List(ActorHealth);
  leftOut @4 :UInt32;
  # Actors for which there was no room.
  peers @5 :List(PeerHealth);

  cores @6 :Float64;
  # Processors in use, on average.
  memoryBytes @7 :UInt64;
  # That the process holds for itself.
  peakMemoryBytes @8 :UInt64;
  cacheBytes @9 :UInt64;
  # Of that, for rows of other daemons.
  threads @10 :UInt32;
  descriptors @11 :UInt32;
  mostDescriptors @12 :UInt32;
  diskReadPerSecond @13 :Float64;
  # Bytes; so are the next three.
  diskWrittenPerSecond @14 :Float64;
  sentPerSecond @15 :Float64;
  receivedPerSecond @16 :Float64;

  cacheRowsWanted @17 :UInt64;
  # Rows of other daemons that batches needed so far, and those of them that were
  # in the row cache.
  cacheRowsFound @18 :UInt64;

  age @19 :Float64;
  # Seconds since the coordinator has heard this; 0 in a report.

  longWork @20 :List(Text);
  # Who has been at one piece of work for too long, or was until a minute ago, an actor
  # or a thread, each a sentence.

  answerBytes @21 :UInt64;
  # Of memoryBytes, for answers to other daemons, which have at most so many:
  mostAnswerBytes @22 :UInt64;

  diskCacheBytes @23 :UInt64;
  # Of memoryBytes, for rows of the daemon's own parts, where these are read from disk;
  # they have at most so many, or 0 where parts are mapped:
  mostDiskCacheBytes @24 :UInt64;
  diskRowsWanted @25 :UInt64;
  # Rows of these parts that were asked for so far, and those of them that were in that
  # cache.
  diskRowsFound @26 :UInt64;
  mappedBytes @27 :UInt64;
  # Beside memoryBytes: pages of mapped files that are in memory, those of parts and of
  # programs, which the system takes back when it needs room.

  cacheOfferBytes @28 :UInt64;
  # A `fetch.cache` that would have helped, where there is none; 0: that is not known, or
  # none would have.
  cacheOfferSpared @29 :Float64;
  # About which share of the rows asked for so far it would have spared, at most.

  further @30 :List(FurtherFigure);
  # As in `DaemonLoad`.
}

struct RunProgress {
  phase @0 :RunPhase;
  epoch @1 :Int32;
  # From 0.
  epochs @2 :Int32;
  step @3 :Int64;
  # Done in the phase.
  steps @4 :Int64;
  loss @5 :Float64;
  # Of the last training epoch that is over; of one that takes longer than 10 to 20 s,
  # of its steps in the last 10 to 20 s; of the first one, from its first step on.
  # NaN: nothing is known yet.
  learningRate @6 :Float64;
  seedsPerSecond @7 :Float64;
  # Of training: in the last 10 to 20 s of the epoch that is on, or was last; 0:
  # not known yet.
  secondsLeft @8 :Float64;
  # Until all epochs, or all of `train.max_steps`, are trained at this pace; -1:
  # not known yet.
  checkpointAge @9 :Float64;
  # Seconds since the last one; -1: none.
  work @10 :Text;
  # Of a run that trains nothing, such as "evaluate test"; else empty.
}

struct Verdict {
  limit @0 :Text;
  # What limits the run, in a word or two; empty: nothing can be said yet.
  sentence @1 :Text;
  evidence @2 :List(Text);
}

struct HealthRequest {
  run @0 :Text;
  # Empty: the one that is on.
  daemon @1 :Text;
  # Empty: all daemons.
}

struct RunHealth {
  # The answer to `health`.

  run @0 :Text;
  progress @1 :RunProgress;
  # Null: no phase has begun.
  daemons @2 :List(DaemonHealth);
  silent @3 :List(Text);
  # Daemons of the run of which nothing has been heard for some seconds.
  verdict @4 :Verdict;
  leftOut @5 :UInt32;
  # Daemons for which there was no room: ask for them by name.
  attempt @6 :UInt32;
  # Of the run, from 1; 0: not known.
  trainers @7 :UInt32;
  # Of this attempt.
}

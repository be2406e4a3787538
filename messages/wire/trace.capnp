@0xc1a7e94d3b60f528;
# What the actors of a run did, one thing after the other: bodies of the methods
# `trace`, which clients ask of the coordinator, and `spans`, which the coordinator
# asks of daemons. Both have the same bodies.
#
# A daemon keeps the last spans of its latest share of a run in a ring, and numbers
# them from 0. Whoever wants all of them asks again from `next` on, until there is no
# `more`. Times are nanoseconds of the clock of the daemon that tells them, which
# begins anywhere; by `asked` to `answered`, clocks can be compared.
#
# Evolution: as in wire.capnp.

using Cxx = import "/capnp/c++.capnp";
using ActorKind = import "/messages/wire/health.capnp".ActorKind;
using ActorState = import "/messages/wire/health.capnp".ActorState;
using BatchPlace = import "/messages/wire/health.capnp".BatchPlace;
$Cxx.namespace("graphmill::schema");

struct TraceRequest {
  run @0 :Text;

  daemon @1 :Text;
  # Whose spans; empty: the answer names the daemons that can be asked.

  from @2 :UInt64;
  # The number of the first span wanted. Beyond the last one: none of those that
  # there are.

  most @3 :UInt32;
  # So many at most; 0: none, to compare clocks. Such an answer has no actors either.
}

struct TraceReply {
  run @0 :Text;
  daemon @1 :Text;

  daemons @2 :List(Text);
  # If none was named: those of the cluster that are not lost.

  asked @3 :Int64;
  # By the coordinator's clock, with `most` of 0: when it asked the daemon. Else 0.
  came @4 :Int64;
  # By the daemon's clock: when that came.
  left @5 :Int64;
  # When the answer left.
  answered @6 :Int64;
  # By the coordinator's clock: when it had it.

  over @7 :Bool;
  # The daemon's share of the run has ended.

  first @8 :UInt64;
  # The number of the first span that was still there.
  next @9 :UInt64;
  # One more than that of the last one that is told.
  more @10 :Bool;
  # There are more of them by now.

  actors @11 :List(TraceActor);
  spans @12 :List(TraceSpan);
  # In the order in which they ended; so are the requests.
  requests @13 :List(TraceCall);

  now @14 :List(TraceSpan);
  # Without `more`: the states that workers are in, whose end is the time of this
  # answer.

  attempt @15 :UInt32;
  # Of the run, that the share is of: numbers and actors are others in each.
}

struct TraceActor {
  # Or a pool of workers that do the same, as in `ActorHealth`.

  kind @0 :ActorKind;
  part @1 :Int32;
  rank @2 :Int32;
  peer @3 :Text;
  workers @4 :UInt32;
}

struct TraceSpan {
  # A worker was in a state.

  actor @0 :UInt32;
  # Its place in `actors`.
  worker @1 :UInt32;
  # From 0.
  state @2 :ActorState;
  begin @3 :Int64;
  end @4 :Int64;

  batch @5 :BatchPlace;
  # That it worked on; null: on none.
}

struct TraceCall {
  # An actor asked others for something and got it. Several may be under way.

  actor @0 :UInt32;
  begin @1 :Int64;
  end @2 :Int64;
  bytes @3 :UInt64;
  # Of the answer.
}

@0xa8562da770f6422e;
# What daemons and clients of a cluster say to each other: the envelope of every
# message, and the handshake that opens every connection. How peers behave (two
# connections, liveness, retries, limits, what a malformed message costs, how the
# protocol grows) stands in messages/wire-protocol.md.
#
# Roles. The one who connected is the *caller*, the other the *server*. A caller
# sends requests and beats; a server only answers, on the connection that the
# question came from.
#
# A message is a sequence of frames of at most 1 MiB each:
#     envelope   an `Envelope`
#     body       one struct per method; may be empty
#     bulk ...   arrays, described in the body; any number up to 64
# Envelope and body are Cap'n Proto messages in the standard stream framing,
# unpacked; bulk frames are raw bytes, little-endian.
#
# Evolution. The schema only grows: append fields with larger ordinals; never
# change a type, an ordinal or the meaning of a value; a retired field keeps its
# slot as `obsoleteN`. Value 0 of an enumeration is `unset`: nobody sends it. A
# change that an older receiver must not misunderstand raises `protocolVersion`.
# The ordinals 0 to 3 of `Envelope` mean the same in every version, so that a
# mismatch can be told in a sentence.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("graphmill::schema");

using RequestId = UInt64;
# Chosen by the caller, from 1 upwards, never used twice by one incarnation. A
# retry has the id of the first attempt: (incarnation, id) names a request for as
# long as both sides live.

using Milliseconds = UInt32;

const protocolVersion :UInt16 = 5;
# The version that this schema describes. 2 and 3: the words that ranks tell each other
# of a step, and those of its outcomes, which are no messages of a schema, have grown.
# 4: requests of neighbours say by which method and of which times these are; an older
# owner would draw others. 5: definitions say which edges batches have among their
# nodes; an older daemon would take others.

const oldestVersion :UInt16 = 5;
# The oldest one that is still understood.

# -- envelope ------------------------------------------------------------------

struct Envelope {
  version @0 :UInt16;
  # The sender's `protocolVersion`. A receiver refuses newer ones than its own,
  # and older ones than its `oldestVersion`, with `versionMismatch`.

  kind @1 :Kind;

  id @2 :RequestId;
  # Of the request, and of the reply to it. 0 in handshakes, beats and farewells.

  method @3 :Method;
  # Of the request, repeated in the reply.

  attempt @4 :UInt16;
  # From 1; the reply repeats the attempt that it was made for.

  timeLeft @5 :Milliseconds;
  # In a request: how long the caller will wait for the answer, all attempts
  # together, from when it sent this one. A server may drop work that is late.

  failure @6 :Failure;
  # In a reply: set if the request failed. The body is empty then.

  obsolete7 @7 :Readiness;
  # Was `readiness`: of the sender, in beats. Nobody has ever acted on it.

  retryAfter @8 :Milliseconds;
  # In a reply that failed: nothing was done, for the server has too much under
  # way. The caller asks again, not before that long and later each time, as
  # long as the request has time left. 0: asking again is up to whoever asked.
}

enum Kind {
  unset @0;
  request @1;
  # From a caller.
  reply @2;
  # From a server, to one request.
  beat @3;
  # From a caller that has sent nothing for a while; the server sends one back.
  # Any message counts as a beat.
  stranger @4;
  # From a server that got a request or a beat on a connection without handshake
  # (it has been restarted, or has forgotten a silent caller). The caller shakes
  # hands again and repeats what is outstanding.
  farewell @5;
  # From a caller that closes its connections for good. Not answered.
}

enum Method {
  # A request's purpose. Bodies are structs of the other schemas of this folder;
  # wire-protocol.md says which method has which.
  unset @0;
  hello @1;
  # The handshake, first on every connection. Body both ways: `Hello`.
  beat @2;
  # No request: names beats in statistics.
  join @3;
  leave @4;
  deploy @5;
  obsolete6 @6;
  # Was `startRun`.
  runEvent @7;
  order @8;
  sample @9;
  gather @10;
  rendezvous @11;
  submit @12;
  status @13;
  runs @14;
  obsolete15 @15;
  # Was `logs`.
  cancel @16;
  drain @17;
  stop @18;
  fetchFile @19;
  watch @20;
  plan @21;
  weights @22;
  sampleBatch @23;
  spread @24;
  contribute @25;
  members @26;
  prove @27;
  healthReport @28;
  health @29;
  chaos @30;
  upload @31;
  logLines @32;
  logs @33;
  events @34;
  trace @35;
  spans @36;
  feed @37;
  feedState @38;
}

struct Failure {
  code @0 :FailureCode;
  # `unset`: the request succeeded.

  message @1 :Text;
  # A sentence for people: what was wrong, where, and what to do.
}

enum FailureCode {
  # As graphmill::ec, in messages/base/error.hpp. A receiver takes what it does not
  # know as `internal`.
  unset @0;
  invalidArgument @1;
  invalidData @2;
  notFound @3;
  io @4;
  noSpace @5;
  permission @6;
  outOfMemory @7;
  timeout @8;
  cancelled @9;
  versionMismatch @10;
  unavailable @11;
  crashed @12;
  internal @13;
  superseded @14;
}

# -- handshake -----------------------------------------------------------------

struct Hello {
  # Sent by the caller on each of its two connections, and answered in kind. The
  # caller sends nothing else before the answer.

  name @0 :Text;
  # Of the daemon, unique in its cluster, or of the client's command. At most 256
  # bytes.

  incarnation @1 :Text;
  # 32 hexadecimal digits, drawn when the process starts. A caller that meets
  # another incarnation under a known address knows that the old one is gone, and
  # with it whatever was asked of it.

  address @2 :Text;
  # Where the sender listens for others, as in tcp://10.0.0.1:7800; empty for
  # clients.

  software @3 :Text;
  # Graphmill's version, for people.

  oldestVersion @4 :UInt16;
  # The oldest protocol that the sender understands.

  channel @5 :Channel;
  # Of this connection.

  beatEvery @6 :Milliseconds;
  # A caller that has nothing to say sends a beat that often. Told for people
  # who read along: no server acts on it, for `lostAfter` is what counts.

  lostAfter @7 :Milliseconds;
  # Either side may count the other as lost when it was silent for that long: the
  # caller's wish, which the server follows.

  obsolete8 @8 :Readiness;
  # Was `readiness`.

  localToken @9 :Text;
  # In the answer on an encrypted control channel: the server also listens at a
  # socket in the private folder of its user, named by its incarnation, and takes a
  # data channel there from whoever shows this token: 32 hexadecimal digits, drawn
  # for this answer. In a caller's greeting there: the token. Else empty.

  cluster @10 :Text;
  # Of a coordinator: 32 hexadecimal digits, drawn for its state folder. Else empty.

  generation @11 :UInt64;
  # Of a coordinator: how often one has begun with that state folder. A daemon takes
  # no orders of a lower generation than the highest it has met of its cluster: it
  # answers `superseded`, and then the old coordinator ends. Else 0.
}

enum Channel {
  unset @0;
  control @1;
  data @2;
}

enum Readiness {
  # Of obsolete fields alone. Whether a daemon takes work is told by
  # `DaemonState` of cluster.capnp.
  unset @0;
  starting @1;
  ready @2;
  draining @3;
}

@0xb61f0ccf6a2a1c57;
# The data plane: what a sampler and a fetcher ask of the daemon that serves a
# part, and what it answers; what a trainer's daemon asks of one that samples
# whole batches; and what ranks send each other of their gradients. Bodies of the
# methods `sample`, `gather`, `sample_batch`, `spread`, `contribute` and `prove`.
#
# Bulk arrays. Arrays travel in the bulk frames behind the body, and the body
# says where each one lies (`BulkArray`). An array of at most 1 MiB lies within
# one frame, which it may share with others. A larger one begins at the start of
# a frame and fills it and the frames that follow, of 1 MiB each but for the
# last. Every array begins at a multiple of 8 bytes from the start of its frame;
# elements are little-endian. A sender lets no two arrays share bytes, and puts
# at most 24 MiB of arrays into a message; a receiver checks that all arrays
# together have no more bytes than the frames.
#
# Ids. Wherever ids or whole numbers travel, they may be packed: an element `x`
# of a narrow type means `base + x`. A sender takes 4 bytes if the range of the
# array allows.
#
# Purity. A request names all that its answer depends on, besides the dataset
# and the run: it may be asked again, of any daemon that serves the part, and
# the answer is the same bit for bit. Daemons keep nothing between requests.
#
# Failure. A run or part that a daemon does not serve (yet) is `unavailable`. Ids
# that the part does not own, types and kinds that there are not, and messages
# that are not as described here are refused as a whole.
#
# Evolution: as in wire.capnp. Fields are only appended; value 0 of an
# enumeration is never sent; what a receiver does not know, it refuses if it
# changes the meaning of the request (an element type, a kind of data), and
# ignores otherwise.

using Cxx = import "/capnp/c++.capnp";
using BatchPlace = import "/messages/wire/health.capnp".BatchPlace;
$Cxx.namespace("graphmill::schema");

struct BulkArray {
  element @0 :Element;
  # `unset` with count 0: there is no such array.

  count @1 :UInt64;
  # Of elements.

  frame @2 :UInt32;
  # Number of the bulk frame in which it begins, from 0.

  offset @3 :UInt32;
  # In bytes from the start of that frame; a multiple of 8.

  base @4 :Int64;
  # Added to every element of an array of whole numbers.
}

enum Element {
  unset @0;
  uint8 @1;
  uint16 @2;
  int32 @3;
  int64 @4;
  float16 @5;
  float32 @6;
}

# -- sample --------------------------------------------------------------------

struct SampleRequest {
  # The in-edges of one hop of one batch that a part owns: a request per hop and
  # part, with all edge types together. Answered by `SampleReply`.

  run @0 :Text;
  part @1 :Int32;

  key @2 :UInt64;
  # The stream of the batch's step: key of the random draws.

  hop @3 :Int32;
  # From 1.

  queries @4 :List(NeighbourQuery);
  # At most 4096.

  among @5 :List(BulkArray);
  # int32 or int64: global ids of nodes of each node type, in any order, for queries
  # by the method `among`. Empty: there is no such query. Callers name up to 2^20
  # nodes of a type; among more, they ask for all in-edges and choose themselves.
}

struct NeighbourQuery {
  edgeType @0 :Int32;
  # Position in the dataset's list.

  fanout @1 :Int32;
  # In-edges per node; -1: all.

  replace @2 :Bool;
  # Draw with replacement.

  edgeIds @3 :Bool;
  # Answer original edge ids, too.

  destinations @4 :BulkArray;
  # int32 or int64: global ids, all owned by the part.

  most @5 :Int64;
  # If not 0: the one destination has more sources than fit into an answer, and
  # that many of them are wanted, from number `skip` on.

  skip @6 :Int64;

  weights @7 :Bool;
  # Answer the weights of edges, too. Only of a type that has some.

  excludedAt @8 :BulkArray;
  # int32 or int64: positions in `destinations`, ascending, each once, of nodes of
  # which some in-edges do not count: all is as if their lists were without them,
  # the draws, too.

  excludedCounts @9 :BulkArray;
  # uint8, uint16 or int32: how many edges these are, one or more for each position.

  excluded @10 :BulkArray;
  # int32 or int64: original edge ids, all in the list of their destination; list
  # after list, ascending in each.

  level @11 :UInt8 = 2;
  # Edges of higher levels, which a task holds out, do not count: lists end before
  # them. 0, 1 or 2, which is all edges.

  until @12 :BulkArray;
  # int32 or int64: for each destination the time before which its edges count, or
  # one for all. Absent: all edges do. Only of a type with times.

  inclusive @13 :Bool;
  # Edges at that time count, too.

  latest @14 :Bool;
  # Take the last ones that count instead of drawing, as many as `fanout`.

  ages @15 :Bool;
  # Answer the ages of edges, too: how long before `until` they were. Only with
  # `until`.

  places @16 :Bool;
  # Answer the places of edges in the part, too, by which features of edges are
  # gathered.

  method @17 :DrawMethod = uniform;
  # By what in-edges are chosen.

  window @18 :Int64;
  # With `until`: older edges than so long before it do not count. 0: all do.

  rows @19 :BulkArray;
  # int32 or int64: for each destination the number, from 0, of the row of whose
  # tree it is; the draws of a row have a key of their own. Absent: all share
  # `key`.
}

enum DrawMethod {
  unset @0;
  uniform @1;
  weights @2;
  # By the weights of edges; of a type that has none, `uniform`.
  sources @3;
  # By a number of each source, the same for all destinations of a hop. Never with
  # `replace`.
  among @4;
  # All in-edges whose sources are in the request's `among`. With a fanout of -1,
  # and never with `replace`.
}

struct SampleReply {
  answers @0 :List(NeighbourAnswer);
  # One per query, in their order; none with `tooLarge`.

  tooLarge @1 :Bool;
  # The answer would be larger than a message may be. The caller asks again for
  # fewer destinations at a time; of a single one, for slices of its sources.
}

struct NeighbourAnswer {
  counts @0 :BulkArray;
  # uint8, uint16 or int32: sources per destination, in request order; of a
  # slice, how many the whole list has.

  sources @1 :BulkArray;
  # int32 or int64: global ids of the sources, list after list. Without
  # replacement in list order, with it in draw order.

  edgeIds @2 :BulkArray;
  # int32 or int64: original ids, one per source; absent unless asked for.

  weights @3 :BulkArray;
  # float32: the weights of the edges, one per source, finite and none below 0;
  # absent unless asked for.

  ages @4 :BulkArray;
  # float32: microseconds, or steps, from the times of the edges to `until`, one
  # per source, finite and none below 0; absent unless asked for.

  places @5 :BulkArray;
  # int32 or int64: where the edges stand among those of their type in the part,
  # one per source; absent unless asked for.
}

# -- gather --------------------------------------------------------------------

struct GatherRequest {
  # What a batch needs to know of nodes that a part owns. Answered by
  # `GatherReply`. Callers cut what they want so that an answer has about 1 MiB.

  run @0 :Text;
  part @1 :Int32;

  queries @2 :List(GatherQuery);
  # At most 4096.
}

struct GatherQuery {
  nodeType @0 :Int32;
  # Position in the dataset's list.

  ids @1 :BulkArray;
  # int32 or int64: global ids, all owned by the part.

  kinds @2 :List(GatherKind);
  # What to answer of these nodes; at most 16.

  half @3 :Bool;
  # Features may be rounded to float16.

  excluded @4 :List(ExcludedEdges);
  # In-edges of these nodes that `inWeights` does not count: by edge type of the
  # dataset. Empty: of no type.

  level @5 :UInt8 = 2;
  # Edges of higher levels do not count in `degrees` and `inWeights`: 0, 1 or 2,
  # which is all edges.

  edgeType @6 :Int32 = -1;
  # Of the kind `edgeFeatures`, which then is the only one: position in the
  # dataset's list. `ids` are places of edges in the part; or, with `edges`,
  # destinations.

  edges @7 :BulkArray;
  # int32 or int64: original edge ids, one for each of `ids`, in whose list it is.
}

enum GatherKind {
  unset @0;
  features @1;
  # float32 or float16 [ids, feature width]. float16 only if the caller asked
  # for it or the dataset has it. Of sparse features that both sides hold packed,
  # [ids, 1 + 2 * slots] words of 32 bits, as float32: see `row_form`.
  labels @2;
  # Whole numbers, -1: none. Of nodes that may have several labels uint8 [ids,
  # labels]: 0 or 1, or 255 in all columns of a node without any. Of nodes whose
  # labels are numbers uint8 [ids, 4 * values]: the bytes of float32, no numbers
  # throughout the row of a node of which nothing is known.
  degrees @3;
  # Whole numbers: in-degrees of all edge types together, over the full graph.
  originalIds @4;
  # Whole numbers: ids in the dataset before it was partitioned.
  outDegrees @5;
  # Whole numbers: out-degrees of all edge types together, over the full graph.
  inWeights @6;
  # float32: sums of the weights of in-edges of all edge types together, over the
  # full graph, finite and none below 0. An edge of a type without weights counts
  # 1.
  edgeFeatures @7;
  # Of edges: float32 or float16 [ids, feature width of the edge type], as
  # `features`.
}

struct GatherReply {
  values @0 :List(BulkArray);
  # One per query and kind, in their order: query by query.
}

# -- sample_batch --------------------------------------------------------------

struct BatchRequest {
  # A whole batch, all hops: of a daemon that samples for others. Answered by
  # `BatchReply`.

  run @0 :Text;

  key @1 :UInt64;
  # The stream of the batch's step: key of the random draws.

  kind @2 :BatchKind;

  seeds @3 :BulkArray;
  # int32 or int64: distinct global ids of the target type, in the order of the
  # batch. With `seedsByType`, absent. Seeds of all types together are no more than
  # a step of that kind has.

  batch @4 :BatchPlace;
  # Which one it is, for who looks on; the answer does not depend on it. Null: not
  # said.

  seedsByType @5 :List(BulkArray);
  # Of a batch with seeds of other types than the target: int32 or int64, distinct
  # global ids of each node type, in the order of the batch and of the dataset's
  # types. Empty for all other batches, which older versions know, too.

  excluded @6 :List(ExcludedEdges);
  # Edges that the batch is without, as if the graph did not have them: by edge
  # type of the dataset. Empty: of no type.

  until @7 :BulkArray;
  # int32 or int64: of a run whose seeds see their past alone, the time of
  # each row; a single one, for all seeds, unless each row has a tree of its own.

  rows @8 :BulkArray;
  # int32 or int64: with trees, the number of each row among those of its split,
  # each once. As many as `until`.

  trees @9 :BulkArray;
  # int32: with trees, for each seed, type after type, the place of its row among
  # `rows`. A seed may be there once in each tree.
}

struct ExcludedEdges {
  # Edges of one type, by their destinations.

  at @0 :BulkArray;
  # int32 or int64, ascending, each once: of a batch, the global ids of
  # destinations; of a query, their positions in its ids.

  counts @1 :BulkArray;
  # uint8, uint16 or int32: edges of each destination, one or more.

  edges @2 :BulkArray;
  # int32 or int64: original edge ids, destination after destination, ascending in
  # each.
}

enum BatchKind {
  # What the run's definition says to sample.
  unset @0;
  train @1;
  evaluate @2;
}

struct BatchReply {
  nodes @0 :List(BatchNodes);
  # By node type; none with `tooLarge`.

  edges @1 :List(BatchEdges);
  # By edge type; none with `tooLarge`.

  tooLarge @2 :Bool;
  # The batch is larger than a message may be. The caller samples it itself.
}

struct BatchNodes {
  # The nodes of one type in order of discovery; the position is the local id.

  found @0 :List(Int64);
  # Nodes known after hop 0 (the seeds), 1, 2, ...: hops + 1 numbers that do not
  # fall.

  ids @1 :BulkArray;
  # int32 or int64: global ids, but for the seeds, which the caller has.

  trees @2 :BulkArray;
  # int32: of the same nodes, the trees that they are in, if each row has one.
}

struct BatchEdges {
  # The sampled in-edges of one type: a row per expanded node of the destination
  # type, in the order of its local ids.

  counts @0 :BulkArray;
  # uint8, uint16 or int32: sources per row; found[hops - 1] of the destination
  # type in all.

  sources @1 :BulkArray;
  # int32: local ids, row after row; in the rows of hop h below found[h] of the
  # source type.

  edgeIds @2 :BulkArray;
  # int32 or int64: original ids, one per source; absent unless the scheme asks for
  # them.

  weights @3 :BulkArray;
  # float32: the weights of the edges, one per source, finite and none below 0;
  # absent unless the run's model reads them and the type has some.

  ages @4 :BulkArray;
  # float32: microseconds, or steps, from the times of the edges to that of their
  # row, one per source, finite and none below 0; absent unless the run's model
  # reads ages and the type has times.

  places @5 :BulkArray;
  # int32 or int64: where the edges stand among those of their type in the part
  # of their destination; absent unless the run's model reads features of the type.
}

# -- spread --------------------------------------------------------------------

struct SpreadRequest {
  # What follows, for the sources of their in-edges, from the chances that nodes
  # are in a batch: a hop of the analysis that chooses the rows of a cache. Asked
  # before the first batch of a run. Answered by `SpreadReply`.

  run @0 :Text;
  part @1 :Int32;

  edgeType @2 :Int32;
  # Position in the dataset's list.

  fanout @3 :Int32;
  # In-edges drawn per node; -1: all.

  replace @4 :Bool;
  # Drawn with replacement.

  first @5 :Int64;
  # The first destination, a global id. It and the ones after it, one for each
  # of the chances, are owned by the part.

  skip @6 :Int64;
  # In-edges of the first destination that were answered before.

  chances @7 :BulkArray;
  # float32, from 0 to 1, one per destination: that the hop before found it.

  method @8 :DrawMethod = uniform;
  # By what in-edges are chosen, as in `NeighbourQuery`.
}

struct SpreadReply {
  # As much as fits into 8 MiB and a moment's work; the caller asks again for the
  # rest.

  nodes @0 :Int64;
  # Destinations that are done.

  edges @1 :Int64;
  # In-edges of the next destination that are done, too, those skipped included.

  sources @2 :BulkArray;
  # int32 or int64: global ids, each once.

  misses @3 :BulkArray;
  # float32, one per source: the logarithm of the chance that no in-edge of these
  # that is drawn leads to it. 0 or less.
}

# -- contribute ----------------------------------------------------------------

struct GradientMessage {
  # From a rank of a gradient group to another one. It is a request, so that what
  # is large leaves over connections on which the answers with neighbours and rows
  # do not stand in front of it. The answer is empty. It has no arrays: the one
  # bulk frame of a piece holds its bytes.
  #
  # What one rank sends another is a sequence of transfers, whose sizes both know
  # beforehand. They are numbered, and cut into pieces, which may come in any
  # order and more than once.

  run @0 :Text;
  generation @1 :UInt64;
  # Of the group within the run.

  from @2 :Int32;
  # The rank that sends it. Its daemon is the one that asks.

  to @3 :Int32;
  # The rank that it is for. A daemon on which it is not, or not any more,
  # answers `unavailable`.

  purpose @4 :GradientPurpose;

  transfer @5 :UInt64;
  # Of a piece: number of the transfer from `from` to `to`, from 0.

  offset @6 :UInt64;
  # Where in the transfer the piece begins, in bytes.

  total @7 :UInt64;
  # Bytes of the whole transfer. A piece has 4 KiB at least, but for the last of
  # its transfer, and 1 MiB at most.
}

enum GradientPurpose {
  unset @0;
  piece @1;
  # Answered when the receiver has put the bytes where they belong: so as many
  # wait for a slow one as its senders leave unanswered.
  farewell @2;
  # Answered when the rank `to` leaves its group.
}

# -- prove ---------------------------------------------------------------------

struct ProveRequest {
  # Blocks of arrays of a part, and what proves that the dataset had them when it
  # was partitioned. Asked of an owner about values that it has sent before, which
  # are compared with the blocks. Answered by `ProveReply`. Callers cut what they
  # want so that an answer has about 1 MiB.

  run @0 :Text;
  part @1 :Int32;

  queries @2 :List(ProveQuery);
  # At most 4096.
}

struct ProveQuery {
  nodeType @0 :Int32;
  # Position in the dataset's list.

  kind @1 :GatherKind;
  # Whose array: features, labels or original ids.

  blocks @2 :BulkArray;
  # int32 or int64: numbers of blocks of the array, ascending, each once. A block
  # has as many whole rows as fit into 4 KiB, or one.
}

struct ProveReply {
  proofs @0 :List(Proof);
  # One per query, in their order.
}

struct Proof {
  # Of the blocks of one query.

  content @0 :BulkArray;
  # uint8: the blocks as they lie in the file, one after the other.

  digests @1 :BulkArray;
  # uint8: for one block after the other, the digests, of 32 bytes each, of its
  # siblings in the tree over the array, from the block up to the root. A node
  # without a sibling has none there.
}

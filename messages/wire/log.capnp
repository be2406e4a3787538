@0xc3a95e1d7f24b806;
# What daemons log and what happens in a cluster, line by line. Bodies of the methods
# `log_lines`, `logs` and `events`.
#
# Each keeper of lines numbers them from some number on, one after the other, and
# forgets the oldest ones: at the coordinator, those of the daemon that has most.
# Whoever asks names the number of the first line that it does not
# know yet, a cursor.
#
# Evolution: as in wire.capnp.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("graphmill::schema");

enum LogLevel {
  unset @0;
  debug @1;
  info @2;
  warn @3;
  error @4;
  critical @5;
}

struct LogLine {
  time @0 :Int64;
  # Milliseconds since 1970, by the clock of the daemon that wrote it.
  level @1 :LogLevel;
  daemon @2 :Text;
  # Who wrote it. In an answer to `log_lines` the coordinator does not believe it.
  run @3 :Text;
  # Which it is about; empty: none. So is the next one.
  batch @4 :Text;
  module @5 :Text;
  text @6 :Text;
}

struct LogRequest {
  after @0 :UInt64;
  # Cursor; 0: all that is remembered.
  run @1 :Text;
  # Empty: of all, and of none. So is the next one.
  daemon @2 :Text;
  level @3 :LogLevel;
  # This one and worse.
}

struct LogReply {
  # The answer to `log_lines`, which asks a daemon for its own lines, and to `logs`,
  # which asks the coordinator for those of all daemons.

  next @0 :UInt64;
  # Cursor of the next request.
  more @1 :Bool;
  # There are lines from `next` on already.
  missing @2 :UInt64;
  # Lines from the cursor on that are forgotten, asked for or not.
  lines @3 :List(LogLine);

  begun @4 :UInt64;
  # Of `logs`: how often the coordinator has begun to collect lines of the others,
  # and the last of these times of which nobody has more to tell, those out of
  # reach apart. All that they had written before a request are in the answer to
  # another one in which `collected` is greater than `begun` was.
  collected @5 :UInt64;

  anew @6 :Bool;
  # The cursor is of another keeper, as of a coordinator before this one: the lines
  # begin with the oldest one, and some of them may have been told before.
}

struct EventsRequest {
  after @0 :UInt64;
  # Cursor; 0: all that is remembered.
  run @1 :Text;
  # Empty: of all, and of none.
}

struct ClusterEvent {
  seq @0 :UInt64;
  time @1 :Int64;
  # Milliseconds since 1970.
  kind @2 :Text;
  # A word, as /api/events has it.
  who @3 :Text;
  # A daemon; empty: none.
  run @4 :Text;
  text @5 :Text;
}

struct EventsReply {
  next @0 :UInt64;
  # Cursor of the next request.
  more @1 :Bool;
  events @2 :List(ClusterEvent);
}

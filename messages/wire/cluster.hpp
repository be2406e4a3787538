#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/base/unix_time.hpp"
#include "messages/definition/definition.hpp"
#include "messages/wire/daemon_load.hpp"
#include "messages/wire/frame.hpp"
#include "messages/wire/role.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

// The plain form of cluster.capnp, which describes the fields: requests of
// daemons and clients to the coordinator, and its answers. All structs are
// values.
//
// An `encode` cannot fail. Every `decode_*` checks foreign input and fails with
// `invalid_data`: on what is no message of Cap'n Proto, on unknown values of
// enumerations, and on what `check` of a struct refuses. The receiver checks
// whether names exist.
//
// `fields` of a struct lists its fields by their names in the schema. Encoding
// and decoding both use it.

/// A daemon's description of itself when it registers (`join`).
struct join_request {
  std::string dataset;
  std::string dataset_digest;
  std::vector<std::string> part_digests;
  std::vector<part_id> parts; ///< Ascending, each below part_digests.size().
  std::uint32_t slots = 1;
  std::string host;
  std::uint32_t cuda_devices = 0;
  std::string fault;
  std::string arithmetic;
  std::string arithmetic_digest;
  bool chaos = false; ///< It allows chaos (`chaos_request`).
  std::string data{}; ///< The folder of its dataset.

  /// Fails unless `parts` ascend and each is below the number of digests.
  result<void> check() const;

  static void fields(auto& of, auto visit) {
    visit("dataset", of.dataset);
    visit("datasetDigest", of.dataset_digest);
    visit("partDigests", of.part_digests);
    visit("parts", of.parts);
    visit("slots", of.slots);
    visit("host", of.host);
    visit("cudaDevices", of.cuda_devices);
    visit("fault", of.fault);
    visit("arithmetic", of.arithmetic);
    visit("arithmeticDigest", of.arithmetic_digest);
    visit("chaos", of.chaos);
    visit("data", of.data);
  }
};
payload encode(const join_request& request);
result<join_request> decode_join_request(const payload& from);

/// The answer to `join`.
struct join_reply {
  std::string coordinator;
  std::vector<key_holder> members{};

  /// Fails as that of `members_update` does.
  result<void> check() const;

  static void fields(auto& of, auto visit) {
    visit("coordinator", of.coordinator);
    visit("members", of.members);
  }
};
payload encode(const join_reply& reply);
result<join_reply> decode_join_reply(const payload& from);

/// The largest number of keys in a cluster with roles, and the longest name of
/// a holder, in bytes.
inline constexpr std::size_t most_members = 4096;
inline constexpr std::size_t longest_member_name = 128;

/// The keys of daemons, from the coordinator to daemons (`members`). The answer
/// is empty.
struct members_update {
  std::vector<key_holder> members;

  /// Fails unless all are daemons with names, and not too many.
  result<void> check() const;

  static void fields(auto& of, auto visit) { visit("members", of.members); }
};
payload encode(const members_update& update);
result<members_update> decode_members_update(const payload& from);

/// What the coordinator may do with a daemon; cluster.capnp describes each.
enum class daemon_state : std::uint8_t { ready = 1, draining, lost, damaged };
std::string_view to_string(daemon_state state);

/// What the coordinator knows of one daemon.
struct daemon_status {
  std::string name;
  std::string address;
  daemon_state state = daemon_state::ready;
  std::vector<part_id> parts;
  std::uint32_t slots = 1;
  std::string host;
  std::string note;
  std::uint32_t cuda_devices = 0;
  bool chaos = false; ///< As in `join_request`.
  /// Empty: no report in the last seconds.
  std::optional<daemon_load> load{};
  std::string data{}; ///< As in `join_request`.

  static void fields(auto& of, auto visit) {
    visit("name", of.name);
    visit("address", of.address);
    visit("state", of.state);
    visit("parts", of.parts);
    visit("slots", of.slots);
    visit("host", of.host);
    visit("note", of.note);
    visit("cudaDevices", of.cuda_devices);
    visit("chaos", of.chaos);
    visit("load", of.load);
    visit("data", of.data);
  }
};
/// The answer to `status`, whose request has no body.
struct status_reply {
  std::string coordinator;
  std::string dataset;
  std::uint32_t parts = 0;
  std::vector<daemon_status> daemons;
  std::string running;
  std::vector<std::string> queued;
  std::string note;
  std::vector<std::string> stand_ins{};
  /// Running runs besides `running`, in the order of their start.
  std::vector<std::string> also_running{};

  /// All running runs.
  std::vector<std::string> all_running() const;

  static void fields(auto& of, auto visit) {
    visit("coordinator", of.coordinator);
    visit("dataset", of.dataset);
    visit("parts", of.parts);
    visit("daemons", of.daemons);
    visit("running", of.running);
    visit("note", of.note);
    visit("queued", of.queued);
    visit("standIns", of.stand_ins);
    visit("alsoRunning", of.also_running);
  }
};
payload encode(const status_reply& reply);
result<status_reply> decode_status_reply(const payload& from);

/// The body of `submit` and of `plan`: the definition of a run.
payload encode_definition_body(const definition& def);
result<definition> decode_definition_body(const payload& from);

/// The rest of `submit`: the run or upload that the new run continues, and what
/// its folder gets.
struct resume_request {
  std::string run;           ///< Empty: none.
  std::string checkpoint;    ///< Its name; empty: the newest one.
  bool with_changes = false; ///< The definition may differ.
  bool tensorboard = false;  ///< Curves for TensorBoard.
  bool uploaded = false;     ///< With neither run nor checkpoint.
};
payload encode_resumption(const definition& def, const resume_request& of);
result<resume_request> decode_resumption(const payload& from);

/// The answer to `submit`: the id of the run.
payload encode_run_id(const std::string& run);
result<std::string> decode_run_id(const payload& from);

/// Some daemons.
struct daemon_names {
  std::vector<std::string> names;

  friend bool operator==(const daemon_names&, const daemon_names&) = default;

  static void fields(auto& of, auto visit) { visit("names", of.names); }
};

/// The answer to `plan`: where a run would go, by names of daemons.
struct plan_reply {
  std::vector<std::string> daemon_of_part; ///< By part.
  std::vector<std::string> daemon_of_rank; ///< By rank.
  /// Empty if each trainer's daemon samples for itself.
  std::vector<std::string> samplers;
  /// By part: the daemons that serve it besides its first owner.
  std::vector<daemon_names> replicas_of_part{};

  static void fields(auto& of, auto visit) {
    visit("daemonOfPart", of.daemon_of_part);
    visit("daemonOfRank", of.daemon_of_rank);
    visit("samplers", of.samplers);
    visit("replicasOfPart", of.replicas_of_part);
  }
};
payload encode(const plan_reply& reply);
result<plan_reply> decode_plan_reply(const payload& from);

/// The state of a run. States only go forward, except that a running run whose
/// coordinator was lost is queued again. The last three are final.
enum class run_state : std::uint8_t {
  queued = 1,
  running,
  finished,
  failed,
  cancelled,
};
std::string_view to_string(run_state state);
/// Whether a run has ended.
constexpr bool is_over(run_state state) {
  return state >= run_state::finished;
}

/// What the coordinator keeps of one run.
struct run_record {
  std::string id;
  std::string name;
  run_state state = run_state::queued;
  unix_time submitted{0};
  unix_time started{0};
  unix_time ended{0};
  std::string message;
  std::string summary; ///< JSON text; empty before the end.

  static void fields(auto& of, auto visit) {
    visit("id", of.id);
    visit("name", of.name);
    visit("state", of.state);
    visit("submitted", of.submitted);
    visit("started", of.started);
    visit("ended", of.ended);
    visit("message", of.message);
    visit("summary", of.summary);
  }
};

/// Asks what has become of a feed (`feed_state`). `feed` has the body of
/// `submit`, with a definition alone, and its answer.
struct feed_state_request {
  std::string run;

  static void fields(auto& of, auto visit) { visit("run", of.run); }
};
payload encode(const feed_state_request& request);
result<feed_state_request> decode_feed_state_request(const payload& from);

/// The answer to `feed_state`.
struct feed_state_reply {
  run_state state = run_state::queued;
  std::string message;
  std::uint16_t code = 0; ///< An `ec`, if it is over for that reason; else 0.

  /// Why it is over.
  error reason() const;

  static void fields(auto& of, auto visit) {
    visit("state", of.state);
    visit("message", of.message);
    visit("code", of.code);
  }
};
payload encode(const feed_state_reply& reply);
result<feed_state_reply> decode_feed_state_reply(const payload& from);

/// Asks for one run, or for a page of the list of runs (`runs`).
struct runs_request {
  std::string run;
  std::uint32_t limit = 20;
  std::string before;

  static void fields(auto& of, auto visit) {
    visit("run", of.run);
    visit("limit", of.limit);
    visit("before", of.before);
  }
};
payload encode(const runs_request& request);
result<runs_request> decode_runs_request(const payload& from);

/// The answer to `runs`, the latest run first.
struct runs_reply {
  std::vector<run_record> runs;
  bool more = false;

  static void fields(auto& of, auto visit) {
    visit("runs", of.runs);
    visit("more", of.more);
  }
};
payload encode(const runs_reply& reply);
result<runs_reply> decode_runs_reply(const payload& from);

/// Asks for the events of a run from `cursor` on, and lets the answer wait for
/// the next one (`watch`).
struct watch_request {
  std::string run;
  std::uint64_t cursor = 0;
  std::chrono::milliseconds wait{0};

  static void fields(auto& of, auto visit) {
    visit("run", of.run);
    visit("cursor", of.cursor);
    visit("wait", of.wait);
  }
};
payload encode(const watch_request& request);
result<watch_request> decode_watch_request(const payload& from);

/// An event of a run: the end of a phase, or progress within one.
struct run_news {
  /// JSON text at the end of a phase; empty for progress, which the fields
  /// below describe.
  std::string metrics;
  std::string label;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};
/// The answer to `watch`.
struct watch_reply {
  std::uint64_t next = 0;
  std::vector<run_news> events;
  run_record record;
};
payload encode(const watch_reply& reply);
result<watch_reply> decode_watch_reply(const payload& from);

/// Asks to end a run: after the current step, or at once (`cancel`).
struct cancel_request {
  std::string run;
  bool now = false;

  static void fields(auto& of, auto visit) {
    visit("run", of.run);
    visit("now", of.now);
  }
};
payload encode(const cancel_request& request);
result<cancel_request> decode_cancel_request(const payload& from);

/// Names the daemon that `drain` or `stop` is about.
struct daemon_request {
  std::string name;
  bool back = false;

  static void fields(auto& of, auto visit) {
    visit("name", of.name);
    visit("back", of.back);
  }
};
payload encode(const daemon_request& request);
result<daemon_request> decode_daemon_request(const payload& from);

/// Asks for a piece of a file of a run folder, or for the list of its files
/// (`fetch_file`).
struct file_request {
  std::string run;
  std::string file;
  std::uint64_t offset = 0;
  std::uint32_t most = 0; ///< Bytes; 0: as many as a message takes.

  static void fields(auto& of, auto visit) {
    visit("run", of.run);
    visit("file", of.file);
    visit("offset", of.offset);
    visit("most", of.most);
  }
};
payload encode(const file_request& request);
result<file_request> decode_file_request(const payload& from);

/// The answer to `fetch_file`.
struct file_reply {
  std::vector<std::string> files;
  std::uint64_t size = 0;
  std::vector<std::byte> bytes; ///< They travel in bulk frames.

  static void fields(auto& of, auto visit) {
    visit("files", of.files);
    visit("size", of.size);
  }
};
payload encode(const file_reply& reply);
/// @param asked The request. Fails if the answer is empty although the file
/// goes on there: the file cannot be read, and must not look as if it had
/// ended.
result<file_reply> decode_file_reply(const payload& from,
                                     const file_request& asked);

/// The size of a piece in a request to `upload`, if so much is left of the
/// file.
inline constexpr std::size_t upload_piece_bytes = std::size_t{4} << 20;

/// A piece of a file of a checkpoint at a client (`upload`). The answer is
/// empty.
struct upload_request {
  std::string file;
  std::uint64_t size = 0; ///< Of the whole file.
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes; ///< They travel in bulk frames.

  /// Fails unless it has the length of a piece: a client that sends a file byte
  /// by byte could keep its place for ever.
  result<void> check_bytes() const;

  static void fields(auto& of, auto visit) {
    visit("file", of.file);
    visit("size", of.size);
    visit("offset", of.offset);
  }
};
payload encode(const upload_request& request);
result<upload_request> decode_upload_request(const payload& from);

} // namespace graphmill

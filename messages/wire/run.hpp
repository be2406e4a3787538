#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/definition/definition.hpp"
#include "messages/wire/frame.hpp"
#include "messages/work/seed_outcomes.hpp"
#include "messages/work/work_report.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

// The plain form of run.capnp, which describes the fields: messages between the
// coordinator and the daemons of a running run. All structs are values.
//
// An `encode` cannot fail. Every `decode_*` checks foreign input and fails with
// `invalid_data`: on what is no message of Cap'n Proto, on unknown values of
// enumerations, and on what `check` of a struct refuses. The receiver checks
// whether a run, a rank or a tensor exists.
//
// `fields` of a struct lists its fields by their names in the schema. Encoding
// and decoding both use it.

/// The address of a daemon of a run.
struct daemon_address {
  std::string name;
  std::string address;

  friend bool operator==(const daemon_address&,
                         const daemon_address&) = default;

  static void fields(auto& of, auto visit) {
    visit("name", of.name);
    visit("address", of.address);
  }
};

/// The daemons that serve a part besides its first owner, by their positions in
/// a list.
struct part_replicas {
  std::vector<std::uint16_t> daemons;

  friend bool operator==(const part_replicas&, const part_replicas&) = default;

  static void fields(auto& of, auto visit) { visit("daemons", of.daemons); }
};

/// All daemons that serve a part, the first owner first.
/// @param replicas By part, or empty.
std::vector<std::uint16_t> owners_of(std::size_t part,
                                     std::span<const std::uint16_t> first,
                                     std::span<const part_replicas> replicas);

/// The meaning of a model's outputs.
struct learnt_labels {
  std::string kind; ///< The word in files of datasets: "classes".
  std::string type; ///< The node type that has them.
  std::int64_t count = 0;

  friend bool operator==(const learnt_labels&, const learnt_labels&) = default;

  static void fields(auto& of, auto visit) {
    visit("kind", of.kind);
    visit("type", of.type);
    visit("count", of.count);
  }
};

/// What the coordinator sends each daemon of a run at its start (`deploy`): who
/// does what. The answer is empty.
struct deployment {
  std::string run;
  definition def;
  std::string dataset_digest;
  std::uint32_t generation = 0; ///< The number of the attempt, less one.
  std::vector<daemon_address> daemons;
  std::vector<std::uint16_t> owner_of_part;
  std::vector<std::uint16_t> daemon_of_rank;
  std::uint16_t you = 0;
  std::string coordinator;
  /// Empty if each trainer's daemon samples for itself.
  std::vector<std::uint16_t> samplers;
  /// Public keys of `daemons`; empty without roles.
  std::vector<std::string> daemon_keys{};
  /// By part, or empty. All owners have the same bytes and give the same
  /// answers.
  std::vector<part_replicas> replicas_of_part{};
  /// Other running runs, or runs that wait for their next attempt: the daemon
  /// keeps what it has of them, and of no others.
  std::vector<std::string> beside{};
  /// Each of so many runs gets an equal share of a daemon's memory.
  std::uint32_t runs_at_once = 1;
  /// For a run that predicts with weights of another dataset: the meaning of
  /// its outputs.
  std::optional<learnt_labels> learnt{};
  /// It has no trainers: the daemon of its only rank takes the batches.
  bool feed = false;

  /// The largest number of running runs of a coordinator, and of feeds beside
  /// them.
  static constexpr std::uint32_t most_runs_at_once = 16;
  static constexpr std::uint32_t most_feeds_at_once = 64;

  /// All that serve a part, its first owner first.
  std::vector<std::uint16_t> owners_of(part_id part) const;

  /// The parts that a daemon serves, ascending.
  std::vector<part_id> parts_of(std::uint16_t daemon) const;

  /// Of the run, from 1.
  std::uint32_t attempt() const { return generation + 1; }

  /// Fails unless there are parts, ranks and a name of the run; all positions
  /// are those of daemons in the list; there are as many keys as daemons, or
  /// none; there are replicas of as many parts as there are, or of none; a feed
  /// has one rank; and no more runs are running than allowed.
  result<void> check() const;

  static void fields(auto& of, auto visit) {
    visit("run", of.run);
    visit("definition", of.def);
    visit("datasetDigest", of.dataset_digest);
    visit("generation", of.generation);
    visit("daemons", of.daemons);
    visit("ownerOfPart", of.owner_of_part);
    visit("daemonOfRank", of.daemon_of_rank);
    visit("you", of.you);
    visit("coordinator", of.coordinator);
    visit("samplers", of.samplers);
    visit("daemonKeys", of.daemon_keys);
    visit("replicasOfPart", of.replicas_of_part);
    visit("beside", of.beside);
    visit("runsAtOnce", of.runs_at_once);
    visit("learnt", of.learnt);
    visit("feed", of.feed);
  }
};
payload encode(const deployment& assignment);
result<deployment> decode_deployment(const payload& from);

/// What the trainers of a member are asked between phases. The values are those
/// of run.capnp.
enum class trainer_action : std::uint16_t {
  keep_best = 1,
  restore_best,
  snapshot,
  fill_cache, ///< For members only: fill their caches of remote rows.
  digest,     ///< Asks for digests of the present weights, which stay there.
  checkpoint, ///< Copies everything that the next steps depend on.
  restore,    ///< Loads a copy from another time or place.
  /// Asks for the weights that `snapshot` has copied. It does not travel:
  /// `weights_request` asks another daemon for them in pieces.
  weights = 0x100,
  /// As `checkpoint`, with its position, for another attempt of the run. It
  /// does not travel either: the receiver of the order `keep` asks it.
  keep,
};
/// An order of the coordinator to a member of a run, a daemon with a share of
/// it; run.capnp describes each. `trainers` is an order to its trainers, a
/// `trainer_action`.
enum class member_action : std::uint8_t {
  begin = 1,
  stop,
  trainers,
  end,
  check,
  finish,
  load,
  keep,
  kept,
};
/// The position of a run between two steps, on the wire: a `course_position` of
/// the pipelines, and the sums of the steps of its epoch.
struct run_position {
  std::int32_t epoch = 0;
  std::int64_t step = 0;
  std::int64_t train_steps = 0;
  bool validated = false;
  double best_validation = 0;
  std::uint32_t since_best = 0;
  double loss_sum = 0;
  std::int64_t correct = 0;
  std::int64_t seeds = 0;
  double average = 0;
  double best_average = 0;

  /// Fails if a count is negative, or the epoch has more finished steps than
  /// all.
  result<void> check() const;

  friend bool operator==(const run_position&, const run_position&) = default;

  static void fields(auto& of, auto visit) {
    visit("epoch", of.epoch);
    visit("step", of.step);
    visit("trainSteps", of.train_steps);
    visit("validated", of.validated);
    visit("bestValidation", of.best_validation);
    visit("sinceBest", of.since_best);
    visit("lossSum", of.loss_sum);
    visit("correct", of.correct);
    visit("seeds", of.seeds);
    visit("average", of.average);
    visit("bestAverage", of.best_average);
  }
};
/// A tensor of a snapshot or a checkpoint, without its values.
struct tensor_shape {
  std::string name;
  std::vector<std::int64_t> shape;

  /// The number of its values. The shape must have passed `check`.
  std::uint64_t size() const;

  /// Fails if a length is negative, or the size is beyond 2^48 values.
  result<void> check() const;

  static void fields(auto& of, auto visit) {
    visit("name", of.name);
    visit("shape", of.shape);
  }
};
/// An order to a member (`order`).
struct member_request {
  std::string run;
  member_action action = member_action::begin;
  /// Only for the action `trainers`.
  trainer_action trainers = trainer_action::snapshot;
  /// This and what follows are only for the action `begin`.
  graphmill::phase phase = graphmill::phase::train;
  std::int32_t epoch = 0;
  std::int64_t steps = 0;
  double learning_rate = 0;
  std::int64_t first_step = 0;
  run_position from = {};
  /// Only for the action `load`, whose values are the bulk of the message, as
  /// `encode_weights` writes them.
  tensor_shape tensor = {};
  std::uint64_t offset = 0;
  /// Only for the action `trainers` with `restore`.
  std::int64_t restored_steps = 0;
  std::uint32_t attempt = 0; ///< 0: of the present attempt.
};
payload encode(const member_request& request);
result<member_request> decode_member_request(const payload& from);

/// The weights of one trainer, by their digest.
struct rank_digest {
  rank_id rank = 0;
  std::string digest;
  std::int64_t steps = 0; ///< Training steps of the weights.

  static void fields(auto& of, auto visit) {
    visit("rank", of.rank);
    visit("digest", of.digest);
    visit("steps", of.steps);
  }
};
/// The answer to an order.
struct member_reply {
  std::vector<rank_digest> trainers;
  std::vector<tensor_shape> tensors;
  work_report work;
  std::string failure;
  std::vector<std::string> distrusted;
  std::optional<run_position> kept = {};
  std::uint32_t kept_attempt = 0;

  static void fields(auto& of, auto visit) {
    visit("trainers", of.trainers);
    visit("tensors", of.tensors);
    work_report::fields(of.work, visit);
    visit("failure", of.failure);
    visit("distrusted", of.distrusted);
    visit("kept", of.kept);
    visit("keptAttempt", of.kept_attempt);
  }
};
payload encode(const member_reply& reply);
result<member_reply> decode_member_reply(const payload& from);

/// Asks for a piece of a tensor of the last snapshot, of the last checkpoint,
/// or of the kept state of the run (`weights`).
struct weights_request {
  std::string run;
  std::uint32_t tensor = 0;
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
  bool checkpoint = false;
  bool kept = false;

  static void fields(auto& of, auto visit) {
    visit("run", of.run);
    visit("tensor", of.tensor);
    visit("offset", of.offset);
    visit("count", of.count);
    visit("checkpoint", of.checkpoint);
    visit("kept", of.kept);
  }
};
payload encode(const weights_request& request);
result<weights_request> decode_weights_request(const payload& from);
/// The answer to `weights`: copies the values into bulk frames.
payload encode_weights(std::span<const float> values);
/// Fails unless there are exactly `out.size()` values.
/// @param out Receives them; unspecified after a failure.
result<void> decode_weights(const payload& from, std::span<float> out);

/// The result of one rank in one step.
struct step_done {
  batch_key key;
  double loss_sum = 0;
  std::int64_t correct = 0;
  std::int64_t seeds = 0;
  std::vector<node_id> original_seeds;
  /// Of an evaluation, or null. Its arrays travel as bulk.
  std::shared_ptr<const seed_outcomes> outcomes = nullptr;
  /// [original_seeds, classes] Of a run that predicts, or null. They travel as
  /// bulk, too.
  std::shared_ptr<const std::vector<float>> logits = nullptr;

  /// Fails if its step or rank is below 0.
  result<void> check() const;

  static void fields(auto& of, auto visit) {
    visit("phase", of.key.phase);
    visit("epoch", of.key.epoch);
    visit("step", of.key.step);
    visit("rank", of.key.rank);
    visit("lossSum", of.loss_sum);
    visit("correct", of.correct);
    visit("seeds", of.seeds);
    visit("originalSeeds", of.original_seeds);
  }
};
/// What a member reports about its share, unasked (`run_event`).
struct run_events {
  std::string run;
  std::uint64_t sequence = 0;
  std::vector<step_done> steps;
  std::vector<rank_id> stopped;
  std::optional<error> failure;
  /// Its data were verified; sent alone, with sequence 0.
  bool sound = false;
  std::uint32_t attempt = 0; ///< 0: unknown.

  bool empty() const { return steps.empty() && stopped.empty() && !failure; }

  /// Lists all fields except the failure, which travels as two, and the
  /// outcomes and logits of steps.
  static void fields(auto& of, auto visit) {
    visit("run", of.run);
    visit("sequence", of.sequence);
    visit("steps", of.steps);
    visit("stopped", of.stopped);
    visit("sound", of.sound);
    visit("attempt", of.attempt);
  }
};
payload encode(const run_events& events);
result<run_events> decode_run_events(const payload& from);

/// The bytes of outcomes in the bulk of a message.
std::size_t bulk_bytes_of(const seed_outcomes& outcomes);

/// Sets a key of the run's store at the coordinator, or asks for its value
/// (`rendezvous`).
struct rendezvous_request {
  std::string run;
  std::string key;
  /// The new value; empty: asks for the value.
  std::optional<std::string> value;
  /// How long the answer may wait for the value.
  std::chrono::milliseconds wait{0};
};
payload encode(const rendezvous_request& request);
result<rendezvous_request> decode_rendezvous_request(const payload& from);
/// The answer to `rendezvous`; without a value, the key does not exist.
payload encode_rendezvous_value(const std::optional<std::string>& value);
result<std::optional<std::string>> decode_rendezvous_value(const payload& from);

} // namespace graphmill

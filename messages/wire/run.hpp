#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/base/work_report.hpp"
#include "messages/definition/definition.hpp"
#include "messages/wire/frame.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

// The plain form of run.capnp, where fields are described. Every `decode_*`
// checks what came from outside: known enumerations, positions within their
// lists, counts that fit. `fields` of a struct is the list of its fields by
// their names in the schema, which encoding and decoding both walk; `check` is
// what decoding asks of a struct besides.

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

struct deployment {
  std::string run;
  definition def;
  std::string dataset_digest;
  std::uint32_t generation = 0; ///< Always, so far.
  std::vector<daemon_address> daemons;
  std::vector<std::uint16_t> owner_of_part;
  std::vector<std::uint16_t> daemon_of_rank;
  std::uint16_t you = 0;
  std::string coordinator;
  std::vector<std::uint16_t> samplers; ///< None: beside the trainers.

  /// There are parts, ranks and a run, and all positions are those of daemons.
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
  fill_cache, ///< To members alone: their caches of remote rows.
  digest,     ///< Of the present weights; they are not copied.
  /// The weights that `snapshot` has taken. Does not travel: of another daemon
  /// they are asked in pieces, by `weights_request`.
  weights = 0x100,
};
/// What a member is asked; `trainers`: what its trainers are.
enum class member_action : std::uint8_t {
  begin = 1,
  stop,
  trainers,
  end,
  check,
  finish,
};
struct member_request {
  std::string run;
  member_action action = member_action::begin;
  trainer_action trainers = trainer_action::snapshot;
  graphmill::phase phase = graphmill::phase::train; ///< Of `begin`, as below.
  std::int32_t epoch = 0;
  std::int64_t steps = 0;
  double learning_rate = 0;
};
payload encode(const member_request& request);
result<member_request> decode_member_request(const payload& from);

struct rank_digest {
  rank_id rank = 0;
  std::string digest;
  std::int64_t steps = 0; ///< Of training that its weights have taken.

  static void fields(auto& of, auto visit) {
    visit("rank", of.rank);
    visit("digest", of.digest);
    visit("steps", of.steps);
  }
};
struct tensor_shape {
  std::string name;
  std::vector<std::int64_t> shape;

  std::uint64_t size() const; ///< In values; checked at decoding.

  /// No length is below 0, nor the size beyond what fits in memory.
  result<void> check() const;

  static void fields(auto& of, auto visit) {
    visit("name", of.name);
    visit("shape", of.shape);
  }
};
struct member_reply {
  std::vector<rank_digest> trainers;
  std::vector<tensor_shape> tensors;
  work_report work;
  std::string failure;

  static void fields(auto& of, auto visit) {
    visit("trainers", of.trainers);
    visit("tensors", of.tensors);
    work_report::fields(of.work, visit);
    visit("failure", of.failure);
  }
};
payload encode(const member_reply& reply);
result<member_reply> decode_member_reply(const payload& from);

struct weights_request {
  std::string run;
  std::uint32_t tensor = 0;
  std::uint64_t offset = 0;
  std::uint64_t count = 0;

  static void fields(auto& of, auto visit) {
    visit("run", of.run);
    visit("tensor", of.tensor);
    visit("offset", of.offset);
    visit("count", of.count);
  }
};
payload encode(const weights_request& request);
result<weights_request> decode_weights_request(const payload& from);
payload encode_weights(std::span<const float> values);
/// Fails unless there are just `out.size()` values.
result<void> decode_weights(const payload& from, std::span<float> out);

struct step_done {
  batch_key key;
  double loss_sum = 0;
  std::int64_t correct = 0;
  std::int64_t seeds = 0;
  std::vector<node_id> original_seeds;

  /// Its step and rank are none below 0.
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
struct run_events {
  std::string run;
  std::uint64_t sequence = 0;
  std::vector<step_done> steps;
  std::vector<rank_id> stopped;
  std::optional<error> failure;

  bool empty() const { return steps.empty() && stopped.empty() && !failure; }

  /// All but the failure, which is two fields.
  static void fields(auto& of, auto visit) {
    visit("run", of.run);
    visit("sequence", of.sequence);
    visit("steps", of.steps);
    visit("stopped", of.stopped);
  }
};
payload encode(const run_events& events);
result<run_events> decode_run_events(const payload& from);

struct rendezvous_request {
  std::string run;
  std::string key;
  std::optional<std::string> value; ///< To be set; else get.
  std::chrono::milliseconds wait{0};
};
payload encode(const rendezvous_request& request);
result<rendezvous_request> decode_rendezvous_request(const payload& from);
/// Nothing: the key is not there.
payload encode_rendezvous_value(const std::optional<std::string>& value);
result<std::optional<std::string>> decode_rendezvous_value(const payload& from);

} // namespace graphmill

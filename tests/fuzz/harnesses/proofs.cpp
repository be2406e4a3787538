#include "actors/remote/calls/prove_call.hpp"
#include "partition/sampling/rows/gather.hpp"
#include "tests/fuzz/harnesses/codecs.hpp"
#include "tests/fuzz/harnesses/example.hpp"
#include "tests/fuzz/registry.hpp"

#include <memory>
#include <numeric>
#include <string>
#include <vector>

// Proofs that rows are those of the dataset: what an owner is asked for, and
// what it answers to somebody who has got its values, sound or forged.

namespace graphmill::fuzz {

namespace {

/// Features that a daemon got from the owner of part 0 of the example.
class features_got {
public:
  features_got() {
    auto opened = partitioned_graph::open(example().parts);
    require(opened.has_value(), "the example's parts do not open");
    graph_ = std::make_unique<partitioned_graph>(std::move(opened).value());
    auto part = graph_->open_shard(0);
    require(part.has_value(), "the example's part does not open");
    part_ = std::move(part).value();
    const auto& nodes = part_->nodes(0);
    ids_.resize(static_cast<std::size_t>(nodes.end - nodes.begin));
    std::iota(ids_.begin(), ids_.end(), nodes.begin);
    sound_.resize(2 * ids_.size());
    require(!ids_.empty()
              && gather_features(*part_, 0, ids_, {}, sound_.data()),
            "the example's part has no features");
    values_ = sound_;
    auto job = std::make_shared<remote_gather>(nullptr);
    job->wanted = {{0, ids_, {{gather_kind::features, {}, values_.data()}}}};
    const gather_call call{job, {{0, 0, ids_.size()}}};
    const row_audit all{1, 7};
    checks_ = cut_checks(*graph_, call, all, 0, 1 << 20);
    require(checks_.size() == 1, "the example is not checked by one call");
  }

  const shard& part() const { return *part_; }
  const prove_call& check() const { return checks_.front(); }

  /// Whether an answer proves the values.
  bool proves(const payload& from, bool forged) {
    values_ = sound_;
    if (forged)
      for (auto& value : values_)
        value += 1;
    proof_fault fault{};
    const auto compared = check_proofs(*graph_, 0, check(), false, from, fault);
    return compared && compared.value() != 0;
  }

private:
  std::unique_ptr<partitioned_graph> graph_;
  std::shared_ptr<const shard> part_;
  std::vector<node_id> ids_;
  std::vector<float> sound_;
  std::vector<float> values_;
  std::vector<prove_call> checks_;
};

features_got& got() {
  static features_got made;
  return made;
}

void answer_question(const payload& from) {
  const auto asked = decode_prove_request(from);
  if (!asked)
    return;
  const auto wanted = read_prove(got().part(), asked.value(), from);
  if (!wanted)
    return;
  const auto answer = answer_prove(got().part(), wanted.value());
  if (answer)
    require(decode_prove_reply(answer.value()).has_value(),
            "a proof that is sent does not decode");
}

void read_proof(std::string_view input) {
  const auto in = message_in(input);
  if (in.which % 2 == 0)
    return answer_question(in.data);
  (void)got().proves(in.data, false);
  require(!got().proves(in.data, true), "forged values are proved");
}

std::vector<std::string> proofs() {
  const auto question = got().check().encoded("r", 0);
  require(question.has_value(), "no question for proofs");
  const auto asked = decode_prove_request(question.value());
  require(asked.has_value(), "a question for proofs does not decode");
  const auto wanted = read_prove(got().part(), asked.value(), question.value());
  require(wanted.has_value(), "a sound question for proofs is refused");
  const auto answer = answer_prove(got().part(), wanted.value());
  require(answer && got().proves(answer.value(), false),
          "a sound proof proves nothing");
  return {input_of(0, question.value()), input_of(1, answer.value())};
}

} // namespace

const harness proofs_harness{"proofs", "questions for proofs, and proofs",
                             read_proof, proofs, 1500};

} // namespace graphmill::fuzz

#include "messages/wire/codecs/codec_support.hpp"
#include "messages/wire/run.capnp.h"
#include "messages/wire/run.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace graphmill {

using namespace wire;

namespace {

static_assert(static_cast<int>(schema::RunPhase::TEST)
              == static_cast<int>(phase::test) + wire_offset<phase>);

/// A code that this version does not know is an internal error.
std::optional<error> failure_of(schema::RunEvents::Reader in) {
  if (in.getFailure().size() == 0)
    return std::nullopt;
  const auto code = in.getFailureCode();
  return error{code >= 1 && code <= static_cast<int>(ec::superseded)
                 ? static_cast<ec>(code)
                 : ec::internal,
               text(in.getFailure())};
}

std::string bytes_of(capnp::Data::Reader from) {
  const auto chars = from.asChars();
  return {chars.begin(), chars.end()};
}

capnp::Data::Reader data_of(const std::string& from) {
  return {reinterpret_cast<const capnp::byte*>(from.data()), from.size()};
}

/// Takes arrays of values of four bytes out of the bulk of a message.
class word_reader {
public:
  explicit word_reader(const payload& from) : bytes_(joined(from.bulk)) {}

  template <class T>
  result<void> take(std::vector<T>& into, std::uint64_t count) {
    static_assert(sizeof(T) % 4 == 0 && std::is_trivially_copyable_v<T>);
    if (count > (bytes_.size() - at_) / sizeof(T))
      return fail(ec::invalid_data,
                  "events of a run tell of more outcomes than they bring");
    if (count == 0)
      return ok();
    into.resize(static_cast<std::size_t>(count));
    std::memcpy(into.data(), bytes_.data() + at_, into.size() * sizeof(T));
    at_ += into.size() * sizeof(T);
    return ok();
  }

  bool at_end() const { return at_ == bytes_.size(); }

private:
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

result<outcome_form> form_in(schema::Outcomes::Reader in) {
  if (int{in.getMultiLabel()} + in.getRegression() + in.getLinks() > 1)
    return fail(ec::invalid_data,
                "outcomes of seeds that are two of these: of several labels, "
                "with numbers for labels, links");
  return in.getMultiLabel()   ? outcome_form::labels
         : in.getRegression() ? outcome_form::values
         : in.getLinks()      ? outcome_form::ranks
                              : outcome_form::classes;
}

/// Without regard to the order of bytes in `rank_count`.
struct rank_words {
  std::array<std::uint32_t, 2> doubled; ///< The lower half first.
  std::int32_t count;
  std::int32_t relation;
};

std::vector<rank_words> words_of(const std::vector<rank_count>& ranks) {
  std::vector<rank_words> out;
  for (const auto& [doubled, count, relation] : ranks) {
    const auto bits = static_cast<std::uint64_t>(doubled);
    out.push_back({{static_cast<std::uint32_t>(bits),
                    static_cast<std::uint32_t>(bits >> 32)},
                   count,
                   relation});
  }
  return out;
}

result<std::vector<rank_count>> ranks_in(std::uint32_t count,
                                         word_reader& words) {
  std::vector<rank_words> told;
  GRAPHMILL_TRYV(words.take(told, count));
  std::vector<rank_count> out;
  for (const auto& [doubled, rows, relation] : told)
    out.push_back(
      {static_cast<std::int64_t>(doubled[0] | std::uint64_t{doubled[1]} << 32),
       rows, relation});
  return out;
}

/// Likewise of `group_count`.
struct group_words {
  std::int32_t size;
  std::int32_t count;
  std::array<std::uint32_t, 2> doubled; ///< The lower half first.
};

std::vector<group_words> words_of(const std::vector<group_count>& groups) {
  std::vector<group_words> out;
  for (const auto& [size, count, doubled] : groups) {
    const auto bits = static_cast<std::uint64_t>(doubled);
    out.push_back({size,
                   count,
                   {static_cast<std::uint32_t>(bits),
                    static_cast<std::uint32_t>(bits >> 32)}});
  }
  return out;
}

result<std::vector<group_count>> groups_in(std::uint32_t count,
                                           word_reader& words) {
  std::vector<group_words> told;
  GRAPHMILL_TRYV(words.take(told, count));
  std::vector<group_count> out;
  for (const auto& [size, links, doubled] : told)
    out.push_back({size, links,
                   static_cast<std::int64_t>(
                     doubled[0] | std::uint64_t{doubled[1]} << 32)});
  return out;
}

result<seed_outcomes> outcomes_in(schema::Outcomes::Reader in,
                                  word_reader& words) {
  seed_outcomes out;
  out.classes = in.getClasses();
  if (out.classes < 1)
    return fail(ec::invalid_data, "outcomes of seeds of {} classes",
                out.classes);
  GRAPHMILL_TRY(out.form, form_in(in));
  const std::uint64_t seeds = in.getScored();
  const auto each = seeds * static_cast<std::uint64_t>(out.classes);
  GRAPHMILL_TRYV(words.take(out.confusion, in.getPairs()));
  GRAPHMILL_TRYV(words.take(out.labels, seeds * out.label_words()));
  if (out.form == outcome_form::values)
    GRAPHMILL_TRYV(words.take(out.values, each));
  GRAPHMILL_TRYV(words.take(out.scores, each));
  GRAPHMILL_TRY(out.destination_ranks,
                ranks_in(in.getDestinationRanks(), words));
  GRAPHMILL_TRY(out.source_ranks, ranks_in(in.getSourceRanks(), words));
  out.tied = in.getTied();
  GRAPHMILL_TRY(out.groups, groups_in(in.getGroups(), words));
  GRAPHMILL_TRYV(out.check());
  return out;
}

/// @param width Logits of each seed of the step; not 0.
result<std::vector<float>> logits_in(std::uint32_t width, const step_done& step,
                                     word_reader& words) {
  std::vector<float> out;
  GRAPHMILL_TRYV(
    words.take(out, std::uint64_t{width} * step.original_seeds.size()));
  if (out.size() > seed_outcomes::most_batch_scores)
    return fail(ec::invalid_data, "{} logits of a batch; {} are the most",
                out.size(), seed_outcomes::most_batch_scores);
  return out;
}

/// Nothing of the bulk may be left over.
result<void> read_outcomes(schema::RunEvents::Reader in, const payload& from,
                           run_events& into) {
  word_reader words{from};
  const auto steps = in.getSteps();
  for (unsigned i = 0; i < steps.size(); ++i) {
    auto& step = into.steps[i];
    if (steps[i].hasOutcomes()) {
      GRAPHMILL_TRY(auto told, outcomes_in(steps[i].getOutcomes(), words));
      step.outcomes = std::make_shared<const seed_outcomes>(std::move(told));
    }
    if (const auto width = steps[i].getLogits(); width != 0) {
      GRAPHMILL_TRY(auto told, logits_in(width, step, words));
      step.logits = std::make_shared<const std::vector<float>>(std::move(told));
    }
  }
  if (!words.at_end())
    return fail(ec::invalid_data,
                "events of a run bring more outcomes than they tell of");
  return ok();
}

/// Logits of each seed; 0: none are told.
std::uint32_t width_of_logits(const step_done& step) {
  return step.logits && !step.original_seeds.empty()
           ? static_cast<std::uint32_t>(step.logits->size()
                                        / step.original_seeds.size())
           : 0;
}

/// The arrays of all steps, one behind the other.
std::vector<std::byte> bulk_of(const std::vector<step_done>& steps) {
  std::vector<std::byte> out;
  const auto add = [&out](const auto& values) {
    const auto bytes = std::as_bytes(std::span{values});
    out.insert(out.end(), bytes.begin(), bytes.end());
  };
  for (const auto& step : steps) {
    if (const auto& told = step.outcomes) {
      add(told->confusion);
      add(told->labels);
      add(told->values);
      add(told->scores);
      add(words_of(told->destination_ranks));
      add(words_of(told->source_ranks));
      add(words_of(told->groups));
    }
    if (width_of_logits(step) != 0)
      add(*step.logits);
  }
  return out;
}

void tell_sizes(const run_events& events, schema::RunEvents::Builder out) {
  auto steps = out.getSteps();
  for (unsigned i = 0; i < steps.size(); ++i) {
    steps[i].setLogits(width_of_logits(events.steps[i]));
    if (const auto& told = events.steps[i].outcomes) {
      auto sizes = steps[i].initOutcomes();
      sizes.setClasses(told->classes);
      sizes.setPairs(static_cast<std::uint32_t>(told->confusion.size()));
      sizes.setScored(static_cast<std::uint32_t>(told->scored()));
      sizes.setMultiLabel(told->form == outcome_form::labels);
      sizes.setRegression(told->form == outcome_form::values);
      sizes.setLinks(told->form == outcome_form::ranks);
      sizes.setDestinationRanks(
        static_cast<std::uint32_t>(told->destination_ranks.size()));
      sizes.setSourceRanks(
        static_cast<std::uint32_t>(told->source_ranks.size()));
      sizes.setTied(told->tied);
      sizes.setGroups(static_cast<std::uint32_t>(told->groups.size()));
    }
  }
}

} // namespace

std::size_t bulk_bytes_of(const seed_outcomes& outcomes) {
  return outcomes.confusion.size() * sizeof(confusion_count)
         + outcomes.labels.size() * sizeof(std::int32_t)
         + (outcomes.values.size() + outcomes.scores.size()) * sizeof(float)
         + (outcomes.destination_ranks.size() + outcomes.source_ranks.size())
             * sizeof(rank_words)
         + outcomes.groups.size() * sizeof(group_words);
}

result<void> step_done::check() const {
  if (key.step < 0 || key.rank < 0)
    return fail(ec::invalid_data, "step {} of rank {} is none", key.step,
                key.rank);
  return ok();
}

payload encode(const run_events& events) {
  auto out = body<schema::RunEvents>([&events](schema::RunEvents::Builder out) {
    run_events::fields(events, field_writer{out});
    tell_sizes(events, out);
    if (events.failure) {
      out.setFailure(text(events.failure->message));
      out.setFailureCode(static_cast<std::uint16_t>(events.failure->code));
    }
  });
  out.bulk = cut(bulk_of(events.steps));
  return out;
}

result<run_events> decode_run_events(const payload& from) {
  return read<schema::RunEvents>(
    from, "events of a run",
    [&from](schema::RunEvents::Reader in) -> result<run_events> {
      GRAPHMILL_TRY(auto out, read_listed<run_events>(from, in));
      GRAPHMILL_TRYV(read_outcomes(in, from, out));
      out.failure = failure_of(in);
      return out;
    });
}

payload encode(const rendezvous_request& request) {
  return body<schema::RendezvousRequest>(
    [&request](schema::RendezvousRequest::Builder out) {
      out.setRun(text(request.run));
      out.setKey(text(request.key));
      out.setSet(request.value.has_value());
      if (request.value)
        out.setValue(data_of(*request.value));
      out.setWait(static_cast<std::uint32_t>(request.wait.count()));
    });
}

result<rendezvous_request> decode_rendezvous_request(const payload& from) {
  return read<schema::RendezvousRequest>(
    from, "a rendezvous",
    [](schema::RendezvousRequest::Reader in) -> result<rendezvous_request> {
      rendezvous_request out;
      out.run = text(in.getRun());
      out.key = text(in.getKey());
      if (in.getSet())
        out.value = bytes_of(in.getValue());
      out.wait = std::chrono::milliseconds{in.getWait()};
      return out;
    });
}

payload encode_rendezvous_value(const std::optional<std::string>& value) {
  return body<schema::RendezvousReply>(
    [&value](schema::RendezvousReply::Builder out) {
      out.setFound(value.has_value());
      if (value)
        out.setValue(data_of(*value));
    });
}

result<std::optional<std::string>>
decode_rendezvous_value(const payload& from) {
  return read<schema::RendezvousReply>(from, "the answer to a rendezvous",
                                       [](schema::RendezvousReply::Reader in)
                                         -> result<std::optional<std::string>> {
                                         if (!in.getFound())
                                           return std::optional<std::string>{};
                                         return std::optional{
                                           bytes_of(in.getValue())};
                                       });
}

} // namespace graphmill

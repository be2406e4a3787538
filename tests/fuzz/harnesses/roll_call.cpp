#include "pipelines/gradients/roll_call.hpp"
#include "tests/fuzz/registry.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What other ranks leave for one at the coordinator.

namespace graphmill::fuzz {

namespace {

constexpr rank_id called_ranks = 3;
constexpr auto own_fingerprint = "weights: 7 of 3";

/// Has the same notes of all ranks: that they are there, that they wait, and
/// why they have left. An empty one is missing.
class told_notes final : public rendezvous_store {
public:
  explicit told_notes(std::vector<std::string_view> notes)
    : notes_(std::move(notes)) {}

  result<void> set(const std::string&, const std::string&) override {
    return ok();
  }

  result<std::string> get(const std::string& key, clock::time_point) override {
    constexpr std::array names{"/joined/", "/waiting/", "/left/"};
    for (std::size_t i = 0; i < names.size(); ++i)
      if (key.find(names[i]) != std::string::npos && !notes_[i].empty())
        return std::string{notes_[i]};
    return fail(ec::timeout, "nobody has set {}", key);
  }

private:
  std::vector<std::string_view> notes_;
};

void read_notes(std::string_view input) {
  const auto notes = files_in(input, 3);
  group_options options;
  options.run = "r";
  options.ranks = called_ranks;
  options.join_timeout = {};
  options.grace = {};
  roll_call calls{options, std::make_shared<told_notes>(notes)};
  const std::atomic<bool> stop{false};
  const auto joined = calls.join(own_fingerprint, stop);
  require(joined.has_value() == (notes[0] == own_fingerprint),
          "ranks with other weights in a group");
  require(joined || !joined.error().message.empty(),
          "an error without a sentence");
  const std::array<rank_id, 2> suspects{1, 2};
  for (const auto rank : calls.absent(3, suspects))
    require(std::ranges::find(suspects, rank) != suspects.end(),
            "somebody is absent whom nobody has asked for");
  if (const auto why = calls.verdict_of(1, {}))
    for (const auto rank : *why)
      require(rank >= 0 && rank < called_ranks,
              "a rank has left because of one that there is not");
}

std::vector<std::string> notes_of_ranks() {
  return {joined({own_fingerprint, "3", "1 2"}),
          joined({own_fingerprint, "-9223372036854775808", "-1 7 0"}),
          joined({"other", "", "99999999999999999999"})};
}

} // namespace

const harness roll_call_harness{"roll_call",
                                "notes that ranks leave each other", read_notes,
                                notes_of_ranks, 10000};

} // namespace graphmill::fuzz

#include "pipelines/gradients/roll_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <thread>

namespace graphmill {

namespace {

using namespace std::chrono_literals;

/// Numbers with spaces between them; stops at what is none.
std::vector<std::int64_t> numbers_in(const std::string& text) {
  std::vector<std::int64_t> out;
  const auto* at = text.data();
  const auto* end = at + text.size();
  for (;;) {
    std::int64_t value = 0;
    const auto read = std::from_chars(at, end, value);
    if (read.ec != std::errc{})
      return out;
    out.push_back(value);
    at = read.ptr == end ? end : read.ptr + 1;
  }
}

double seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

} // namespace

roll_call::roll_call(group_options options,
                     std::shared_ptr<rendezvous_store> store)
  : options_(std::move(options)), store_(std::move(store)) {}

result<void> roll_call::join(const std::string& fingerprint,
                             const std::atomic<bool>& stop) {
  const auto deadline = clock::now() + options_.join_timeout;
  GRAPHMILL_TRYV(
    store_->set(key(fmt::format("joined/{}", options_.rank)), fingerprint));
  std::vector<rank_id> missing;
  for (rank_id r = 0; r < options_.ranks; ++r) {
    for (;;) {
      if (stop)
        return fail(ec::cancelled, "{} was abandoned", group());
      const auto now = clock::now();
      const auto slice = std::min(deadline, now + 200ms);
      auto theirs = store_->get(key(fmt::format("joined/{}", r)), slice);
      if (theirs && theirs.value() != fingerprint)
        return fail(ec::invalid_argument,
                    "{} has another model or dataset ({}) than {} ({})",
                    list({&r, 1}), theirs.value(), list({&options_.rank, 1}),
                    fingerprint);
      if (theirs)
        break;
      if (theirs.error().code != ec::timeout)
        return theirs.error();
      if (now < deadline)
        continue;
      missing.push_back(r);
      break;
    }
  }
  if (missing.empty())
    return ok();
  return fail(ec::timeout, "{} {} not joined {} within {:.1f} s", list(missing),
              missing.size() == 1 ? "has" : "have", group(),
              seconds(options_.join_timeout));
}

// A note that cannot be left is a note that others do not find: they will then
// name this rank, too.

void roll_call::waiting(std::int64_t step) {
  (void)store_->set(key(fmt::format("waiting/{}", options_.rank)),
                    fmt::format("{}", step));
}

void roll_call::went_on() {
  (void)store_->set(key(fmt::format("waiting/{}", options_.rank)), "");
}

void roll_call::gave_up(std::span<const rank_id> missing) {
  (void)store_->set(key(fmt::format("left/{}", options_.rank)),
                    fmt::format("{}", fmt::join(missing, " ")));
}

bool roll_call::waits(std::int64_t step, rank_id rank) {
  const auto at = store_->get(key(fmt::format("waiting/{}", rank)), {});
  if (!at)
    return false;
  const auto numbers = numbers_in(at.value());
  return numbers.size() == 1 && numbers.front() >= step - 1;
}

std::vector<rank_id> roll_call::absent(std::int64_t step,
                                       std::span<const rank_id> suspects) {
  std::vector<rank_id> out{suspects.begin(), suspects.end()};
  const auto until = clock::now() + options_.grace;
  for (;;) {
    std::erase_if(out, [&](rank_id r) { return waits(step, r); });
    if (out.empty() || clock::now() >= until)
      return out;
    std::this_thread::sleep_for(20ms);
  }
}

std::optional<std::vector<rank_id>>
roll_call::verdict_of(rank_id rank, std::chrono::milliseconds wait) {
  const auto said =
    store_->get(key(fmt::format("left/{}", rank)), clock::now() + wait);
  if (!said)
    return std::nullopt;
  std::vector<rank_id> out;
  for (auto number : numbers_in(said.value()))
    if (number >= 0 && number < options_.ranks)
      out.push_back(static_cast<rank_id>(number));
  if (out.empty())
    return std::nullopt;
  return out;
}

std::string roll_call::list(std::span<const rank_id> ranks) const {
  std::string out;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0)
      out += i + 1 == ranks.size() ? " and " : ", ";
    out += fmt::format("rank {}", ranks[i]);
    const auto r = static_cast<std::size_t>(ranks[i]);
    if (r < options_.names.size() && !options_.names[r].empty())
      out += fmt::format(" ({})", options_.names[r]);
  }
  return out;
}

std::string roll_call::group() const {
  return fmt::format("the gradient group of {} (generation {})", options_.ranks,
                     options_.generation);
}

std::string roll_call::key(std::string_view name) const {
  return fmt::format("gradients/{}/{}/{}", options_.run, options_.generation,
                     name);
}

} // namespace graphmill

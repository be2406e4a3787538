#include "tests/actors/remote/by_transport.hpp"
#include "tests/pipelines/gradients/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

// How long a step of a gradient group takes, by ranks and bytes, over
// transports on loopback. Ranks are threads of this process, each with a
// transport of its own, as daemons have.

namespace graphmill::test {

namespace {

using clock = std::chrono::steady_clock;
using milliseconds = std::chrono::duration<double, std::milli>;

struct load {
  rank_id ranks = 2;
  std::int64_t bytes = 0; ///< Of the gradient of a rank.
  std::size_t steps = 1;
};

/// Steps that are not timed: memory is allocated, connections are made.
constexpr std::size_t warm_up = 3;

std::shared_ptr<const gradient_set> some_gradients(std::int64_t floats) {
  auto out = std::make_shared<gradient_set>();
  out->dense.resize(static_cast<std::size_t>(floats));
  std::fill(out->dense.begin(), out->dense.end(), 1.0f);
  return out;
}

/// The times of one rank's steps, or nothing if one has failed.
std::vector<double> times_of(group_rank& rank, const load& of,
                             const std::shared_ptr<const gradient_set>& mine) {
  std::vector<double> out;
  for (std::size_t step = 0; step < warm_up + of.steps; ++step) {
    gradient_progress all;
    all.finish(1);
    const auto begun = clock::now();
    const auto sum =
      rank.reduce({.step = static_cast<std::int64_t>(step)}, mine, all);
    if (!sum) {
      fmt::print(stderr, "{}\n", to_string(sum.error()));
      return {};
    }
    if (step >= warm_up)
      out.push_back(milliseconds{clock::now() - begun}.count());
  }
  return out;
}

bool measure(const load& of) {
  const auto floats = of.bytes / std::int64_t{sizeof(float)};
  rank_group group{of.ranks, {floats, {}}};
  group.options.slow_after = std::chrono::seconds{30};
  group.start();
  std::vector<std::vector<double>> times(static_cast<std::size_t>(of.ranks));
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < times.size(); ++r)
    threads.emplace_back([&, r] {
      times[r] = times_of(*group.joined[r], of, some_gradients(floats));
    });
  for (auto& thread : threads)
    thread.join();
  auto& first = times.front();
  if (first.empty())
    return false;
  std::sort(first.begin(), first.end());
  fmt::print("{} ranks, {:>5.1f} MB: {:8.2f} ms a step (least {:.2f}, most "
             "{:.2f}, of {} steps)\n",
             of.ranks, static_cast<double>(of.bytes) / 1e6,
             first[first.size() / 2], first.front(), first.back(),
             first.size());
  std::fflush(stdout);
  return true;
}

} // namespace

} // namespace graphmill::test

/// Without RANKS BYTES STEPS the usual loads.
int main(int argc, char** argv) {
  const auto* program = argv[0];
  if (argc > 1 && std::string_view{argv[1]} == "--keys") {
    graphmill::test::use_keys(true);
    --argc;
    ++argv;
  }
  using graphmill::test::load;
  std::vector<load> loads{{2, 1'000'000, 200},
                          {4, 1'000'000, 200},
                          {2, 100'000'000, 10},
                          {4, 100'000'000, 6}};
  if (argc == 4)
    loads = {{std::atoi(argv[1]), std::atoll(argv[2]),
              static_cast<std::size_t>(std::atoll(argv[3]))}};
  const auto sound =
    std::all_of(loads.begin(), loads.end(), [](const load& of) {
      return of.ranks > 0 && of.steps > 0 && of.bytes >= 0;
    });
  if (!sound || (argc != 1 && argc != 4)) {
    fmt::print(stderr, "usage: {} [--keys] [RANKS BYTES STEPS]\n", program);
    return 2;
  }
  for (const auto& one : loads)
    if (!graphmill::test::measure(one))
      return 1;
  return 0;
}

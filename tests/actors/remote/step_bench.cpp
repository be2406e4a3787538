#include "tests/actors/remote/by_transport.hpp"
#include "tests/pipelines/gradients/ranks.hpp"

#include <fmt/format.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

// How long a step of a gradient group takes, by ranks and bytes, over
// transports on loopback. Ranks are threads of this process, each with a
// transport of its own, as daemons have. Beside it, as the limit, how long
// plain sockets take for as many bytes between as many threads, which add
// nothing up.

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
    all.finish({0, 0, 1});
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

/// Two ends of a connection over loopback.
struct connection {
  int from = -1;
  int to = -1;
};

connection connect_on_loopback() {
  connection out;
  const auto door = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* address = reinterpret_cast<sockaddr*>(&at);
  socklen_t size = sizeof(at);
  if (::bind(door, address, size) == 0 && ::listen(door, 1) == 0
      && ::getsockname(door, address, &size) == 0) {
    out.from = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(out.from, address, size) == 0)
      out.to = ::accept(door, nullptr, nullptr);
  }
  ::close(door);
  return out;
}

/// Sends, or receives, all of it.
bool move_bytes(int over, std::vector<char>& bytes, bool send) {
  for (std::size_t done = 0; done < bytes.size();) {
    const auto left = bytes.size() - done;
    const auto moved = send
                         ? ::send(over, bytes.data() + done, left, MSG_NOSIGNAL)
                         : ::recv(over, bytes.data() + done, left, 0);
    if (moved <= 0)
      return false;
    done += static_cast<std::size_t>(moved);
  }
  return true;
}

/// The least milliseconds that plain sockets take for the bytes of a step: what
/// each rank sends goes from one thread to another. 0 if they fail.
double least_time_of_sockets(const load& of) {
  const auto each = static_cast<std::size_t>(of.bytes) * 2
                    * static_cast<std::size_t>(of.ranks - 1)
                    / static_cast<std::size_t>(of.ranks);
  std::vector<connection> all(static_cast<std::size_t>(of.ranks));
  std::vector<std::vector<char>> out(all.size(), std::vector<char>(each));
  auto in = out;
  std::atomic<bool> sound{true};
  for (auto& one : all) {
    one = connect_on_loopback();
    sound = sound && one.to >= 0;
  }
  double least = 0;
  for (std::size_t turn = 0; sound && turn < warm_up + 5; ++turn) {
    std::vector<std::thread> threads;
    const auto begun = clock::now();
    for (std::size_t i = 0; i < all.size(); ++i) {
      threads.emplace_back([&, i] {
        if (!move_bytes(all[i].from, out[i], true))
          sound = false;
      });
      threads.emplace_back([&, i] {
        if (!move_bytes(all[i].to, in[i], false))
          sound = false;
      });
    }
    for (auto& thread : threads)
      thread.join();
    const auto took = milliseconds{clock::now() - begun}.count();
    least = turn == 0 ? took : std::min(least, took);
  }
  for (const auto& one : all) {
    ::close(one.from);
    ::close(one.to);
  }
  return sound ? least : 0;
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
  const auto limit = least_time_of_sockets(of);
  fmt::print("{} ranks, {:>5.1f} MB: {:8.2f} ms a step (least {:.2f}, most "
             "{:.2f}, of {} steps); sockets {:.2f} ms, which is {:.2f} of it\n",
             of.ranks, static_cast<double>(of.bytes) / 1e6,
             first[first.size() / 2], first.front(), first.back(), first.size(),
             limit, limit / first[first.size() / 2]);
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

#include "actors/remote/rank_links.hpp"

#include "actors/transport/sessions/address.hpp"
#include "pipelines/gradients/messages/message_collective.hpp"
#include "tests/actors/remote/rank_daemons.hpp"
#include "tests/actors/transport/network.hpp"
#include "tests/pipelines/gradients/gradient_sets.hpp"
#include "tests/pipelines/gradients/ranks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <random>
#include <thread>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

const gradient_shape some_shape{5003, {{20, 3}}};
const bucket_limits small_buckets{4096, 8192};

/// A group whose ranks are where the test says.
struct placed_group : rank_group {
  rank_daemons& daemons;
  std::vector<std::size_t> daemon_of_rank;

  placed_group(rank_daemons& there, std::vector<std::size_t> places)
    : rank_group(static_cast<rank_id>(places.size()), some_shape,
                 small_buckets),
      daemons(there), daemon_of_rank(std::move(places)) {}

  void start_all() {
    for (rank_id r = 0; r < options.ranks; ++r) {
      auto own = options;
      own.rank = r;
      joined.push_back(std::make_unique<group_rank>(
        own, shape, store,
        [this](auto roll, const std::string& fingerprint) {
          auto link = daemons.link(roll->options(), daemon_of_rank);
          return join_by_messages(std::move(roll), fingerprint, std::move(link),
                                  orphans);
        },
        counters, limits));
    }
  }

  /// Takes steps with gradients drawn from a seed, and compares the sums.
  void train(std::int64_t first, std::int64_t steps, unsigned seed) {
    CATCH_INFO("seed " << seed);
    std::mt19937_64 random{seed};
    for (auto step = first; step < first + steps; ++step) {
      std::vector<shared_set> parts;
      for (rank_id r = 0; r < options.ranks; ++r)
        parts.push_back(random_set(random, shape, false));
      const auto wanted = sum_of(parts);
      const std::vector<step_word> words(parts.size(), step_word{.step = step});
      for (const auto& sum :
           rank_group::step(all_ranks(options.ranks), parts, words))
        CATCH_CHECK(same(*value_of(sum).gradients, wanted));
    }
  }
};

std::uint64_t messages_of(rank_daemons& daemons, std::size_t daemon) {
  return daemons.net(daemon)
    .statistics()
    .of(method::contribute)
    .requests_sent.messages;
}

/// Ends all connections that others have to a port of this process.
int cut_connections(std::uint16_t port) {
  int cut = 0;
  for (int descriptor = 0; descriptor < 4096; ++descriptor) {
    sockaddr_in own{};
    socklen_t size = sizeof(own);
    int listens = 0;
    socklen_t flag = sizeof(listens);
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &size) != 0
        || own.sin_family != AF_INET || ntohs(own.sin_port) != port
        || ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &flag)
             != 0
        || listens != 0)
      continue;
    cut += ::shutdown(descriptor, SHUT_RDWR) == 0;
  }
  return cut;
}

} // namespace

CATCH_TEST_CASE("ranks of one daemon and of others add up alike",
                "[remote][gradients]") {
  const auto with_keys = GENERATE(false, true);
  const auto keys = value_of(make_keys());
  rank_daemons daemons{3, [&](std::size_t, transport_options& options) {
                         if (with_keys)
                           options.keys = keys;
                       }};
  placed_group group{daemons, {0, 1, 0, 2}};
  group.start_all();
  group.train(0, 3, 4);
  for (std::size_t d = 0; d < 3; ++d)
    CATCH_CHECK(messages_of(daemons, d) > 0);
}

CATCH_TEST_CASE("sixteen ranks on four daemons add up like one process",
                "[remote][gradients]") {
  rank_daemons daemons{4};
  std::vector<std::size_t> places(16);
  for (std::size_t r = 0; r < places.size(); ++r)
    places[r] = r % 4;
  placed_group group{daemons, places};
  group.start_all();
  group.train(0, 3, 16);
}

CATCH_TEST_CASE("what ranks of other daemons say is counted by daemon",
                "[remote][gradients][health]") {
  rank_daemons daemons{3};
  // Nobody looks for the last one.
  daemons.flows(0).begin("r", {"daemon-1"});
  daemons.flows(1).begin("r", {"daemon-0"});
  placed_group group{daemons, {0, 1, 0, 2}};
  group.start_all();
  group.train(0, 3, 6);
  CATCH_CHECK(daemons.flows(0).to("daemon-2") == nullptr);
  const peer_flow to = *daemons.flows(0).to("daemon-1");
  const peer_flow from = *daemons.flows(1).to("daemon-0");
  CATCH_CHECK(to.asked > 0);
  CATCH_CHECK(from.asked > 0);
  // What is sent is counted once, and what comes again, each time.
  CATCH_CHECK(to.gradients_sent > 0);
  CATCH_CHECK(from.gradients_received >= to.gradients_sent);
  CATCH_CHECK(to.gradients_received >= from.gradients_sent);
  CATCH_CHECK(from.served >= to.asked);
  CATCH_CHECK(to.served >= from.asked);
  CATCH_CHECK(to.data_sent == 0);
  CATCH_CHECK(messages_of(daemons, 0) > to.asked); // Some to the last one.
}

CATCH_TEST_CASE("what ranks of one daemon say does not leave it",
                "[remote][gradients]") {
  rank_daemons daemons{1};
  placed_group group{daemons, {0, 0, 0}};
  group.start_all();
  group.train(0, 3, 5);
  CATCH_CHECK(messages_of(daemons, 0) == 0);
}

CATCH_TEST_CASE("connections that break and heal end no group",
                "[remote][gradients]") {
  rank_daemons daemons{3};
  placed_group group{daemons, {0, 1, 2}};
  group.start_all();
  group.train(0, 1, 7);
  // Catch2's macros are for one thread.
  std::vector<std::uint16_t> ports;
  for (std::size_t d = 0; d < 3; ++d)
    ports.push_back(value_of(parse_endpoint(daemons.address(d).address)).port);
  // A salvo for each step, in the midst of it or while its connections heal.
  // How many steps there are by then does not depend on how fast they heal.
  std::atomic<bool> over{false};
  std::atomic<int> cuts{0};
  std::atomic<int> steps{0};
  std::thread cutter{[&] {
    auto seen = 0;
    while (!over) {
      for (auto salvo = 0; seen != steps && salvo < 3; ++salvo) {
        for (const auto port : ports)
          cuts += cut_connections(port);
        std::this_thread::sleep_for(20ms);
      }
      seen = steps;
      std::this_thread::sleep_for(1ms);
    }
  }};
  for (std::int64_t step = 1; step < 1000 && (step < 20 || cuts < 30); ++step) {
    ++steps;
    group.train(step, 1, 7);
  }
  over = true;
  cutter.join();
  CATCH_INFO(cuts.load() << " connections were cut");
  CATCH_CHECK(cuts.load() > 0);
  group.train(1000, 1, 7);
}

CATCH_TEST_CASE("a daemon that is gone is named", "[remote][gradients]") {
  rank_daemons daemons{3, {}, 5s};
  placed_group group{daemons, {0, 1, 2}};
  group.options.names = {"a", "b", "c"};
  group.start_all();
  group.train(0, 1, 8);
  std::mt19937_64 random{8};
  const std::vector<shared_set> parts(3, random_set(random, some_shape, true));
  // Most of the time the others are in the step already.
  std::thread end{[&daemons] {
    std::this_thread::sleep_for(50ms);
    daemons.kill(2);
  }};
  const auto sums =
    group.step({0, 1}, parts, std::vector<step_word>(3, step_word{.step = 1}));
  end.join();
  for (const auto& sum : sums) {
    const auto reason = error_of(sum);
    CATCH_CHECK(reason.code == ec::unavailable);
    CATCH_CHECK_THAT(reason.message,
                     contains("rank 2 (c) is missing from the gradient group "
                              "of 3 (generation 0) in step 1"));
  }
}

CATCH_TEST_CASE("who has no rank of a group cannot send to it",
                "[remote][gradients]") {
  rank_daemons daemons{3};
  placed_group group{daemons, {0, 1}};
  group.start_all();
  group.train(0, 1, 9);
  const auto ask_of = [&](std::size_t from, const payload& what) {
    return error_of(ask(daemons.net(from), daemons.address(0).address,
                        method::contribute, what));
  };
  const gradient_message good{"test", 0, 1, 0, gradient_purpose::piece,
                              99,     0, 8};
  const std::vector<std::byte> bytes(8);
  const auto piece = [&](auto change) {
    auto head = good;
    change(head);
    return encode(head, frame::copy(bytes));
  };
  // Daemon 2 has no rank, and daemon 1 is not at the place of rank 0.
  const auto stranger = ask_of(2, piece([](auto&) {}));
  CATCH_CHECK(stranger.code == ec::permission);
  CATCH_CHECK_THAT(stranger.message, contains("does not have rank 1"));
  for (const rank_id other : {-1, 0, 2, 77})
    CATCH_CHECK(
      ask_of(1, piece([other](auto& head) { head.from = other; })).code
      == ec::permission);
  const auto outsider = start(client("outsider"));
  CATCH_CHECK(error_of(ask(*outsider, daemons.address(0).address,
                           method::contribute, piece([](auto&) {})))
                .code
              == ec::permission);
  CATCH_CHECK(ask_of(1, piece([](auto& head) { head.run = "other"; })).code
              == ec::unavailable);
  CATCH_CHECK(ask_of(1, piece([](auto& head) { head.generation = 1; })).code
              == ec::unavailable);
  CATCH_CHECK(ask_of(1, piece([](auto& head) { head.to = 1; })).code
              == ec::unavailable);
  CATCH_CHECK(ask_of(1, piece([](auto& head) { head.offset = 1; })).code
              == ec::invalid_data);
  CATCH_CHECK(ask_of(1, {}).code == ec::invalid_data);
  CATCH_CHECK(ask_of(1, text_payload("garbage.")).code == ec::invalid_data);
  auto two = piece([](auto&) {});
  two.bulk.push_back(two.bulk.front());
  CATCH_CHECK(ask_of(1, two).code == ec::invalid_data);
  group.train(1, 2, 9);
}

CATCH_TEST_CASE("a rank that has gone without closing takes nothing",
                "[remote][gradients]") {
  rank_inboxes inboxes;
  inboxes.open({"run", 3, {{"a", "tcp://x:1"}, {"b", "tcp://x:2"}}}, 1, {});
  error told;
  inboxes.deliver({"run", 3, 0, 1}, {},
                  [&told](const result<void>& how) { told = error_of(how); });
  CATCH_CHECK(told.code == ec::unavailable);
  CATCH_CHECK(told.message == "rank 1 has left");
}

CATCH_TEST_CASE("what ranks leave unanswered fits into what daemons take",
                "[remote][gradients]") {
  struct cluster {
    std::size_t daemons, ranks_of_each;
  };
  const auto net = start(client("nobody"));
  for (const auto& [count, each] :
       {cluster{2, 1}, cluster{2, 2}, cluster{2, 8}, cluster{3, 1},
        cluster{16, 1}, cluster{16, 8}, cluster{64, 1}, cluster{64, 8}}) {
    CATCH_INFO(count << " daemons with " << each << " ranks");
    rank_places group{"run", 0, {}};
    for (std::size_t r = 0; r < count * each; ++r)
      group.daemons.push_back({fmt::format("d{}", r / each), "tcp://x:1"});
    const auto link = link_over(*net, std::make_shared<rank_inboxes>(), group,
                                0, patience_of_ranks(1min));
    const auto last = static_cast<rank_id>(group.daemons.size() - 1);
    const auto window = link->window(last);
    const transport_options limits;
    CATCH_CHECK(window > 0);
    CATCH_CHECK(window * each * each < limits.request_bytes / 4);
    CATCH_CHECK(window * each * each * (count - 1) < limits.request_bytes);
  }
}

} // namespace graphmill::test

// A client that asks a coordinator without a key for more than its share, until
// its standard input is closed.
//   flooder watch ADDRESS RUN COUNT   that many watches of a run at once
//   flooder report ADDRESS RUN COUNT  that many reports of health of the run,
//                                     as large as can be
//   flooder join ADDRESS DATASET DIGEST PART_DIGESTS COUNT
//                                     joins as a daemon without parts, leaves,
//                                     and tries to be back, that many times,
//                                     each as a process of its own would;
//                                     digests of parts have commas between them
//   flooder greet ADDRESS COUNT       that many greetings, each of an
//                                     incarnation of its own, that wish to be
//                                     silent for 10 minutes
// Says "flooding" once all have been sent, and in the end what became of them.

#include "actors/transport/sessions/message.hpp"
#include "actors/transport/transport.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/wire/health.hpp"

#include <sys/resource.h>

#include <zmq.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <future>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

namespace {

using namespace graphmill;

/// Greeters that stay connected; the first ones leave for those that come.
constexpr std::size_t most_connected = 300;

void raise_limit_of_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Bounded by whoever started us, who closes our input.
void await_end() {
  std::cout << "flooding" << std::endl;
  while (std::getchar() != EOF)
    continue;
}

payload wanted_watch(const std::string& run) {
  watch_request wanted;
  wanted.run = run;
  wanted.cursor = 1'000'000; // What never comes.
  wanted.wait = std::chrono::minutes{1};
  return encode(wanted);
}

payload forged_report(const std::string& run) {
  const std::string text(health_limits::text, 'x');
  daemon_health report;
  report.daemon = "flooder";
  report.run = run;
  actor_health actor;
  actor.peer = actor.why = actor.last_error = text;
  actor.batch = batch_place{};
  report.actors.resize(health_limits::actors, actor);
  report.peers.resize(health_limits::peers, {text});
  return encode(report);
}

int flood_requests(const std::string& address, method which,
                   const payload& data, int count) {
  transport_options with;
  with.name = "flooder";
  with.insecure = true;
  auto started = transport::start(std::move(with));
  if (!started) {
    std::cerr << started.error().message << '\n';
    return 1;
  }
  std::atomic<int> served{0};
  std::atomic<int> refused{0};
  {
    const auto net = std::move(started).value();
    call_options options;
    options.deadline = std::chrono::minutes{5};
    options.unreachable = std::chrono::minutes{5};
    for (int i = 0; i < count; ++i)
      net->request(address, which, data, options,
                   [&served, &refused](const result<payload>& answer) {
                     ++(answer ? served : refused);
                   });
    await_end();
  }
  std::cout << "served " << served << " refused " << refused << std::endl;
  return 0;
}

/// Asks and waits for the answer.
result<payload> ask(transport& net, const std::string& address, method which,
                    const payload& data) {
  auto promise = std::make_shared<std::promise<result<payload>>>();
  auto answer = promise->get_future();
  call_options options;
  options.deadline = std::chrono::seconds{20};
  options.unreachable = std::chrono::seconds{20};
  net.request(address, which, data, options, [promise](result<payload> came) {
    promise->set_value(std::move(came));
  });
  return answer.get(); // Every request ends.
}

/// A daemon without parts, as each of its processes is one.
result<std::unique_ptr<transport>> next_daemon() {
  transport_options with;
  with.name = "flooder";
  with.listen = "tcp://127.0.0.1:0";
  with.insecure = true;
  with.on_request = [](const incoming_request& request) {
    request.reply.reply(payload{});
  };
  return transport::start(std::move(with));
}

int flood_joins(const std::string& address, join_request offer,
                const std::string& part_digests, int count) {
  std::stringstream digests{part_digests};
  for (std::string one; std::getline(digests, one, ',');)
    offer.part_digests.push_back(one);
  offer.slots = 0;
  offer.host = "here";
  const auto wanted = encode(offer);
  int joined = 0;
  int back = 0;
  for (int i = 0; i < count; ++i) {
    auto started = next_daemon();
    if (!started) {
      std::cerr << started.error().message << '\n';
      return 1;
    }
    const auto net = std::move(started).value();
    joined += ask(*net, address, method::join, wanted).has_value();
    if (ask(*net, address, method::leave, {}))
      back += ask(*net, address, method::join, wanted).has_value();
  }
  await_end();
  std::cout << "joined " << joined << " back " << back << std::endl;
  return 0;
}

/// A connection that has greeted over its control channel alone.
std::unique_ptr<zmq::socket_t> greeter(zmq::context_t& context,
                                       const std::string& address) {
  auto out = std::make_unique<zmq::socket_t>(context, ZMQ_DEALER);
  out->set(zmq::sockopt::linger, 0);
  out->connect(address);
  envelope head;
  head.kind = message_kind::request;
  head.method = method::hello;
  head.attempt = 1;
  hello_message hello;
  hello.name = "flooder";
  hello.incarnation = draw_identity();
  hello.lost_after = std::chrono::minutes{10};
  const auto first = encode_envelope(head);
  const auto second = encode_hello(hello);
  out->send(zmq::const_buffer{first.data(), first.size()},
            zmq::send_flags::sndmore);
  out->send(zmq::const_buffer{second.data(), second.size()},
            zmq::send_flags::none);
  return out;
}

using flooder_clock = std::chrono::steady_clock;

/// A greeter has had its answer by then, or never gets one; but for the first,
/// which comes before all others.
constexpr std::chrono::seconds until_answered{1};
constexpr std::chrono::seconds until_first_answer{60};

struct greeting {
  std::unique_ptr<zmq::socket_t> from;
  flooder_clock::time_point said;
};

int flood_greetings(const std::string& address, int count) {
  raise_limit_of_files();
  zmq::context_t context;
  context.set(zmq::ctxopt::max_sockets, 4096);
  std::deque<greeting> connected;
  int answered = 0;
  const auto take_leave = [&connected, &answered] {
    const auto& first = connected.front();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      first.said + (answered == 0 ? until_first_answer : until_answered)
      - flooder_clock::now());
    zmq::pollitem_t item{first.from->handle(), 0, ZMQ_POLLIN, 0};
    zmq::poll(&item, 1, std::max(left, std::chrono::milliseconds{0}));
    answered += (item.revents & ZMQ_POLLIN) != 0;
    connected.pop_front();
  };
  for (int i = 0; i < count; ++i) {
    if (connected.size() == most_connected)
      take_leave();
    connected.push_back({greeter(context, address), flooder_clock::now()});
  }
  await_end();
  while (!connected.empty())
    take_leave();
  std::cout << "answered " << answered << std::endl;
  return 0;
}

} // namespace

int main(int count, char** texts) {
  const std::deque<std::string> given(texts + 1, texts + count);
  if (given.size() == 4 && given[0] == "watch")
    return flood_requests(given[1], method::watch, wanted_watch(given[2]),
                          std::atoi(given[3].c_str()));
  if (given.size() == 4 && given[0] == "report")
    return flood_requests(given[1], method::health_report,
                          forged_report(given[2]), std::atoi(given[3].c_str()));
  if (given.size() == 6 && given[0] == "join") {
    join_request offer;
    offer.dataset = given[2];
    offer.dataset_digest = given[3];
    return flood_joins(given[1], std::move(offer), given[4],
                       std::atoi(given[5].c_str()));
  }
  if (given.size() == 3 && given[0] == "greet")
    return flood_greetings(given[1], std::atoi(given[2].c_str()));
  std::cerr << "usage: flooder watch|report ADDRESS RUN COUNT | join ADDRESS "
               "DATASET DIGEST PART_DIGESTS COUNT | greet ADDRESS COUNT\n";
  return 2;
}

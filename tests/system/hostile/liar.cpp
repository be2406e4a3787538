// A daemon with a key of its own that lies to the coordinator.
//   liar COORDINATOR NAME KEY
// Joins when told to, and then answers as it was told last, by lines of its
// standard input, until that is closed:
//   set WHAT VALUE                       see `serve`
//   join DATASET DIGEST DIGESTS PARTS SLOTS   of parts, with commas; none: "-"
// Says "joined", and what it is asked, by lines of its standard output.

#include "actors/transport/sockets/connections/keys.hpp"
#include "actors/transport/transport.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/wire/run.hpp"

#include <chrono>
#include <cstdint>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace graphmill;

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> out;
  std::stringstream in{text};
  for (std::string word; std::getline(in, word, ',');)
    out.push_back(word);
  return out;
}

/// Requests come by threads of the transport.
class liar {
public:
  explicit liar(std::string coordinator)
    : coordinator_(std::move(coordinator)) {}

  ~liar() {
    if (failing_.joinable())
      failing_.join();
    net_.reset();
  }

  result<void> start(const std::string& name, const std::string& key) {
    transport_options with;
    with.name = name;
    with.listen = "tcp://127.0.0.1:0";
    GRAPHMILL_TRY(with.keys, read_keys(key));
    with.on_request = [this](const incoming_request& asked) { serve(asked); };
    GRAPHMILL_TRY(net_, transport::start(std::move(with)));
    net_->keep(coordinator_);
    return ok();
  }

  void set(const std::string& what, const std::string& value) {
    std::lock_guard lock{mutex_};
    settings_[what] = value;
  }

  void join(std::istream& words) {
    join_request offer;
    std::string digests;
    std::string parts;
    words >> offer.dataset >> offer.dataset_digest >> digests >> parts
      >> offer.slots;
    offer.part_digests = split_at_commas(digests);
    if (parts != "-")
      for (const auto& part : split_at_commas(parts))
        offer.parts.push_back(static_cast<part_id>(std::stoi(part)));
    offer.host = "liar";
    const auto answer = ask(method::join, encode(offer));
    say(answer ? "joined" : answer.error().message);
  }

private:
  std::string get(const std::string& what) {
    std::lock_guard lock{mutex_};
    return settings_[what];
  }

  void say(const std::string& line) {
    std::lock_guard lock{mutex_};
    std::cout << line << std::endl;
  }

  result<payload> ask(method what, payload data) {
    call_options how;
    how.deadline = std::chrono::seconds{20};
    how.unreachable = std::chrono::seconds{20};
    const auto told = std::make_shared<std::promise<result<payload>>>();
    net_->request(
      coordinator_, what, std::move(data), how,
      [told](result<payload> answer) { told->set_value(std::move(answer)); });
    return told->get_future().get();
  }

  /// Never answers.
  void hold(const incoming_request& asked) {
    std::lock_guard lock{mutex_};
    held_.push_back(asked);
  }

  /// `orders superseded`: nobody is to be obeyed. `fails yes`: each share fails
  /// soon; `fails trained`: after a step of rank 0. `kept silent`: what is
  /// kept is never told; `kept far`: much is.
  void serve(const incoming_request& asked) {
    const auto is_order =
      asked.method == method::order || asked.method == method::deploy;
    if (is_order && get("orders") == "superseded") {
      asked.reply.reply(fail(ec::superseded, "nobody obeys you any more"));
    } else if (asked.method == method::deploy) {
      const auto share = decode_deployment(asked.data);
      asked.reply.reply(payload{});
      if (share && !get("fails").empty())
        fail_soon(share.value().run, share.value().generation + 1);
    } else if (asked.method == method::order) {
      obey(asked);
    } else {
      say("asked for " + std::string{to_string(asked.method)});
      hold(asked);
    }
  }

  void obey(const incoming_request& asked) {
    const auto order = decode_member_request(asked.data);
    member_reply reply;
    if (order && order.value().action == member_action::kept) {
      say("asked for what is kept");
      if (get("kept") == "silent") {
        say("does not answer");
        hold(asked);
        return;
      }
      if (get("kept") == "far") {
        run_position at;
        at.epoch = 999'999;
        at.step = at.train_steps = 1;
        reply.kept = at;
        reply.trainers.push_back({0, "00", 1});
        reply.tensors.push_back({"w", {1'000'000'000'000}});
      }
    }
    asked.reply.reply(encode(reply));
  }

  void fail_soon(const std::string& run, std::uint32_t attempt) {
    if (failing_.joinable())
      failing_.join();
    failing_ = std::thread{[this, run, attempt] {
      // Until the run is conducted, its steps do not count.
      std::this_thread::sleep_for(std::chrono::milliseconds{400});
      run_events events;
      events.run = run;
      events.attempt = attempt;
      events.sequence = 1;
      step_done step;
      step.key.phase = phase::train;
      step.key.step = attempt; // Each time further.
      step.seeds = 1;
      events.steps.push_back(step);
      if (get("fails") == "trained") {
        const auto told = ask(method::run_event, encode(events));
        say(told ? "step taken" : "step refused");
      }
      events.steps.clear();
      events.sequence = 2;
      events.failure = fail(ec::unavailable, "it fails again");
      if (!ask(method::run_event, encode(events)))
        say("failure refused");
    }};
  }

  std::string coordinator_;
  std::mutex mutex_;
  std::map<std::string, std::string> settings_;
  std::vector<incoming_request> held_;
  std::thread failing_;
  std::unique_ptr<transport> net_;
};

} // namespace

int main(int count, char** words) {
  if (count != 4)
    return 2;
  liar it{words[1]};
  if (auto started = it.start(words[2], words[3]); !started) {
    std::cerr << started.error().message << '\n';
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    std::stringstream in{line};
    std::string command;
    in >> command;
    if (command == "set") {
      std::string what;
      std::string value;
      in >> what >> value;
      it.set(what, value);
    } else if (command == "join") {
      it.join(in);
    }
  }
  return 0;
}

#include "tests/actors/transport/sessions/caller_scene.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace graphmill::test {

namespace {

liveness_options short_times() {
  liveness_options out;
  out.lost_after = std::chrono::seconds{3};
  out.refused_after = std::chrono::seconds{1};
  return out;
}

caller_session::settings settings_with(std::uint64_t seed, bool control_first,
                                       const liveness_options& liveness) {
  caller_session::settings out;
  out.self.name = "self";
  out.self.incarnation = std::string(32, '0');
  out.seed = seed;
  out.control_first = control_first;
  out.queue_bytes = 1000;
  out.liveness = liveness;
  return out;
}

} // namespace

caller_scene::caller_scene(std::uint64_t seed, bool control_first)
  : session_(address(), settings_with(seed, control_first, short_times())) {}

caller_scene::caller_scene(const liveness_options& liveness)
  : session_(address(), settings_with(1, false, liveness)) {}

void caller_scene::look() {
  for (auto& effect : session_.take()) {
    if (const auto* link = std::get_if<caller_session::open_link>(&effect)) {
      if (link->channel == channel::data) {
        CATCH_CHECK(open);
        data_links.push_back(link->local);
        continue;
      }
      ++opened;
      open = true;
    } else if (std::holds_alternative<caller_session::close_link>(effect)) {
      open = false;
    } else if (auto* out = std::get_if<caller_session::send>(&effect)) {
      sent.push_back(std::move(*out));
    } else if (auto* done = std::get_if<caller_session::finish>(&effect)) {
      done->on_reply(std::move(done->answer));
    } else if (auto* said = std::get_if<caller_session::note>(&effect)) {
      notes.push_back(std::move(said->sentence));
    } else {
      events.push_back(std::get<peer_event>(effect));
    }
  }
}

void caller_scene::advance(std::chrono::milliseconds time) {
  const auto end = now_ + time;
  for (int wakes = 0; session_.next_tick() <= end; ++wakes) {
    CATCH_REQUIRE(wakes < 100000);
    now_ = std::max(now_, session_.next_tick());
    session_.tick(now_);
    look();
    if (answers_beats && open)
      beat();
  }
  now_ = end;
}

void caller_scene::beat() {
  message back;
  back.head.kind = message_kind::beat;
  receive(channel::control, std::move(back));
}

void caller_scene::receive(channel over, message incoming) {
  session_.receive(now_, over, std::move(incoming));
  look();
}

void caller_scene::answer_hello(channel over, const std::string& incarnation,
                                const std::string& token) {
  hello_message hello;
  hello.name = "peer";
  hello.incarnation = incarnation;
  hello.channel = over;
  hello.local_token = token;
  message back;
  back.head.kind = message_kind::reply;
  back.head.method = method::hello;
  back.data.body = encode_hello(hello);
  receive(over, std::move(back));
}

void caller_scene::greet(const std::string& incarnation) {
  answer_hello(channel::control, incarnation);
  answer_hello(channel::data, incarnation);
}

void caller_scene::reply(std::uint64_t id, method method_id) {
  message back;
  back.head.kind = message_kind::reply;
  back.head.id = id;
  back.head.method = method_id;
  receive(traits_of(method_id).channel, std::move(back));
}

void caller_scene::refuse(std::uint64_t id, method method_id, error reason,
                          std::chrono::milliseconds retry_after) {
  message back;
  back.head.kind = message_kind::reply;
  back.head.id = id;
  back.head.method = method_id;
  back.head.failed = true;
  back.head.failure = std::move(reason);
  back.head.retry_after = retry_after;
  receive(traits_of(method_id).channel, std::move(back));
}

void caller_scene::lose(const error& reason, bool certain) {
  session_.link_down(now_, reason, certain);
  look();
}

std::uint64_t caller_scene::ask(method method_id, call_options options) {
  const auto id = next_id_++;
  answers.resize(next_id_);
  session_.request(now_, id, method_id, {}, options, [this, id](auto got) {
    CATCH_CHECK_FALSE(answers[id]); // Exactly once.
    answers[id] = std::move(got);
  });
  look();
  return id;
}

std::vector<caller_session::send> caller_scene::requests() {
  std::vector<caller_session::send> out;
  for (auto& effect : sent)
    if (effect.content.head.kind == message_kind::request
        && effect.content.head.method != method::hello)
      out.push_back(std::move(effect));
  sent.clear();
  return out;
}

std::vector<hello_message> caller_scene::hellos() {
  std::vector<hello_message> out;
  for (const auto& effect : sent)
    if (effect.content.head.method == method::hello) {
      out.push_back(value_of(decode_hello(effect.content.data.body)));
      CATCH_CHECK(out.back().channel == effect.channel);
    }
  sent.clear();
  return out;
}

std::size_t caller_scene::count(message_kind kind, method method_id) const {
  std::size_t n = 0;
  for (const auto& out : sent)
    n += out.content.head.kind == kind && out.content.head.method == method_id;
  return n;
}

ec caller_scene::failed(std::uint64_t id) {
  CATCH_REQUIRE(answers[id]);
  return error_of(*answers[id]).code;
}

} // namespace graphmill::test

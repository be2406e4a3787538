#include "actors/cluster/coordinator/runs/rendezvous_desk.hpp"

#include "actors/base/timeouts.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// Ranks ask for one key at a time.
constexpr std::size_t most_questions = 4096;

} // namespace

void rendezvous_desk::take(const std::string& run,
                           const rendezvous_request& request,
                           const responder& reply, clock::time_point now) {
  if (request.value) {
    if (auto kept = table_.set(request.key, *request.value); !kept)
      reply.reply(kept.error());
    else
      reply.reply(encode_rendezvous_value(std::nullopt));
  } else if (questions_.size() >= most_questions) {
    reply.reply(fail(ec::unavailable,
                     "{} questions wait for keys of run {} already",
                     questions_.size(), run));
  } else {
    questions_.push_back(
      {request.key, reply,
       now + std::min(request.wait, timeouts::longest_rendezvous_wait)});
  }
  look(now);
}

void rendezvous_desk::look(clock::time_point now) {
  std::erase_if(questions_, [this, now](const question& open) {
    if (const auto* value = table_.find(open.key))
      open.reply.reply(encode_rendezvous_value(*value));
    else if (now >= open.until)
      open.reply.reply(encode_rendezvous_value(std::nullopt));
    else
      return false;
    return true;
  });
}

void rendezvous_desk::end() {
  look(clock::time_point::max());
  table_ = {};
}

} // namespace graphmill

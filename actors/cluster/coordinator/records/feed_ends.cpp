#include "actors/cluster/coordinator/records/feed_ends.hpp"

#include "actors/cluster/coordinator/records/run_archive.hpp"
#include "messages/wire/cluster.hpp"

namespace graphmill {

void feed_ends::note(const std::string& run,
                     const std::optional<error>& failure) {
  if (!failure)
    return;
  ends_.emplace_back(run, failure->code);
  if (ends_.size() > most)
    ends_.pop_front();
}

std::optional<ec> feed_ends::code_of(const std::string& run) const {
  for (const auto& [id, code] : ends_)
    if (id == run)
      return code;
  return std::nullopt;
}

void feed_ends::tell(const payload& request, const responder& reply) const {
  const auto asked = decode_feed_state_request(request);
  if (!asked) {
    reply.reply(asked.error());
    return;
  }
  const auto code = code_of(asked.value().run);
  archive_.ask(asked.value().run, reply,
               [code](const run_record& run) -> result<payload> {
                 feed_state_reply out{run.state, run.message, 0};
                 if (is_over(run.state) && code)
                   out.code = static_cast<std::uint16_t>(*code);
                 return encode(out);
               });
}

} // namespace graphmill

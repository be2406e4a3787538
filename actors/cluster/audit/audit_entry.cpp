#include "actors/cluster/audit/audit_entry.hpp"

#include "actors/cluster/audit/audit_limits.hpp"
#include "messages/base/printable.hpp"
#include "messages/wire/chaos.hpp"

#include <nlohmann/json.hpp>

namespace graphmill {

namespace {

bool changes_something(method which) {
  switch (which) {
  case method::join:
  case method::leave:
  case method::submit:
  case method::feed:
  case method::cancel:
  case method::drain:
  case method::stop:
  case method::chaos:
    return true;
  default:
    return false;
  }
}

/// Whom or what a request is about.
std::string object_of(const incoming_request& request,
                      const result<payload>& answer) {
  switch (request.method) {
  case method::join:
  case method::leave:
    return request.from.address;
  case method::submit:
  case method::feed: {
    if (!answer)
      return {};
    auto run = decode_run_id(answer.value());
    return run ? std::move(run).value() : std::string{};
  }
  case method::cancel: {
    auto asked = decode_cancel_request(request.data);
    return asked ? std::move(asked).value().run : std::string{};
  }
  case method::drain: {
    const auto asked = decode_daemon_request(request.data);
    return asked ? asked.value().name + (asked.value().back ? " (back)" : "")
                 : std::string{};
  }
  case method::stop: {
    const auto asked = decode_daemon_request(request.data);
    if (!asked)
      return {};
    return asked.value().name.empty() ? "all daemons" : asked.value().name;
  }
  case method::chaos: {
    const auto asked = decode_chaos_request(request.data);
    return asked ? sentence_of(asked.value()) : std::string{};
  }
  default:
    return {};
  }
}

/// Whose key somebody has shown; empty where keys have no roles.
std::string key_of(const peer_identity& who) {
  return who.holder.role == key_role::all ? std::string{}
                                          : label_of(who.holder);
}

std::string cut(const std::string& text) {
  return shortened(text, audit_limits::text_bytes);
}

} // namespace

std::optional<audit_entry> audit_of(const incoming_request& request,
                                    const result<payload>& answer) {
  const auto forbidden = !answer && answer.error().code == ec::permission;
  if (!forbidden && !changes_something(request.method))
    return std::nullopt;
  audit_entry out;
  out.who = request.from.name;
  out.key = key_of(request.from);
  out.host = request.host;
  out.what = to_string(request.method);
  out.object = object_of(request, answer);
  out.done = static_cast<bool>(answer);
  if (!answer) {
    out.why = answer.error().message;
    out.code = to_string(answer.error().code);
  }
  return out;
}

audit_entry audit_of(const access_refusal& refusal) {
  audit_entry out;
  out.who = refusal.from.name;
  out.key = key_of(refusal.from);
  out.host = refusal.host;
  out.what = to_string(refusal.what);
  out.done = false;
  out.why = refusal.why;
  out.code = to_string(refusal.code);
  out.times = refusal.times;
  return out;
}

std::string json_line(const audit_entry& entry) {
  nlohmann::ordered_json line;
  line["time"] = static_cast<double>(entry.time.count()) / 1000.0;
  line["who"] = cut(entry.who);
  if (!entry.key.empty())
    line["key"] = cut(entry.key);
  line["host"] = cut(entry.host);
  line["what"] = cut(entry.what);
  if (!entry.object.empty())
    line["object"] = cut(entry.object);
  line["result"] = entry.done ? "ok" : "refused";
  if (!entry.done) {
    line["code"] = cut(entry.code);
    line["why"] = cut(entry.why);
  }
  if (entry.times != 1)
    line["times"] = entry.times;
  return line.dump(-1, ' ', true,
                   nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace graphmill

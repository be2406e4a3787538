#include "actors/http/api/coordinator_calls.hpp"

#include "actors/http/api/api_answer.hpp"
#include "actors/http/api/query_fields.hpp"
#include "messages/base/printable.hpp"
#include "messages/wire/cluster.hpp"
#include "pipelines/definition/definition_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

constexpr auto definition_name = "definition.yaml";
constexpr auto metrics_name = "metrics.jsonl";

unsigned http_status_of(ec code) {
  switch (code) {
  case ec::invalid_argument:
    return 409; // The path is sound: it does not fit what is there.
  case ec::permission:
    return 403;
  case ec::not_found:
    return 404;
  case ec::timeout:
  case ec::unavailable:
    return 503;
  default:
    return 500;
  }
}

/// It names daemons and runs, and who reads it may have a terminal.
http_answer refusal_of(const error& reason) {
  return http_sentence(http_status_of(reason.code),
                       printable(reason.message, line_breaks::keep));
}

/// What is asked of the coordinator on behalf of one request over HTTP.
class coordinator_caller {
public:
  coordinator_caller(coordinator_port port, std::string host, http_reply reply)
    : port_(std::move(port)), host_(std::move(host)), reply_(std::move(reply)) {
  }

  /// @param then Makes the answer of the coordinator's. On its threads.
  template <class Then>
  void ask(method what, payload data, Then then) const {
    follow(what, std::move(data),
           [reply = reply_, then = std::move(then)](const payload& answer) {
             reply(then(answer));
           });
  }

  /// The same with a step that asks for more. A failure is the answer.
  template <class Then>
  void follow(method what, payload data, Then then) const {
    incoming_request out;
    out.method = what;
    out.from.name = "http";
    out.from.incarnation = std::string(32, '0'); // Its place in the line.
    out.host = host_;
    out.data = std::move(data);
    out.reply = responder{
      [reply = reply_, then = std::move(then)](result<payload> answer) {
        if (answer)
          then(answer.value());
        else
          reply(refusal_of(answer.error()));
      }};
    port_(out);
  }

  void refuse(unsigned status, const char* sentence) const {
    reply_(http_sentence(status, sentence));
  }
  void refuse(const error& reason) const { reply_(refusal_of(reason)); }

private:
  coordinator_port port_;
  std::string host_;
  http_reply reply_;
};

using named_call = std::function<void(
  const coordinator_caller&, const std::string& name, const http_request&)>;

/// What is about the run or daemon that the path ends with.
http_question call_by_name(const coordinator_port& port, named_call what) {
  return [port, what = std::move(what)](const http_request& asked,
                                        const http_reply& reply) {
    if (const auto name = last_name_in(asked.path))
      what({port, asked.from, reply}, *name, asked);
    else
      reply(http_sentence(404, "the path ends with no name"));
  };
}

std::string piece_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()),
          std::min(bytes.size(), most_file_bytes)};
}

/// No more of a file than the answer has: whoever asks in a loop shall not have
/// the coordinator read pieces that are thrown away.
file_request file_wanted(const std::string& run, const char* file,
                         std::uint64_t offset) {
  return {run, file, offset, most_file_bytes};
}

/// A piece of a file of a run.
named_call file_call(const char* file, const char* type) {
  return [file, type](const coordinator_caller& caller, const std::string& run,
                      const http_request& asked) {
    const auto offset = number_in(asked.query, "offset");
    if (!offset)
      return caller.refuse(400, "offset= is no whole number");
    const auto wanted = file_wanted(run, file, *offset);
    caller.ask(method::fetch_file, encode(wanted),
               [wanted, type](const payload& answer) {
                 const auto piece = decode_file_reply(answer, wanted);
                 if (!piece)
                   return refusal_of(piece.error());
                 http_answer out;
                 out.type = type;
                 out.body = std::make_shared<const std::string>(
                   piece_text(piece.value().bytes));
                 return out;
               });
  };
}

void cancel_run(const coordinator_caller& caller, const std::string& run,
                const http_request&) {
  caller.ask(method::cancel, encode(cancel_request{run, false}),
             [run](const payload&) {
               return api_answer({{"run", run}});
             });
}

named_call drain_call(bool back) {
  return [back](const coordinator_caller& caller, const std::string& daemon,
                const http_request&) {
    caller.ask(method::drain, encode(daemon_request{daemon, back}),
               [daemon, back](const payload&) {
                 return api_answer({{"daemon", daemon},
                                    {"state", back ? "ready" : "draining"}});
               });
  };
}

/// As it is: with what the run was trained by. @returns the body of `submit`.
result<payload> resumption_of(const file_request& asked, const payload& file) {
  GRAPHMILL_TRY(const auto piece, decode_file_reply(file, asked));
  const auto source = parse_record(piece_text(piece.bytes));
  if (!source.problems.empty())
    return to_error(source.problems);
  resume_request wanted;
  wanted.run = asked.run;
  return encode_resumption(source.value, wanted);
}

void resume_run(const coordinator_caller& caller, const std::string& run,
                const http_request&) {
  const auto asked = file_wanted(run, definition_name, 0);
  caller.follow(method::fetch_file, encode(asked),
                [caller, asked](const payload& file) {
                  auto wanted = resumption_of(asked, file);
                  if (!wanted)
                    return caller.refuse(wanted.error());
                  caller.ask(method::submit, std::move(wanted).value(),
                             [](const payload& answer) {
                               const auto made = decode_run_id(answer);
                               return made ? api_answer({{"run", made.value()}})
                                           : refusal_of(made.error());
                             });
                });
}

} // namespace

std::optional<std::string> last_name_in(std::string_view path) {
  auto out = decoded(path.substr(path.rfind('/') + 1));
  return out && !out->empty() ? out : std::nullopt;
}

void add_coordinator_calls(http_server::options& to,
                           const coordinator_port& port) {
  to.questions["/api/definitions/"] =
    call_by_name(port, file_call(definition_name, "text/plain; charset=utf-8"));
  to.questions["/api/metrics/"] =
    call_by_name(port, file_call(metrics_name, "application/x-ndjson"));
  // Whoever gets here has shown the token.
  to.actions["/api/token"] = [](const http_request&, const http_reply& reply) {
    reply(http_sentence(200, "this is the token for actions"));
  };
  to.actions["/api/cancel/"] = call_by_name(port, cancel_run);
  to.actions["/api/resume/"] = call_by_name(port, resume_run);
  to.actions["/api/drain/"] = call_by_name(port, drain_call(false));
  to.actions["/api/undrain/"] = call_by_name(port, drain_call(true));
}

} // namespace graphmill

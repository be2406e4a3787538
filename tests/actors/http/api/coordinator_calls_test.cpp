#include "actors/http/api/coordinator_calls.hpp"

#include "actors/http/api/query_fields.hpp"
#include "messages/wire/cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using nlohmann::json;

namespace {

/// A coordinator that keeps what it is asked, and answers with what a test has
/// laid down, one after the other.
struct asked_coordinator {
  std::vector<incoming_request> asked{};
  std::vector<result<payload>> answers{};
  http_server::options with{};

  asked_coordinator() {
    add_coordinator_calls(with, [this](const incoming_request& request) {
      asked.push_back(request);
      if (asked.size() <= answers.size())
        request.reply.reply(answers[asked.size() - 1]);
      asked.back().reply = {};
    });
  }

  static http_answer call(const std::map<std::string, http_question>& in,
                          const std::string& path,
                          const std::string& query = {}) {
    const auto question = in.find(path.substr(0, path.rfind('/') + 1));
    CATCH_REQUIRE(question != in.end());
    std::optional<http_answer> out;
    question->second({path, query, {}, "10.0.0.7"},
                     [&out](http_answer answer) { out = std::move(answer); });
    CATCH_REQUIRE(out.has_value());
    return *out;
  }
  http_answer act(const std::string& path) { return call(with.actions, path); }
  http_answer read(const std::string& path, const std::string& query = {}) {
    return call(with.questions, path, query);
  }
};

payload piece_of(const std::string& text) {
  file_reply out;
  out.size = text.size();
  for (const auto letter : text)
    out.bytes.push_back(static_cast<std::byte>(letter));
  return encode(out);
}

} // namespace

CATCH_TEST_CASE("a field of a query", "[api]") {
  CATCH_CHECK(field_in("a=1&since=2&since=3", "since") == "2");
  CATCH_CHECK(field_in("since=", "since") == "");
  CATCH_CHECK_FALSE(field_in("sincere=2&since", "since"));
  CATCH_CHECK(number_in("x=y", "offset") == 0);
  CATCH_CHECK(number_in("offset=12", "offset") == 12);
  CATCH_CHECK_FALSE(number_in("offset=-1", "offset"));
}

CATCH_TEST_CASE("the last name of a path", "[api]") {
  CATCH_CHECK(last_name_in("/api/drain/host-1%3a7800") == "host-1:7800");
  CATCH_CHECK(last_name_in("/api/drain/a%2Fb%25") == "a/b%");
  for (const auto* none :
       {"/api/drain/", "", "/a%", "/a%4", "/a%4x", "/a%-1", "/a% 1"})
    CATCH_CHECK_FALSE(last_name_in(none));
}

CATCH_TEST_CASE("what changes something is asked of the coordinator", "[api]") {
  asked_coordinator there;
  there.answers.assign(3, payload{});
  CATCH_CHECK(json::parse(*there.act("/api/cancel/r-1").body)
              == json{{"run", "r-1"}});
  CATCH_CHECK(json::parse(*there.act("/api/drain/a%3A1").body)
              == json{{"daemon", "a:1"}, {"state", "draining"}});
  CATCH_CHECK(json::parse(*there.act("/api/undrain/b").body)
              == json{{"daemon", "b"}, {"state", "ready"}});
  CATCH_REQUIRE(there.asked.size() == 3);
  for (const auto& request : there.asked) {
    CATCH_CHECK(request.from.name == "http");
    CATCH_CHECK(request.from.incarnation.size() == 32);
    CATCH_CHECK(request.host == "10.0.0.7");
  }
  CATCH_CHECK(there.asked[0].method == method::cancel);
  const auto cancel = value_of(decode_cancel_request(there.asked[0].data));
  CATCH_CHECK(cancel.run == "r-1");
  CATCH_CHECK_FALSE(cancel.now);
  const auto drain = value_of(decode_daemon_request(there.asked[1].data));
  CATCH_CHECK(drain.name == "a:1");
  CATCH_CHECK_FALSE(drain.back);
  CATCH_CHECK(value_of(decode_daemon_request(there.asked[2].data)).back);
  CATCH_CHECK(there.act("/api/cancel/").status == 404);
  CATCH_CHECK(there.act("/api/cancel/%zz").status == 404);
  CATCH_CHECK(there.asked.size() == 3);
}

CATCH_TEST_CASE("what the coordinator refuses", "[api]") {
  const std::vector<std::pair<ec, unsigned>> statuses{
    {ec::not_found, 404},   {ec::invalid_argument, 409}, {ec::permission, 403},
    {ec::unavailable, 503}, {ec::timeout, 503},          {ec::internal, 500}};
  for (const auto& [code, status] : statuses) {
    asked_coordinator there;
    there.answers.assign(1, fail(code, "no, for a reason"));
    const auto got = there.act("/api/cancel/r");
    CATCH_CHECK(got.status == status);
    CATCH_CHECK(*got.body == "no, for a reason\n");
  }
  asked_coordinator named; // By one who wants to command terminals.
  named.answers.assign(1, fail(ec::not_found, "it has d\x1b[2J\xff"));
  CATCH_CHECK(*named.act("/api/drain/e").body == "it has d\\u001b[2J\\xff\n");
  asked_coordinator silent; // It drops what it is asked.
  CATCH_CHECK(silent.act("/api/cancel/r").status == 500);
}

CATCH_TEST_CASE("files of runs", "[api]") {
  asked_coordinator there;
  there.answers = {piece_of("name: r\n"), piece_of("{}\n"),
                   piece_of(std::string(most_file_bytes + 5, 'x'))};
  auto got = there.read("/api/definitions/r");
  CATCH_CHECK(got.status == 200);
  CATCH_CHECK(got.type == "text/plain; charset=utf-8");
  CATCH_CHECK(*got.body == "name: r\n");
  got = there.read("/api/metrics/r", "offset=7");
  CATCH_CHECK(*got.body == "{}\n");
  CATCH_CHECK(there.read("/api/metrics/r").body->size() == most_file_bytes);
  CATCH_CHECK(there.read("/api/metrics/r", "offset=x").status == 400);
  CATCH_REQUIRE(there.asked.size() == 3);
  const auto first = value_of(decode_file_request(there.asked[0].data));
  CATCH_CHECK(there.asked[0].method == method::fetch_file);
  CATCH_CHECK(first.run == "r");
  CATCH_CHECK(first.file == "definition.yaml");
  CATCH_CHECK(first.most == most_file_bytes); // No more is read for it.
  const auto second = value_of(decode_file_request(there.asked[1].data));
  CATCH_CHECK(second.file == "metrics.jsonl");
  CATCH_CHECK(second.offset == 7);
}

CATCH_TEST_CASE("a file that cannot be read is none that has ended", "[api]") {
  asked_coordinator there;
  file_reply unread;
  unread.size = 9;
  there.answers.assign(3, encode(unread));
  const auto got = there.read("/api/metrics/r", "offset=8");
  CATCH_CHECK(got.status == 500);
  CATCH_CHECK(got.body->find("8 bytes of metrics.jsonl, which has 9")
              != std::string::npos);
  CATCH_CHECK(there.act("/api/resume/r").status == 500);
  CATCH_CHECK(there.asked.size() == 2); // No run is submitted.
  const auto end = there.read("/api/metrics/r", "offset=9");
  CATCH_CHECK(end.status == 200);
  CATCH_CHECK(end.body->empty());
}

CATCH_TEST_CASE("a run is resumed by its own definition", "[api]") {
  asked_coordinator there;
  there.answers = {piece_of("name: x\ndataset: d\nseed: 5\n"),
                   encode_run_id("x-2")};
  CATCH_CHECK(json::parse(*there.act("/api/resume/x-1").body)
              == json{{"run", "x-2"}});
  CATCH_REQUIRE(there.asked.size() == 2);
  CATCH_CHECK(there.asked[1].method == method::submit);
  CATCH_CHECK(there.asked[1].host == "10.0.0.7");
  const auto def = value_of(decode_definition_body(there.asked[1].data));
  CATCH_CHECK(def.dataset == "d");
  CATCH_CHECK(def.seed == 5);
  const auto wanted = value_of(decode_resumption(there.asked[1].data));
  CATCH_CHECK(wanted.run == "x-1");
  CATCH_CHECK(wanted.checkpoint.empty());
  CATCH_CHECK_FALSE((wanted.with_changes || wanted.uploaded));
  asked_coordinator damaged;
  damaged.answers = {piece_of("dataset: [")};
  CATCH_CHECK(damaged.act("/api/resume/x-1").status >= 400);
  CATCH_CHECK(damaged.asked.size() == 1);
}

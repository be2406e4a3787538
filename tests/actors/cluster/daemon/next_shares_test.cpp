#include "actors/cluster/daemon/shares/hosted_share.hpp"
#include "actors/cluster/daemon/shares/hosted_shares.hpp"
#include "actors/cluster/daemon/shares/next_shares.hpp"
#include "tests/support/catch.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace graphmill::test::next_share {

namespace {

struct answer {
  std::shared_ptr<std::optional<result<payload>>> came =
    std::make_shared<std::optional<result<payload>>>();

  responder reply() const {
    return responder{
      [to = came](result<payload> data) { *to = std::move(data); }};
  }
  /// Empty: none has come, or a success.
  std::string error() const {
    return *came && !**came ? (**came).error().message : std::string{};
  }
};

deployment deployment_of(const std::string& run, std::uint32_t attempt) {
  deployment out;
  out.run = run;
  out.generation = attempt - 1; // It counts from 0.
  return out;
}

share_ptr share_of(const std::string& run, std::uint32_t attempt) {
  auto out = std::make_shared<hosted_share>();
  out->assignment = deployment_of(run, attempt);
  return out;
}

} // namespace

CATCH_TEST_CASE("a deployment that waits is taken once, or refused",
                "[daemon]") {
  next_shares next;
  const answer first, second;
  next.put({deployment_of("a", 2), first.reply()});
  next.put({deployment_of("b", 3), second.reply()});

  CATCH_CHECK(next.is_about({.run = "a"}));
  CATCH_CHECK(next.is_about({.run = "a", .attempt = 2}));
  CATCH_CHECK_FALSE(next.is_about({.run = "a", .attempt = 1}));
  CATCH_CHECK_FALSE(next.is_about({.run = "c"}));

  const auto taken = next.take("a");
  CATCH_REQUIRE(taken);
  CATCH_CHECK(taken->assignment.attempt() == 2);
  CATCH_CHECK_FALSE(next.take("a"));

  next.drop_all(fail(ec::unavailable, "over"), {"b"});
  CATCH_CHECK(second.error().empty());
  next.drop("b", fail(ec::unavailable, "over"));
  CATCH_CHECK(second.error() == "over");
  CATCH_CHECK_FALSE(next.take("b"));
}

CATCH_TEST_CASE("a share is found by its run and its attempt", "[daemon]") {
  hosted_shares shares;
  const auto old = share_of("a", 1);
  const auto now = share_of("a", 2);
  shares.add(old);
  shares.add(now);

  CATCH_CHECK(shares.find("a").value() == now);
  CATCH_CHECK(shares.find("b").error().code == ec::unavailable);
  CATCH_CHECK(shares.find("a", 2) == now);
  CATCH_CHECK(shares.find("a", 1) == nullptr);
  CATCH_CHECK(shares.contains(now));
  CATCH_CHECK_FALSE(shares.contains(old));
  CATCH_CHECK(shares.prepared().empty()); // Neither has actors.

  shares.remove("a");
  CATCH_CHECK(shares.all().empty());
  CATCH_CHECK_FALSE(shares.contains(now));
}

} // namespace graphmill::test::next_share

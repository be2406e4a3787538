#include "messages/base/random.hpp"
#include "pipelines/gradients/messages/message_collective.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_rendezvous.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();

/// Keeps what a rank sends, and lets the test come in its peers' place.
class test_link final : public rank_link {
public:
  struct sent {
    gradient_message head;
    frame bytes;
    message_answer done;
  };

  explicit test_link(std::uint64_t window) : window_(window) {}

  void open(std::weak_ptr<rank_inbox> inbox) override {
    std::lock_guard lock{mutex_};
    inbox_ = std::move(inbox);
  }
  void close() override {
    std::lock_guard lock{mutex_};
    closed_ = true;
  }
  std::uint64_t window(rank_id) const override { return window_; }
  void send(const gradient_message& head, frame bytes,
            message_answer done) override {
    std::lock_guard lock{mutex_};
    sent_.push_back({head, std::move(bytes), std::move(done)});
  }

  /// What has been sent for a purpose since the last call.
  std::vector<sent> take(gradient_purpose purpose) {
    std::lock_guard lock{mutex_};
    std::vector<sent> out, rest;
    for (auto& one : sent_)
      (one.head.purpose == purpose ? out : rest).push_back(std::move(one));
    sent_ = std::move(rest);
    return out;
  }

  std::shared_ptr<rank_inbox> inbox() const {
    std::lock_guard lock{mutex_};
    return inbox_.lock();
  }
  bool closed() const {
    std::lock_guard lock{mutex_};
    return closed_;
  }

private:
  const std::uint64_t window_;
  mutable std::mutex mutex_;
  std::weak_ptr<rank_inbox> inbox_;
  std::vector<sent> sent_;
  bool closed_ = false;
};

/// An answer, when there is one.
using answer_slot = std::shared_ptr<std::optional<result<void>>>;

/// Rank 0 of a group whose other ranks are the test.
struct lone_rank {
  std::shared_ptr<test_link> link;
  std::shared_ptr<orphan_threads> orphans = std::make_shared<orphan_threads>();
  std::unique_ptr<collective> group;

  explicit lone_rank(rank_id ranks = 2, std::uint64_t window = 1 << 20)
    : link(std::make_shared<test_link>(window)) {
    const auto store = std::make_shared<memory_rendezvous>();
    auto roll = std::make_shared<roll_call>(
      group_options{.run = "r", .rank = 0, .ranks = ranks}, store);
    for (rank_id r = 1; r < ranks; ++r)
      value_of(store->set(roll->key(fmt::format("joined/{}", r)), "same"));
    group = join_by_messages(roll, "same", link, orphans);
    while (!group->joined()->done() && !group->joined()->failed())
      group->bell()->wait(group->bell()->count(), 10ms);
    CATCH_REQUIRE_FALSE(group->joined()->failed());
  }

  /// Delivers a piece of a transfer of rank 1.
  answer_slot deliver(std::span<const std::byte> whole, std::uint64_t transfer,
                      std::uint64_t offset, std::uint64_t size) const {
    gradient_message head{
      "r", 0, 1, 0, gradient_purpose::piece, transfer, offset, whole.size()};
    return deliver(head, frame::copy(whole.subspan(offset, size)));
  }

  answer_slot deliver(const gradient_message& head, frame bytes) const {
    auto out = std::make_shared<std::optional<result<void>>>();
    link->inbox()->deliver(head, std::move(bytes),
                           [out](const result<void>& how) { *out = how; });
    return out;
  }

  std::shared_ptr<operation> expect(std::span<std::byte> into,
                                    rank_id peer = 1) const {
    const transfer from{peer, into};
    return group->exchange({}, {&from, 1});
  }
};

std::vector<std::byte> some_bytes(std::size_t size) {
  std::vector<std::byte> out(size);
  for (std::size_t i = 0; i < size; ++i)
    out[i] = static_cast<std::byte>(i * 7 + i / 256);
  return out;
}

bool is_ok(const answer_slot& slot) {
  return slot->has_value() && (*slot)->has_value();
}

std::string refusal(const answer_slot& slot) {
  CATCH_REQUIRE(slot->has_value());
  return error_of(**slot).message;
}

} // namespace

CATCH_TEST_CASE("pieces may come in any order, early, and again",
                "[gradients][messages]") {
  constexpr std::size_t size = 50'000;
  const auto sent = some_bytes(size);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{seed, 1};
    const lone_rank rank;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces;
    for (std::uint64_t at = 0; at < size;) {
      const auto next =
        std::min<std::uint64_t>(least_piece + draws.below(10'000), size - at);
      pieces.emplace_back(at, next);
      if (draws.below(3) == 0)
        pieces.emplace_back(at, next);
      at += next;
    }
    for (auto i = pieces.size(); i > 1; --i)
      std::swap(pieces[i - 1],
                pieces[draws.below(static_cast<std::uint32_t>(i))]);
    const auto early = draws.below(static_cast<std::uint32_t>(pieces.size()));
    std::vector<std::byte> got(size);
    std::vector<answer_slot> answers;
    std::shared_ptr<operation> of;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (i == early) {
        CATCH_CHECK(std::none_of(answers.begin(), answers.end(), is_ok));
        of = rank.expect(got);
      }
      answers.push_back(
        rank.deliver(sent, 0, pieces[i].first, pieces[i].second));
    }
    CATCH_CHECK(std::all_of(answers.begin(), answers.end(), is_ok));
    CATCH_CHECK(of->done());
    CATCH_CHECK(of->heard(1));
    CATCH_CHECK(got == sent);
    CATCH_CHECK(is_ok(rank.deliver(sent, 0, 0, size))); // Of what is done.
  }
}

CATCH_TEST_CASE("transfers are told apart by their numbers",
                "[gradients][messages]") {
  const lone_rank rank;
  const auto first = some_bytes(100);
  const auto second = some_bytes(200);
  std::vector<std::byte> to_first(100), to_second(200);
  const auto early = rank.deliver(second, 1, 0, 200);
  const auto a = rank.expect(to_first);
  const auto b = rank.expect(to_second);
  CATCH_CHECK(is_ok(early));
  CATCH_CHECK(b->done());
  CATCH_CHECK_FALSE(a->done());
  CATCH_CHECK(is_ok(rank.deliver(first, 0, 0, 100)));
  CATCH_CHECK(a->done());
  CATCH_CHECK(to_first == first);
  CATCH_CHECK(to_second == second);
}

CATCH_TEST_CASE("pieces that do not fit are refused, and do no harm",
                "[gradients][messages]") {
  const lone_rank rank{3};
  const auto sent = some_bytes(10'000);
  std::vector<std::byte> got(10'000);
  const auto of = rank.expect(got);
  const gradient_message good{"r", 0, 1,     0, gradient_purpose::piece,
                              0,   0, 10'000};
  const auto try_with = [&](auto change, std::size_t size) {
    auto head = good;
    change(head);
    return refusal(
      rank.deliver(head, frame::copy(std::vector<std::byte>(size))));
  };
  CATCH_CHECK(try_with([](auto& head) { head.total = 9'999; }, 9'999)
              == "rank 1 sends 9999 bytes as transfer 0 where rank 0 expects "
                 "10000");
  CATCH_CHECK_THAT(try_with([](auto& head) { head.total = huge; }, 5000),
                   contains("where rank 0 expects 10000"));
  CATCH_CHECK_THAT(try_with([](auto& head) { head.offset = huge - 10; }, 5000),
                   contains("do not lie in a transfer of 10000"));
  CATCH_CHECK_THAT(try_with([](auto& head) { head.offset = 6000; }, 5000),
                   contains("do not lie in a transfer of 10000"));
  CATCH_CHECK_THAT(try_with([](auto&) {}, 0), contains("a piece of 0 bytes"));
  CATCH_CHECK_THAT(try_with([](auto&) {}, 1), contains("have 4096 at least"));
  for (const rank_id stranger : {-1, 0, 3, std::numeric_limits<rank_id>::max()})
    CATCH_CHECK_THAT(
      try_with([stranger](auto& head) { head.from = stranger; }, 5000),
      contains("is no peer of rank 0 of 3"));
  CATCH_CHECK(is_ok(rank.deliver(sent, 0, 0, 5000)));
  CATCH_CHECK_THAT(refusal(rank.deliver(sent, 0, 4000, 6000)),
                   contains("have come before, and some have not"));
  CATCH_CHECK_FALSE(of->done());
  CATCH_CHECK(is_ok(rank.deliver(sent, 0, 5000, 5000)));
  CATCH_CHECK(of->done());
  CATCH_CHECK(got == sent);
}

CATCH_TEST_CASE("early pieces that turn out not to fit are refused then",
                "[gradients][messages]") {
  const lone_rank rank;
  const auto early = rank.deliver(some_bytes(100), 0, 0, 100);
  const auto never = rank.deliver(some_bytes(100), huge, 0, 100);
  std::vector<std::byte> got(99);
  const auto of = rank.expect(got);
  CATCH_CHECK(
    refusal(early)
    == "rank 1 sends 100 bytes as transfer 0 where rank 0 expects 99");
  CATCH_CHECK_FALSE(never->has_value());
  CATCH_CHECK_FALSE(of->done());
}

CATCH_TEST_CASE("no more than the window is on its way",
                "[gradients][messages]") {
  constexpr std::uint64_t window = 20'000;
  const lone_rank rank{2, window};
  const auto bytes =
    std::make_shared<std::vector<std::byte>>(some_bytes(100'001));
  const transfer to{1, *bytes, bytes};
  const auto of = rank.group->exchange({&to, 1}, {});
  CATCH_CHECK(of->done()); // For it has an owner.
  std::vector<std::byte> got(bytes->size());
  std::uint64_t come = 0;
  std::vector<test_link::sent> open;
  for (;;) {
    for (auto& one : rank.link->take(gradient_purpose::piece))
      open.push_back(std::move(one));
    if (open.empty())
      break;
    std::uint64_t unanswered = 0;
    for (const auto& one : open)
      unanswered += one.bytes.size();
    CATCH_CHECK(unanswered <= window);
    CATCH_CHECK(open.size() <= 2);
    auto next = std::move(open.back()); // Answers come in any order.
    open.pop_back();
    CATCH_CHECK(next.head.total == bytes->size());
    value_of(check_piece(next.head, next.bytes.size()));
    std::copy_n(next.bytes.data(), next.bytes.size(),
                got.data() + next.head.offset);
    come += next.bytes.size();
    next.done(ok());
  }
  CATCH_CHECK(come == bytes->size());
  CATCH_CHECK(got == *bytes);
}

CATCH_TEST_CASE("what has no owner is copied", "[gradients][messages]") {
  const lone_rank rank;
  auto bytes = some_bytes(5000);
  const auto before = bytes;
  const transfer to{1, bytes};
  rank.group->exchange({&to, 1}, {});
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  const auto sent = rank.link->take(gradient_purpose::piece);
  CATCH_REQUIRE(sent.size() == 1);
  const auto seen = sent.front().bytes.bytes();
  CATCH_CHECK(
    std::equal(seen.begin(), seen.end(), before.begin(), before.end()));
}

CATCH_TEST_CASE("each peer is asked to tell when it leaves, until it does",
                "[gradients][messages]") {
  const lone_rank rank{3};
  auto asked = rank.link->take(gradient_purpose::farewell);
  CATCH_REQUIRE(asked.size() == 2);
  CATCH_CHECK(asked[0].head.to + asked[1].head.to == 3);
  auto& of_two = asked[asked[0].head.to == 2 ? 0 : 1];
  // It was too long ago, which says nothing.
  of_two.done(fail(ec::timeout, "no answer"));
  auto again = rank.link->take(gradient_purpose::farewell);
  CATCH_REQUIRE(again.size() == 1);
  CATCH_CHECK(again.front().head.to == 2);
  std::vector<std::byte> from_one(10), from_two(10);
  const auto one = rank.expect(from_one, 1);
  const auto two = rank.expect(from_two, 2);
  const auto told = GENERATE(true, false);
  again.front().done(told ? result<void>{ok()}
                          : fail(ec::unavailable, "cannot reach it"));
  CATCH_CHECK_FALSE(one->done());
  CATCH_REQUIRE(two->failed());
  CATCH_CHECK(two->failed()->peer == 2);
  CATCH_CHECK(two->failed()->reason.message
              == (told ? "it has left" : "cannot reach it"));
  const auto later = rank.expect(from_two, 2);
  CATCH_CHECK(later->failed());
  CATCH_CHECK(rank.link->take(gradient_purpose::farewell).empty());
}

CATCH_TEST_CASE("a piece that is not taken fails what the peer would send",
                "[gradients][messages]") {
  const lone_rank rank;
  std::vector<std::byte> got(10);
  const auto of = rank.expect(got);
  auto bytes = some_bytes(10);
  const transfer to{1, bytes};
  rank.group->exchange({&to, 1}, {});
  auto sent = rank.link->take(gradient_purpose::piece);
  CATCH_REQUIRE(sent.size() == 1);
  sent.front().done(fail(ec::unavailable, "it is gone"));
  CATCH_REQUIRE(of->failed());
  CATCH_CHECK(of->failed()->peer == 1);
  CATCH_CHECK(of->failed()->reason.message == "it is gone");
}

CATCH_TEST_CASE("a rank that leaves answers whoever waits for it",
                "[gradients][messages]") {
  lone_rank rank;
  const auto inbox = rank.link->inbox();
  const gradient_message question{"r", 0, 1, 0, gradient_purpose::farewell};
  const auto farewell = rank.deliver(question, {});
  const auto early = rank.deliver(some_bytes(10), 0, 0, 10);
  CATCH_CHECK_FALSE(farewell->has_value());
  rank.group.reset();
  CATCH_CHECK(rank.link->closed());
  CATCH_CHECK(is_ok(farewell));
  const std::string gone =
    "rank 0 has left the gradient group of 2 (generation 0)";
  CATCH_CHECK(refusal(early) == gone);
  // What has found the rank before, and comes now.
  CATCH_CHECK(is_ok(rank.deliver(question, {})));
  CATCH_CHECK(refusal(rank.deliver(some_bytes(10), 0, 0, 10)) == gone);
}

CATCH_TEST_CASE("what comes after the end touches no memory",
                "[gradients][messages]") {
  lone_rank rank;
  const auto inbox = rank.link->inbox();
  const auto sent = some_bytes(10'000);
  std::vector<std::byte> got(10'000);
  const auto of = rank.expect(got);
  CATCH_CHECK(is_ok(rank.deliver(sent, 0, 0, 5000)));
  rank.group->abandon();
  CATCH_REQUIRE(of->failed());
  CATCH_CHECK(of->failed()->reason.code == ec::cancelled);
  const auto rest = rank.deliver(sent, 0, 5000, 5000);
  CATCH_CHECK(std::all_of(got.begin() + 5000, got.end(),
                          [](std::byte one) { return one == std::byte{0}; }));
  const auto later = rank.expect(got);
  CATCH_CHECK(later->failed()->reason.code == ec::cancelled);
  CATCH_CHECK_FALSE(rest->has_value()); // Others are told when it leaves.
  rank.group.reset();
  CATCH_CHECK_THAT(refusal(rest), contains("has left"));
}

CATCH_TEST_CASE("the last owner of what is sent is the link",
                "[gradients][messages]") {
  lone_rank rank{2, 8192};
  auto bytes = std::make_shared<std::vector<std::byte>>(some_bytes(50'000));
  const std::weak_ptr<const void> watched = bytes;
  {
    const transfer to{1, *bytes, bytes};
    rank.group->exchange({&to, 1}, {});
  }
  bytes.reset();
  rank.group.reset();
  CATCH_CHECK_FALSE(watched.expired());
  rank.link->take(gradient_purpose::piece);
  CATCH_CHECK(watched.expired()); // What waited was dropped with the rank.
}

} // namespace graphmill::test

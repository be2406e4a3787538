#include "actors/remote/watched_link.hpp"
#include "messages/base/moments.hpp"
#include "tests/support/catch.hpp"

#include <vector>

namespace graphmill::test {

namespace {

/// Keeps what is sent.
struct sink_link final : rank_link {
  void open(std::weak_ptr<rank_inbox>) override { is_open = true; }
  void close() override { is_open = false; }
  std::uint64_t window(rank_id peer) const override {
    return 10 + static_cast<std::uint64_t>(peer);
  }
  void send(const gradient_message& head, frame, message_answer done) override {
    sent.push_back(head.purpose);
    done(ok());
  }

  bool is_open = false;
  std::vector<gradient_purpose> sent;
};

} // namespace

CATCH_TEST_CASE("a watched link says when gradients are on their way",
                "[remote][moments]") {
  forget_moments();
  const auto inner = std::make_shared<sink_link>();
  const auto link = watched_link(inner);
  std::size_t sent_before = 99;
  await_moment(
    moment::exchange, [&] { sent_before = inner->sent.size(); },
    std::chrono::steady_clock::now() + std::chrono::hours{1});
  int answered = 0;
  const auto send = [&](gradient_purpose purpose) {
    gradient_message head;
    head.purpose = purpose;
    link->send(head, {},
               [&](const result<void>& done) { answered += done ? 1 : 0; });
  };
  link->open({});
  CATCH_CHECK(inner->is_open);
  CATCH_CHECK(link->window(2) == 12);
  send(gradient_purpose::farewell); // Has no gradients.
  CATCH_CHECK(sent_before == 99);
  send(gradient_purpose::piece);
  CATCH_CHECK(sent_before == 1); // Before the piece leaves.
  CATCH_CHECK(
    inner->sent
    == std::vector{gradient_purpose::farewell, gradient_purpose::piece});
  CATCH_CHECK(answered == 2);
  link->close();
  CATCH_CHECK_FALSE(inner->is_open);
  forget_moments();
}

} // namespace graphmill::test

#include "actors/remote/watched_link.hpp"

#include "messages/base/moments.hpp"

#include <utility>

namespace graphmill {

namespace {

class moment_link final : public rank_link {
public:
  explicit moment_link(std::shared_ptr<rank_link> link)
    : link_(std::move(link)) {}

  void open(std::weak_ptr<rank_inbox> inbox) override {
    link_->open(std::move(inbox));
  }
  void close() override { link_->close(); }
  std::uint64_t window(rank_id peer) const override {
    return link_->window(peer);
  }
  void send(const gradient_message& head, frame bytes,
            message_answer done) override {
    if (head.purpose == gradient_purpose::piece)
      now_at(moment::exchange);
    link_->send(head, std::move(bytes), std::move(done));
  }

private:
  std::shared_ptr<rank_link> link_;
};

} // namespace

std::shared_ptr<rank_link> watched_link(std::shared_ptr<rank_link> link) {
  return std::make_shared<moment_link>(std::move(link));
}

} // namespace graphmill

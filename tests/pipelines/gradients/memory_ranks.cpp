#include "tests/pipelines/gradients/memory_ranks.hpp"

#include "messages/base/random.hpp"
#include "pipelines/gradients/messages/message_collective.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

namespace graphmill::test {

namespace {

using clock = std::chrono::steady_clock;

/// Carries messages between ranks, by a thread of its own, as a transport
/// would: each one again and again, until it is answered.
class memory_network {
public:
  /// A store, since ranks that share one can meet; a group; a rank.
  using place =
    std::tuple<const rendezvous_store*, std::string, std::uint64_t, rank_id>;

  memory_network() : thread_([this] { run(); }) {}

  ~memory_network() {
    {
      std::lock_guard lock{mutex_};
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void open(const place& of, std::weak_ptr<rank_inbox> inbox) {
    std::lock_guard lock{mutex_};
    inboxes_[of] = std::move(inbox);
  }

  void close(const place& of) {
    std::lock_guard lock{mutex_};
    inboxes_.erase(of);
  }

  void send(place to, const gradient_message& head, frame bytes,
            message_answer done) {
    auto carried = std::make_shared<parcel>();
    carried->to = std::move(to);
    carried->head = head;
    carried->bytes = std::move(bytes);
    carried->done = std::move(done);
    post(carried);
  }

private:
  struct parcel {
    place to{};
    gradient_message head;
    frame bytes;
    message_answer done;
    std::mutex mutex; ///< Guards what follows.
    bool answered = false;
  };

  /// Draws when it comes, and whether it comes twice.
  void post(const std::shared_ptr<parcel>& carried) {
    std::lock_guard lock{mutex_};
    const auto copies = draws_.below(8) == 0 ? 2 : 1;
    for (int i = 0; i < copies; ++i)
      due_.emplace(clock::now() + std::chrono::microseconds{draws_.below(300)},
                   carried);
    changed_.notify_all();
  }

  bool loses() {
    std::lock_guard lock{mutex_};
    return draws_.below(8) == 0;
  }

  void run() {
    std::unique_lock lock{mutex_};
    while (!stop_) {
      if (due_.empty()) {
        changed_.wait(lock);
        continue;
      }
      if (const auto next = due_.begin()->first; next > clock::now()) {
        changed_.wait_until(lock, next);
        continue;
      }
      auto carried = std::move(due_.begin()->second);
      due_.erase(due_.begin());
      const auto at = inboxes_.find(carried->to);
      auto inbox = at == inboxes_.end() ? std::shared_ptr<rank_inbox>{}
                                        : at->second.lock();
      lock.unlock();
      carry(carried, inbox);
      inbox.reset(); // What it was the last to hold ends without the lock.
      carried.reset();
      lock.lock();
    }
  }

  void carry(const std::shared_ptr<parcel>& carried,
             const std::shared_ptr<rank_inbox>& to) {
    {
      std::lock_guard lock{carried->mutex};
      if (carried->answered)
        return;
    }
    if (loses())
      return post(carried);
    if (!to)
      return answer(*carried, fail(ec::unavailable, "rank {} is not there",
                                   carried->head.to));
    to->deliver(carried->head, carried->bytes,
                [this, carried](const result<void>& how) {
                  if (loses())
                    post(carried); // It comes once more, and is answered again.
                  else
                    answer(*carried, how);
                });
  }

  static void answer(parcel& carried, const result<void>& how) {
    {
      std::lock_guard lock{carried.mutex};
      if (std::exchange(carried.answered, true))
        return;
    }
    carried.done(how);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  random_stream draws_{network_seed, 1};
  std::multimap<clock::time_point, std::shared_ptr<parcel>> due_;
  std::map<place, std::weak_ptr<rank_inbox>> inboxes_;
  bool stop_ = false;
  std::thread thread_; ///< Last: it uses the others.
};

memory_network& the_network() {
  static memory_network network;
  return network;
}

class memory_link final : public rank_link {
public:
  memory_link(std::shared_ptr<rendezvous_store> store,
              const group_options& options)
    : store_(std::move(store)), options_(options) {}

  void open(std::weak_ptr<rank_inbox> inbox) override {
    the_network().open(place_of(options_.rank), std::move(inbox));
  }
  void close() override { the_network().close(place_of(options_.rank)); }

  /// A few pieces.
  std::uint64_t window(rank_id) const override { return 3 * least_piece; }

  void send(const gradient_message& head, frame bytes,
            message_answer done) override {
    the_network().send(place_of(head.to), head, std::move(bytes),
                       std::move(done));
  }

private:
  memory_network::place place_of(rank_id rank) const {
    return {store_.get(), options_.run, options_.generation, rank};
  }

  const std::shared_ptr<rendezvous_store> store_;
  const group_options options_;
};

} // namespace

group_rank::connector
memory_connector(std::shared_ptr<rendezvous_store> store,
                 std::shared_ptr<orphan_threads> orphans) {
  return [store, orphans](auto roll, const std::string& fingerprint) {
    auto link = std::make_shared<memory_link>(store, roll->options());
    return join_by_messages(std::move(roll), fingerprint, std::move(link),
                            orphans);
  };
}

} // namespace graphmill::test

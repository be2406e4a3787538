#include "actors/feed/feed_run.hpp"

#include "actors/feed/feed_consumer.hpp"
#include "actors/feed/feed_session.hpp"
#include "actors/feed/local_feed.hpp"
#include "actors/process/heap_trimmer.hpp"
#include "messages/base/arena.hpp"
#include "partition/files/file_io.hpp"

#include <spdlog/logger.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

namespace graphmill {

namespace {

/// How often a feed looks whether its parent is there.
constexpr std::chrono::milliseconds look{1000};

/// No batch needs more memory than the machine has.
std::size_t arena_bytes() {
  constexpr auto least = std::size_t{4} << 30;
  const auto pages = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES));
  return std::max(least, pages * std::size_t{4096});
}

/// The ids in a file of int64.
result<std::vector<node_id>> ids_in(int file) {
  constexpr auto name = "the seeds of the consumer";
  GRAPHMILL_TRY(const auto size, file_size(file, name));
  std::vector<node_id> out(size / sizeof(node_id));
  GRAPHMILL_TRYV(
    read_at(file, std::as_writable_bytes(std::span{out}), 0, name));
  return out;
}

template <class T>
std::span<const std::byte> bytes_in(const T& values) {
  return std::as_bytes(std::span{values});
}

/// The blocks of an arena, until the consumer is gone: it may keep batches and
/// read them, so blocks that end after it keep their content.
class lent_blocks final : public block_source {
public:
  explicit lent_blocks(arena& from) : from_(from) {}

  std::byte* take(std::size_t capacity) override {
    return from_.take(capacity);
  }
  void give_back(std::byte* block, std::size_t capacity) noexcept override {
    if (!over_)
      from_.give_back(block, capacity);
  }

  void leave() { over_ = true; }

private:
  arena& from_;
  std::atomic<bool> over_{false};
};

/// A feed and its consumer, from its first frame on.
class feed_door {
public:
  feed_door(feed_socket& socket, arena& memory, feed_maker on_cluster,
            std::shared_ptr<spdlog::logger> log)
    : socket_(socket), memory_(memory), on_cluster_(std::move(on_cluster)),
      log_(std::move(log)), consumer_(socket, memory, log_) {}

  /// Carries out what a packet asks for.
  result<void> accept(feed_socket::packet packet) {
    GRAPHMILL_TRY(auto frame, parse_feed_frame(packet.bytes));
    if (auto* request = std::get_if<feed_request>(&frame))
      return open(std::move(*request), packet.descriptors);
    if (auto* pass = std::get_if<feed_pass>(&frame)) {
      GRAPHMILL_TRYV(session_.begin(*pass));
      if (pass->own_seeds) {
        GRAPHMILL_TRY(const auto ids, ids_of(packet.descriptors));
        GRAPHMILL_TRY(pass->seeds, seeds_.of(ids));
      }
      feed_->begin(*pass);
      return ok();
    }
    if (std::holds_alternative<wanted_verdict>(frame)) {
      GRAPHMILL_TRYV(session_.judge());
      feed_->judge();
      return ok();
    }
    auto batches = std::get<std::vector<batch_back>>(std::move(frame));
    GRAPHMILL_TRYV(session_.give_back(batches));
    consumer_.free(batches); // Before their credit is back.
    feed_->take_back(std::move(batches));
    return ok();
  }

  /// Tells the consumer what it had no room for.
  void look() {
    consumer_.tell_again();
    if (feed_)
      feed_->take_back({});
  }

private:
  /// The ids in the file that came along with a packet.
  static result<std::vector<node_id>>
  ids_of(const std::vector<owned_descriptor>& descriptors) {
    if (descriptors.empty())
      return fail(ec::invalid_data, "a consumer has sent no seeds");
    return ids_in(descriptors.front().number());
  }

  result<void> open(feed_request request,
                    const std::vector<owned_descriptor>& descriptors) {
    std::optional<std::vector<node_id>> seeds;
    if (request.own_seeds || request.own_pairs) {
      GRAPHMILL_TRY(seeds, ids_of(descriptors));
    }
    if (request.cluster && !on_cluster_)
      return fail(ec::invalid_argument,
                  "this program reads folders: graphmill-engine takes batches "
                  "of a cluster");
    if (request.registers)
      memory_.keep_pages();
    const auto make =
      request.cluster ? on_cluster_ : feed_maker{open_local_feed};
    GRAPHMILL_TRY(auto opened, make({consumer_, std::move(request),
                                     std::move(seeds), log_}));
    GRAPHMILL_TRYV(session_.open(opened.steps));
    feed_ = std::move(opened.feed);
    seeds_ = std::move(opened.seeds);
    GRAPHMILL_TRY(const auto sent,
                  socket_.send(bytes_in(opened.answer), memory_.descriptor()));
    if (!sent)
      return fail(ec::internal, "what a dataset is does not fit into a packet");
    return ok();
  }

  feed_socket& socket_;
  arena& memory_;
  const feed_maker on_cluster_;
  std::shared_ptr<spdlog::logger> log_;
  feed_consumer consumer_;
  feed_session session_;
  std::unique_ptr<batch_feed> feed_;
  pass_seeds seeds_; ///< Of the feed.
};

} // namespace

result<void> run_feed(feed_socket& socket, std::shared_ptr<spdlog::logger> log,
                      feed_maker on_cluster) {
  GRAPHMILL_TRY(const auto memory, arena::make(arena_bytes()));
  lent_blocks blocks{*memory};
  take_blocks_from(&blocks);
  const auto parent = ::getppid();
  feed_door door{socket, *memory, std::move(on_cluster), log};
  heap_trimmer heap;
  result<void> end;
  while (::getppid() == parent) {
    heap.tick(); // Also while there is always a packet.
    auto packet = socket.receive(look);
    if (!packet) {
      end = packet.error();
      break;
    }
    if (!packet.value()) {
      door.look();
      continue;
    }
    if (packet.value()->bytes.empty()) // The consumer is gone.
      break;
    if (auto done = door.accept(*std::move(packet).value()); !done)
      (void)socket.send(bytes_in(error_frame(done.error())));
  }
  blocks.leave();
  return end;
}

} // namespace graphmill

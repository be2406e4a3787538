#include "actors/feed/feed_run.hpp"

#include "actors/base/caf_compat.hpp"
#include "actors/feed/feed_lead.hpp"
#include "actors/feed/feed_session.hpp"
#include "actors/feed/outlet.hpp"
#include "actors/feed/prepared_feed.hpp"
#include "actors/process/heap_trimmer.hpp"
#include "actors/process/processors.hpp"
#include "actors/process/shutdown_watchdog.hpp"
#include "actors/run/data_guard.hpp"
#include "messages/base/arena.hpp"

#include <spdlog/logger.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
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
  struct stat about {};
  if (::fstat(file, &about) != 0)
    return fail_errno(errno, "cannot read the seeds of the consumer");
  std::vector<node_id> out(static_cast<std::size_t>(about.st_size)
                           / sizeof(node_id));
  auto* to = reinterpret_cast<char*>(out.data());
  const auto size = out.size() * sizeof(node_id);
  for (std::size_t done = 0; done < size;) {
    const auto read =
      ::pread(file, to + done, size - done, static_cast<off_t>(done));
    if (read <= 0)
      return fail_errno(read < 0 ? errno : EIO,
                        "cannot read the seeds of the consumer");
    done += static_cast<std::size_t>(read);
  }
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

/// The actors of a feed, while it is open.
class open_feed {
public:
  open_feed(feed_socket& socket, arena& memory, feed_request request,
            prepared_feed prepared, std::shared_ptr<spdlog::logger> log)
    : socket_(socket), memory_(memory), request_(std::move(request)),
      log_(std::move(log)),
      guard_({.data = request_.data, .verify = request_.verify, .log = log_}) {
    set_scheduler(settings_, std::max(2u, usable_processors()));
    system_.emplace(settings_);
    guard_.check(std::move(prepared.records),
                 [this](const result<void>& sound) {
                   if (!sound)
                     report(sound.error());
                 });
    spawn(std::move(prepared.member));
  }

  ~open_feed() {
    shutdown_watchdog watchdog{log_, true};
    stop_actor(member_);
    stop_actor(lead_);
    member_ = nullptr;
    lead_ = nullptr;
    outlet_ = nullptr;
    system_.reset();
  }
  open_feed(const open_feed&) = delete;
  open_feed& operator=(const open_feed&) = delete;

  void begin(const feed_pass& pass) {
    post(outlet_, wanted_pass{request_.phase, pass});
    phase_request next;
    next.phase = request_.phase;
    next.epoch = pass.epoch;
    next.first = pass.first;
    next.steps = pass.steps;
    post(member_, next);
  }

  void take_back(std::vector<batch_back> batches) {
    post(outlet_, batches_back{std::move(batches)});
  }

private:
  void spawn(member_config member) {
    member.log = log_;
    member.gauges = std::make_shared<dispatcher_gauges>();
    auto stages = stage_table::of(member.def, member.shards.size(), 1);
    stages.disk = member.disk;
    lead_ = spawn_feed_lead(*system_,
                            [this](const error& reason) { report(reason); });
    // Here and not by the member, which begins on another thread: the first
    // pass may come before.
    outlet_ = spawn_outlet(
      *system_,
      {request_.rank,
       [this](std::uint64_t sequence, std::uint64_t pass,
              const formed_batch& batch) {
         return hand(sequence, pass, batch);
       },
       member.health->add({actor_kind::trainer, -1, request_.rank}), left_});
    member.sink = [outlet = outlet_](caf::actor_system&, const member_config&,
                                     const stage_table&,
                                     const run_reports_actor&) {
      return batch_sink{{outlet}, {}};
    };
    member_ =
      spawn_member(*system_, std::move(member), std::move(stages), lead_);
    caf::actor_cast<caf::actor>(member_)->attach_functor(
      [this](const caf::error& reason) {
        if (reason && reason != caf::exit_reason::user_shutdown)
          report(from_caf(reason, "the member of the feed"));
      });
  }

  bool hand(std::uint64_t sequence, std::uint64_t pass,
            const formed_batch& batch) {
    const auto sent =
      socket_.send(bytes_in(batch_frame(sequence, pass, batch, memory_)));
    // A consumer that is gone needs no batch. `run_feed` notices it, too.
    return !sent || sent.value();
  }

  void report(const error& reason) {
    log_->warn("{}", reason.message);
    (void)socket_.send(bytes_in(error_frame(reason)));
  }

  feed_socket& socket_;
  arena& memory_;
  const feed_request request_;
  std::shared_ptr<spdlog::logger> log_;
  /// Batches that the consumer has at the end; see `outlet_config`.
  const std::shared_ptr<std::vector<std::shared_ptr<minibatch>>> left_ =
    std::make_shared<std::vector<std::shared_ptr<minibatch>>>();
  data_guard guard_;
  watched_system_config settings_;
  std::optional<caf::actor_system> system_;
  run_reports_actor lead_;
  outlet_actor outlet_;
  member_actor member_;
};

/// A feed and its consumer, from its first frame on.
class feed_door {
public:
  feed_door(feed_socket& socket, arena& memory,
            std::shared_ptr<spdlog::logger> log)
    : socket_(socket), memory_(memory), log_(std::move(log)) {}

  /// Carries out what a packet asks for.
  result<void> accept(feed_socket::packet packet) {
    GRAPHMILL_TRY(auto frame, parse_feed_frame(packet.bytes));
    if (auto* request = std::get_if<feed_request>(&frame))
      return open(std::move(*request), packet.descriptors);
    if (const auto* pass = std::get_if<feed_pass>(&frame)) {
      GRAPHMILL_TRYV(session_.begin(*pass));
      feed_->begin(*pass);
      return ok();
    }
    GRAPHMILL_TRYV(session_.give_back());
    feed_->take_back(std::get<std::vector<batch_back>>(std::move(frame)));
    return ok();
  }

private:
  result<void> open(feed_request request,
                    const std::vector<owned_descriptor>& descriptors) {
    std::optional<std::vector<node_id>> seeds;
    if (request.own_seeds || request.own_pairs) {
      if (descriptors.empty())
        return fail(ec::invalid_data, "a consumer has sent no seeds");
      GRAPHMILL_TRY(seeds, ids_in(descriptors.front().number()));
    }
    GRAPHMILL_TRY(auto prepared, prepare_feed(request, seeds));
    GRAPHMILL_TRYV(session_.open(prepared.steps));
    const auto& member = prepared.member;
    const auto answer =
      opened_frame({member.graph->info(), member.def, *member.form,
                    member.train_scheme->hops(), prepared.seeds,
                    prepared.batch_size, memory_.bytes()});
    feed_.emplace(socket_, memory_, std::move(request), std::move(prepared),
                  log_);
    GRAPHMILL_TRY(const auto sent,
                  socket_.send(bytes_in(answer), memory_.descriptor()));
    if (!sent)
      return fail(ec::internal, "what a dataset is does not fit into a packet");
    return ok();
  }

  feed_socket& socket_;
  arena& memory_;
  std::shared_ptr<spdlog::logger> log_;
  feed_session session_;
  std::optional<open_feed> feed_;
};

} // namespace

result<void> run_feed(feed_socket& socket,
                      std::shared_ptr<spdlog::logger> log) {
  GRAPHMILL_TRY(const auto memory, arena::make(arena_bytes()));
  lent_blocks blocks{*memory};
  take_blocks_from(blocks);
  const auto parent = ::getppid();
  feed_door door{socket, *memory, log};
  heap_trimmer heap;
  result<void> end;
  while (::getppid() == parent) {
    auto packet = socket.receive(look);
    if (!packet) {
      end = packet.error();
      break;
    }
    if (!packet.value()) {
      heap.tick();
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

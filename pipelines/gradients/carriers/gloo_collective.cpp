#include "pipelines/gradients/carriers/gloo_collective.hpp"

#include "pipelines/gradients/carriers/c10d_store.hpp"
#include "pipelines/gradients/carriers/plain_text.hpp"

#define USE_C10D_GLOO
#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>

namespace graphmill {

namespace {

using gloo_group = c10d::ProcessGroupGloo;

/// Gloo writes to connections that a peer may have closed, which by default
/// ends the process. From now on this thread, and those that it starts, get an
/// error from the write instead.
void block_sigpipe() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
}

std::shared_ptr<gloo::transport::Device> device_for(const group_options& of) {
  return of.host.empty() ? gloo_group::createDeviceForInterface(of.interface)
                         : gloo_group::createDeviceForHostname(of.host);
}

/// What the threads of a rank share. c10d's own waits cannot be given up
/// without closing connections, so each peer has a thread that waits for its
/// transfers, in order, and can be woken.
class mesh {
public:
  mesh(std::shared_ptr<roll_call> roll, std::string fingerprint,
       std::shared_ptr<rendezvous_store> store)
    : roll_(std::move(roll)), fingerprint_(std::move(fingerprint)),
      store_(std::move(store)), bell_(std::make_shared<progress_bell>()),
      joined_(std::make_shared<operation>(bell_, options().ranks)),
      peer_threads_(static_cast<std::size_t>(options().ranks)) {
    joined_->expect(options().rank, true);
  }

  ~mesh() {
    for (auto& peer_thread : peer_threads_)
      if (peer_thread.waiter.joinable())
        peer_thread.waiter.join();
  }

  const group_options& options() const { return roll_->options(); }
  const std::shared_ptr<progress_bell>& bell() const { return bell_; }
  const std::shared_ptr<operation>& joined() const { return joined_; }
  bool joining() const { return joining_; }

  void join();
  std::shared_ptr<operation> exchange(std::span<const transfer> out,
                                      std::span<const transfer> in);
  void abandon();

private:
  /// A transfer that Gloo's own thread carries out.
  struct flight {
    c10::intrusive_ptr<c10d::Work> work;
    std::shared_ptr<operation> of;
    bool incoming = false;
  };
  /// Transfers with a peer, in the order in which they were posted.
  struct peer_thread {
    int sent = 0;     ///< Transfers, which Gloo matches by their numbers.
    int received = 0; ///< Of the caller's thread.
    std::deque<flight> waiting;
    flight current; ///< Has no work when there is none.
    std::condition_variable changed;
    std::thread waiter;
  };

  void start_threads();
  result<c10::intrusive_ptr<gloo_group>> connect();
  void launch(const transfer& piece, bool incoming,
              const std::shared_ptr<operation>& of);
  void wait_for(rank_id peer);
  std::optional<error> land(const flight& flying) const;

  static error abandoned() {
    return fail(ec::cancelled, "the gradient group was abandoned");
  }

  const std::shared_ptr<roll_call> roll_;
  const std::string fingerprint_;
  const std::shared_ptr<rendezvous_store> store_;
  const std::shared_ptr<progress_bell> bell_;
  const std::shared_ptr<operation> joined_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> joining_{true};
  std::mutex mutex_;
  c10::intrusive_ptr<gloo_group>
    gloo_; ///< Before the peers' threads: ends after them.
  std::vector<peer_thread> peer_threads_; ///< Per peer.
};

/// What a thread of its own runs.
void mesh::join() {
  try {
    start_threads();
  } catch (const std::exception& e) {
    joining_ = false;
    joined_->fail_with({std::nullopt, fail(ec::internal, "{} cannot start: {}",
                                           roll_->group(), plain_text(e))});
  }
}

/// Either starts the threads of the peers or, when abandoned, leaves nothing
/// behind.
void mesh::start_threads() {
  block_sigpipe(); // Gloo's own threads inherit it.
  auto group = connect();
  std::unique_lock lock{mutex_};
  joining_ = false;
  if (stop_ || !group) {
    lock.unlock();
    joined_->fail_with(
      {std::nullopt, stop_ ? abandoned() : std::move(group).error()});
    return;
  }
  gloo_ = std::move(group).value();
  for (rank_id r = 0; r < options().ranks; ++r)
    if (r != options().rank)
      peer_threads_[static_cast<std::size_t>(r)].waiter =
        std::thread{[this, r] { wait_for(r); }};
  lock.unlock();
  joined_->transfer_done(options().rank, true);
}

result<c10::intrusive_ptr<gloo_group>> mesh::connect() {
  GRAPHMILL_TRYV(roll_->join(fingerprint_, stop_));
  const auto deadline =
    rendezvous_store::clock::now() + options().connect_timeout;
  try {
    auto how = gloo_group::Options::create(options().connect_timeout);
    how->threads = 1;
    how->devices.push_back(device_for(options()));
    return c10::make_intrusive<gloo_group>(
      c10::make_intrusive<c10d_store>("gloo", roll_, store_, deadline, stop_),
      options().rank, options().ranks, how);
  } catch (const std::exception& e) {
    return fail(ec::unavailable, "{} cannot connect from {}: {}",
                roll_->group(),
                options().host.empty() ? options().interface : options().host,
                plain_text(e));
  }
}

std::shared_ptr<operation> mesh::exchange(std::span<const transfer> out,
                                          std::span<const transfer> in) {
  block_sigpipe(); // Sending writes what it can at once.
  auto of = std::make_shared<operation>(bell_, options().ranks);
  const auto expect = [&of](std::span<const transfer> list, bool incoming) {
    for (const auto& piece : list)
      if (!piece.bytes.empty())
        of->expect(piece.peer, incoming);
  };
  expect(out, false);
  expect(in, true);
  // Who is expected is ready when it comes.
  for (const auto& piece : in)
    launch(piece, true, of);
  for (const auto& piece : out)
    launch(piece, false, of);
  return of;
}

void mesh::launch(const transfer& piece, bool incoming,
                  const std::shared_ptr<operation>& of) {
  if (piece.bytes.empty())
    return;
  flight started{{}, of, incoming};
  auto& peer_thread = peer_threads_[static_cast<std::size_t>(piece.peer)];
  auto& number = incoming ? peer_thread.received : peer_thread.sent;
  number = (number + 1) & 0x7fffffff;
  try {
    std::vector<at::Tensor> bytes{at::from_blob(
      piece.bytes.data(), {static_cast<std::int64_t>(piece.bytes.size())},
      at::kByte)};
    started.work = incoming ? gloo_->recv(bytes, piece.peer, number)
                            : gloo_->send(bytes, piece.peer, number);
  } catch (const std::exception& e) {
    of->fail_with({piece.peer, fail(ec::unavailable, "{}", plain_text(e))});
    return;
  }
  std::lock_guard lock{mutex_};
  if (stop_) {
    of->fail_with({std::nullopt, abandoned()});
    return;
  }
  peer_thread.waiting.push_back(std::move(started));
  peer_thread.changed.notify_one();
}

void mesh::wait_for(rank_id peer) {
  auto& peer_thread = peer_threads_[static_cast<std::size_t>(peer)];
  std::unique_lock lock{mutex_};
  for (;;) {
    // Bounded by the destructor, which abandons.
    peer_thread.changed.wait(
      lock, [&] { return stop_ || !peer_thread.waiting.empty(); });
    if (stop_)
      break;
    peer_thread.current = std::move(peer_thread.waiting.front());
    peer_thread.waiting.pop_front();
    const auto landing = peer_thread.current;
    lock.unlock();
    auto failure = land(landing);
    if (!failure)
      landing.of->transfer_done(peer, landing.incoming);
    else if (stop_)
      landing.of->fail_with({std::nullopt, abandoned()});
    else
      landing.of->fail_with({peer, std::move(*failure)});
    lock.lock();
    peer_thread.current = {};
  }
  for (const auto& waiting : peer_thread.waiting)
    waiting.of->fail_with({std::nullopt, abandoned()});
}

/// Waits for a transfer to end.
std::optional<error> mesh::land(const flight& flying) const {
  // The member gives up earlier, and abandons.
  const auto limit = options().step_timeout + options().join_timeout;
  try {
    if (flying.work->wait(limit))
      return std::nullopt;
    return abandoned();
  } catch (const std::exception& e) {
    return fail(ec::unavailable, "{}", plain_text(e));
  }
}

void mesh::abandon() {
  std::lock_guard lock{mutex_};
  stop_ = true;
  for (auto& peer_thread : peer_threads_) {
    if (peer_thread.current.work)
      peer_thread.current.work->abort();
    peer_thread.changed.notify_one();
  }
}

class gloo_collective final : public collective {
public:
  gloo_collective(std::shared_ptr<mesh> shared,
                  std::shared_ptr<orphan_threads> orphans)
    : mesh_(std::move(shared)), orphans_(std::move(orphans)),
      joiner_([of = mesh_] { of->join(); }) {}

  ~gloo_collective() override {
    mesh_->abandon();
    if (!mesh_->joining()) {
      joiner_.join();
      return;
    }
    orphans_->keep(std::move(joiner_), [of = mesh_] { return !of->joining(); });
  }

  rank_id rank() const override { return mesh_->options().rank; }
  rank_id ranks() const override { return mesh_->options().ranks; }
  std::shared_ptr<operation> joined() const override { return mesh_->joined(); }
  std::shared_ptr<operation> exchange(std::span<const transfer> out,
                                      std::span<const transfer> in) override {
    return mesh_->exchange(out, in);
  }
  const std::shared_ptr<progress_bell>& bell() const override {
    return mesh_->bell();
  }
  void abandon() override { mesh_->abandon(); }

private:
  std::shared_ptr<mesh> mesh_;
  std::shared_ptr<orphan_threads> orphans_;
  std::thread joiner_;
};

} // namespace

std::unique_ptr<collective>
join_by_gloo(std::shared_ptr<roll_call> roll, std::string fingerprint,
             std::shared_ptr<rendezvous_store> store,
             std::shared_ptr<orphan_threads> orphans) {
  return std::make_unique<gloo_collective>(
    std::make_shared<mesh>(std::move(roll), std::move(fingerprint),
                           std::move(store)),
    std::move(orphans));
}

} // namespace graphmill

#include "actors/transport/sockets/engine.hpp"

#include "actors/transport/sockets/own_address.hpp"
#include "messages/base/caught.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

namespace graphmill {

namespace {

/// No wait is longer.
constexpr std::chrono::milliseconds longest_wait{1000};

/// A ROUTER does not tell when a connection takes messages again.
constexpr std::chrono::milliseconds blocked_wait{1};

constexpr std::chrono::milliseconds last_flush{1000};

result<void> check(const transport_options& options) {
  if (options.name.empty() || options.name.size() > max_hello_text)
    return fail(ec::invalid_argument,
                "the name '{}' has {} bytes, must have 1 to {}", options.name,
                options.name.size(), max_hello_text);
  const auto& live = options.liveness;
  if (live.beat_every.count() < 1 || live.lost_after < 2 * live.beat_every)
    return fail(ec::invalid_argument,
                "a peer would be lost after {} ms of silence with a beat every "
                "{} ms; allow two beats at least",
                live.lost_after.count(), live.beat_every.count());
  return ok();
}

} // namespace

engine::engine(transport_options options, std::shared_ptr<mailbox> box,
               std::shared_ptr<traffic> counters,
               std::shared_ptr<link_board> links)
  : context_(std::move(options), std::move(counters), std::move(links)),
    box_(std::move(box)), serving_(context_, box_) {}

result<std::unique_ptr<engine>>
engine::make(transport_options options, std::shared_ptr<mailbox> box,
             std::shared_ptr<traffic> counters,
             std::shared_ptr<link_board> links) {
  GRAPHMILL_TRYV(check(options));
  if (box->descriptor() < 0)
    return fail_errno(errno, "cannot make an event descriptor");
  std::optional<endpoint> listens;
  if (!options.listen.empty()) {
    GRAPHMILL_TRY(listens, listen_endpoint(options));
  }
  try {
    auto made = std::unique_ptr<engine>{
      new engine{std::move(options), std::move(box), std::move(counters),
                 std::move(links)}};
    if (listens)
      GRAPHMILL_TRYV(made->serving_.listen(*listens));
    made->serving_.begin();
    made->calling_.emplace(made->context_, made->serving_.session());
    return made;
  } catch (const zmq::error_t& broken) {
    if (listens)
      return fail_errno(broken.num(), "cannot listen at {}",
                        to_string(*listens));
    return fail(ec::io, "cannot start the transport: {}", broken.what());
  }
}

void engine::run() {
  // Signals are for others: they would interrupt calls on sockets.
  sigset_t signals;
  sigfillset(&signals);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  if (!serving_.without_local().empty())
    context_.log(
      fmt::format("data for this user's other processes on this machine use "
                  "the network, encrypted, which is slower: {}",
                  serving_.without_local()));
  try {
    while (!step())
      wait();
  } catch (...) {
    quietly([this] {
      context_.tell(fail(ec::internal, "the transport has failed: {}",
                         caught("carry messages").message));
    });
  }
  try {
    finish();
  } catch (...) {
    quietly(
      [this] { context_.log(caught("end the transport in order").message); });
  }
}

/// Everything that can be done now.
/// @returns true at the end.
bool engine::step() {
  const work_scope at{context_.options.gauge,
                      transport_context::moving_messages};
  const auto stop = obey(box_->take());
  calling_->serve();
  serving_.serve();
  tick();
  serving_.flush();
  return stop;
}

void engine::wait() {
  const auto next = std::min(
    {serving_.next_tick(), calling_->next_tick(), context_.faults.next_tick()});
  polls_.clear();
  polls_.push_back({nullptr, box_->descriptor(), ZMQ_POLLIN, 0});
  serving_.add_polls(polls_);
  calling_->add_polls(polls_);
  // In two steps, for `next` may be the end of time.
  const auto start = context_.now();
  auto time = longest_wait;
  if (next <= start)
    time = std::chrono::milliseconds{0};
  else if (next - start < longest_wait)
    time = std::chrono::ceil<std::chrono::milliseconds>(next - start);
  if (serving_.waits())
    time = std::min(time, blocked_wait);
  try {
    zmq::poll(polls_, time);
  } catch (const zmq::error_t& interrupted) {
    if (interrupted.num() != EINTR)
      throw;
  }
}

void engine::tick() {
  for (auto& [where, content, due] : context_.faults.due(context_.now())) {
    if (where.guest)
      serving_.hand_out(where.to, std::move(content));
    else
      calling_->send(where, std::move(content));
  }
  calling_->tick();
  serving_.tick();
  context_.look_at_complaints();
}

bool engine::obey(std::vector<mailbox::command> commands) {
  bool stop = false;
  for (auto& command : commands) {
    if (auto* ask = std::get_if<mailbox::request>(&command)) {
      calling_->request(*ask);
    } else if (const auto* watch = std::get_if<mailbox::keep>(&command)) {
      calling_->keep(*watch);
    } else if (auto* done = std::get_if<mailbox::answer>(&command)) {
      serving_.answer(std::move(*done));
    } else if (const auto* keys = std::get_if<mailbox::admit>(&command)) {
      admit(*keys);
    } else if (const auto* trouble = std::get_if<mailbox::disturb>(&command)) {
      disturb(trouble->fault);
    } else {
      stop = true;
    }
  }
  return stop;
}

void engine::admit(const mailbox::admit& request) {
  if (!context_.table)
    return;
  context_.table = request.table;
  serving_.look_at_keys();
  calling_->look_at_keys();
}

void engine::disturb(const link_fault& fault) {
  if (fault.what != link_fault::kind::cut)
    return context_.faults.begin(context_.now(), fault);
  calling_->cut(fault.peer);
  if (fault.peer.empty())
    serving_.cut();
}

/// Fails what is outstanding, and gives what was to be sent a moment.
void engine::finish() {
  obey(box_->close());
  calling_->finish();
  const auto end = context_.now() + last_flush;
  while (serving_.waits() && context_.now() < end) {
    std::this_thread::sleep_for(blocked_wait);
    serving_.flush();
  }
  serving_.linger(last_flush);
}

} // namespace graphmill

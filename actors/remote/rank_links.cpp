#include "actors/remote/rank_links.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace graphmill {

namespace {

/// The most bytes that one rank sends another without an answer: enough to keep
/// a fast network busy.
constexpr std::uint64_t most_to_a_rank = std::uint64_t{8} << 20;

/// The most unanswered bytes that all ranks of one daemon together send to
/// those of another one, and that the ranks of all daemons together send to
/// those of one. Both are less than what a transport takes of requests
/// (`transport_options::request_bytes`: 64 MiB of one peer, 256 MiB of all). So
/// nobody who trains is told to come again, and requests for rows, without
/// which the receiver does not come to take its gradients, always find room.
constexpr std::uint64_t most_of_a_daemon = std::uint64_t{48} << 20;
constexpr std::uint64_t most_of_all = std::uint64_t{192} << 20;

/// How soon a message that is not answered is sent again. A connection may
/// break under it and be made anew, as often as it likes.
constexpr std::chrono::seconds repeat_after{10};
constexpr std::chrono::seconds longest_repeat{60};
constexpr unsigned most_attempts = 1'000'000;

/// How many ranks of the group a daemon has.
std::uint64_t ranks_on(const rank_places& group, const daemon_address& daemon) {
  return static_cast<std::uint64_t>(
    std::count(group.daemons.begin(), group.daemons.end(), daemon));
}

/// Twice that many bytes are kept by an allocator's heap when they are free.
constexpr std::size_t kept_block = std::size_t{16} << 20;

/// Has the allocator keep the memory of frames for those that come next. libzmq
/// allocates each frame of a MiB anew. glibc gives what is free at the end of a
/// heap back to the system from twice the size of the largest block on that has
/// been given back to it, up to 32 MiB of that; until one has, each frame's
/// pages are faulted in and cleared, which takes longer than to receive it. The
/// freed blocks of large batches come to the same, but not of every run.
void keep_memory_of_frames() {
  static const bool once = [] {
    // Volatile, or the compiler would see that nobody uses it.
    void* volatile block = std::malloc(kept_block);
    std::free(block);
    return true;
  }();
  (void)once;
}

/// The link of one rank. It never waits: what it sends is the transport's to
/// send again, and answers come on the transport's thread, or from ranks of
/// this process on the thread that sends or the one that takes.
class transport_link final : public rank_link {
public:
  transport_link(transport::request_function request,
                 std::shared_ptr<rank_inboxes> inboxes, rank_places group,
                 rank_id rank, const call_options& patience)
    : request_(std::move(request)), inboxes_(std::move(inboxes)),
      group_(std::move(group)), rank_(rank), patience_(patience) {}

  void open(std::weak_ptr<rank_inbox> inbox) override {
    inbox_ = std::move(inbox);
    inboxes_->open(group_, rank_, inbox_);
  }

  void close() override { inboxes_->close(group_, rank_, inbox_); }

  std::uint64_t window(rank_id peer) const override {
    // Each limit is divided by the pairs of ranks that share it. Nobody counts
    // bytes across ranks, so each keeps to its own part, though others may not
    // use theirs.
    const auto here = ranks_on(group_, daemon_of(rank_));
    const auto there = ranks_on(group_, daemon_of(peer));
    const auto elsewhere =
      static_cast<std::uint64_t>(group_.daemons.size()) - there;
    return std::min(
      {most_to_a_rank, most_of_a_daemon / (here * there),
       most_of_all / (std::max<std::uint64_t>(elsewhere, 1) * there)});
  }

  void send(const gradient_message& head, frame bytes,
            message_answer done) override {
    const auto& to = daemon_of(head.to);
    if (to == daemon_of(rank_))
      return inboxes_->deliver(head, std::move(bytes), std::move(done));
    auto data = encode(head, std::move(bytes));
    if (const auto flow = inboxes_->flow_to(to.name)) {
      ++flow->asked;
      flow->gradients_sent += data.byte_size();
    }
    request_(to.address, method::contribute, std::move(data), patience_,
             [done = std::move(done)](result<payload> answer) {
               if (answer)
                 done(ok());
               else
                 done(std::move(answer).error());
             });
  }

private:
  const daemon_address& daemon_of(rank_id rank) const {
    return group_.daemons[static_cast<std::size_t>(rank)];
  }

  const transport::request_function request_;
  const std::shared_ptr<rank_inboxes> inboxes_;
  const rank_places group_;
  const rank_id rank_;
  const call_options patience_;
  std::weak_ptr<rank_inbox> inbox_; ///< From `open` on.
};

/// Whether two weak pointers are of one object, even if that is gone.
bool same_inbox(const std::weak_ptr<rank_inbox>& a,
                const std::weak_ptr<rank_inbox>& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

void hand_over(const std::weak_ptr<rank_inbox>& to,
               const gradient_message& head, frame bytes, message_answer done) {
  if (const auto inbox = to.lock())
    inbox->deliver(head, std::move(bytes), std::move(done));
  else
    done(fail(ec::unavailable, "rank {} has left", head.to));
}

} // namespace

void rank_inboxes::open(const rank_places& group, rank_id rank,
                        std::weak_ptr<rank_inbox> inbox) {
  auto daemons =
    std::make_shared<const std::vector<daemon_address>>(group.daemons);
  std::lock_guard lock{mutex_};
  residents_.insert_or_assign(place{group.run, group.generation, rank},
                              resident{std::move(inbox), std::move(daemons)});
}

void rank_inboxes::close(const rank_places& group, rank_id rank,
                         const std::weak_ptr<rank_inbox>& inbox) {
  std::lock_guard lock{mutex_};
  const auto at = residents_.find(place{group.run, group.generation, rank});
  if (at != residents_.end() && same_inbox(at->second.inbox, inbox))
    residents_.erase(at);
}

result<rank_inboxes::resident>
rank_inboxes::find(const gradient_message& head) const {
  std::lock_guard lock{mutex_};
  const auto at = residents_.find(place{head.run, head.generation, head.to});
  if (at == residents_.end())
    return fail(ec::unavailable,
                "rank {} of the gradient group of run \"{}\" (generation {}) "
                "is not here or has left",
                head.to, head.run, head.generation);
  return at->second;
}

void rank_inboxes::deliver(const gradient_message& head, frame bytes,
                           message_answer done) const {
  auto to = find(head);
  if (!to)
    return done(std::move(to).error());
  hand_over(to.value().inbox, head, std::move(bytes), std::move(done));
}

bool rank_inboxes::serve(const incoming_request& request) const {
  if (traits_of(request.method).server != method_server::ranks)
    return false;
  const auto& reply = request.reply;
  const auto read = decode_gradient_message(request.data);
  if (!read) {
    reply.reply(read.error());
    return true;
  }
  const auto& head = read.value();
  const auto to = find(head);
  if (!to) {
    reply.reply(to.error());
    return true;
  }
  const auto& daemons = *to.value().daemons;
  const daemon_address sender{request.from.name, request.from.address};
  if (head.from < 0 || std::cmp_greater_equal(head.from, daemons.size())
      || daemons[static_cast<std::size_t>(head.from)] != sender) {
    reply.reply(fail(ec::permission,
                     "daemon \"{}\" at {} does not have rank {} of run \"{}\"",
                     sender.name, sender.address, head.from, head.run));
    return true;
  }
  if (const auto flow = flow_to(sender.name)) {
    ++flow->served;
    flow->gradients_received += request.data.byte_size();
  }
  // To whom the sender was compared with, and not to whom has come since.
  hand_over(to.value().inbox, head,
            request.data.bulk.empty() ? frame{} : request.data.bulk.front(),
            [reply](const result<void>& how) {
              reply.reply(how ? result<payload>{payload{}} : how.error());
            });
  return true;
}

call_options patience_of_ranks(std::chrono::milliseconds longest) {
  call_options out;
  out.deadline = longest;
  out.attempts = most_attempts;
  out.repeat = repeat_after;
  out.longest_repeat = longest_repeat;
  return out;
}

std::shared_ptr<rank_link> link_over(const transport& net,
                                     std::shared_ptr<rank_inboxes> inboxes,
                                     rank_places group, rank_id rank,
                                     const call_options& patience) {
  keep_memory_of_frames();
  return std::make_shared<transport_link>(net.requests(), std::move(inboxes),
                                          std::move(group), rank, patience);
}

} // namespace graphmill

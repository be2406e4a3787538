#include "pipelines/gradients/messages/message_collective.hpp"

#include "messages/base/caught.hpp"
#include "pipelines/gradients/messages/incoming_transfers.hpp"
#include "pipelines/gradients/messages/outgoing_pieces.hpp"

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// A rank's end of all of its connections. Shared with those who may still come
/// when the rank has left: messages, answers, and the thread that joins.
///
/// States: closed, until `open`; open, when messages may come, for other ranks
/// may have joined before this one; joined, when the roll call is complete and
/// all peers have been asked for their farewell; abandoned, when all operations
/// fail and no memory of callers is touched any more; left, when peers have
/// been told so and all that comes is refused. `deliver`, answers and `abandon`
/// come on any thread; `exchange` is for one thread at a time.
class rank_mesh final : public rank_inbox,
                        public std::enable_shared_from_this<rank_mesh> {
public:
  rank_mesh(std::shared_ptr<roll_call> roll, std::string fingerprint,
            std::shared_ptr<rank_link> link)
    : roll_(std::move(roll)), fingerprint_(std::move(fingerprint)),
      link_(std::move(link)), bell_(std::make_shared<progress_bell>()),
      joined_(std::make_shared<operation>(bell_, options().ranks)) {
    joined_->expect(options().rank, true);
  }

  const group_options& options() const { return roll_->options(); }
  const std::shared_ptr<progress_bell>& bell() const { return bell_; }
  const std::shared_ptr<operation>& joined() const { return joined_; }
  bool joining() const { return joining_; }

  /// Before `join`: messages may come from now on.
  void open();
  /// What a thread of its own runs.
  void join() noexcept;
  std::shared_ptr<operation> exchange(std::span<const transfer> out,
                                      std::span<const transfer> in);
  void abandon();
  /// After `abandon`: nothing comes any more.
  void leave();

  void deliver(const gradient_message& head, frame bytes,
               message_answer done) override;

private:
  /// What goes between this rank and another one; none with itself.
  struct peer {
    std::unique_ptr<incoming_transfers> in;
    std::shared_ptr<outgoing_pieces> out;
  };

  void join_group();
  peer& peer_of(rank_id rank) { return peers_[static_cast<std::size_t>(rank)]; }
  template <class F>
  void for_peers(const F& f);
  gradient_message message_to(rank_id peer) const;
  void await_farewell(rank_id peer);
  void lose(rank_id peer, const error& reason);
  void keep_farewell(message_answer done);
  error has_left() const;

  const std::shared_ptr<roll_call> roll_;
  const std::string fingerprint_;
  const std::shared_ptr<rank_link> link_;
  const std::shared_ptr<progress_bell> bell_;
  const std::shared_ptr<operation> joined_;
  std::vector<peer> peers_; ///< By rank; not changed once open.
  std::atomic<bool> stop_{false};
  std::atomic<bool> joining_{true};
  std::mutex mutex_; ///< Guards what follows.
  bool left_ = false;
  /// How to answer the others, who have asked to be told when this rank leaves.
  std::vector<message_answer> farewells_;
};

error given_up_group(const roll_call& roll) {
  return fail(ec::cancelled, "{} was abandoned", roll.group());
}

template <class F>
void rank_mesh::for_peers(const F& f) {
  for (rank_id r = 0; r < options().ranks; ++r)
    if (r != options().rank)
      f(r);
}

gradient_message rank_mesh::message_to(rank_id peer) const {
  gradient_message out;
  out.run = options().run;
  out.generation = options().generation;
  out.from = options().rank;
  out.to = peer;
  return out;
}

void rank_mesh::open() {
  peers_.resize(static_cast<std::size_t>(options().ranks));
  for_peers([this](rank_id r) {
    peer_of(r) = {
      std::make_unique<incoming_transfers>(r),
      std::make_shared<outgoing_pieces>(
        message_to(r), link_, [me = weak_from_this(), r](const error& reason) {
          if (const auto here = me.lock())
            here->lose(r, reason);
        })};
  });
  link_->open(weak_from_this());
}

/// On a thread of its own, which must not throw.
void rank_mesh::join() noexcept {
  try {
    join_group();
  } catch (...) {
    quietly([this] {
      joined_->fail_with({std::nullopt, caught("join " + roll_->group())});
    });
  }
  joining_ = false;
}

void rank_mesh::join_group() {
  auto there = roll_->join(fingerprint_, stop_);
  if (there && stop_)
    there = given_up_group(*roll_);
  if (there) {
    for_peers([this](rank_id r) { await_farewell(r); });
    joined_->transfer_done(options().rank, true);
  } else {
    joined_->fail_with({std::nullopt, std::move(there).error()});
  }
}

/// Asks a peer to answer when it leaves. That the question cannot be asked any
/// more is how its loss is known, so that there is always one on the way.
void rank_mesh::await_farewell(rank_id peer) {
  auto question = message_to(peer);
  question.purpose = gradient_purpose::farewell;
  link_->send(question, {},
              [me = weak_from_this(), peer](const result<void>& answer) {
                const auto here = me.lock();
                if (!here || here->stop_)
                  return;
                if (!answer && answer.error().code == ec::timeout)
                  here->await_farewell(peer);
                else
                  here->lose(peer, answer ? fail(ec::unavailable, "it has left")
                                          : answer.error());
              });
}

std::shared_ptr<operation> rank_mesh::exchange(std::span<const transfer> out,
                                               std::span<const transfer> in) {
  auto of = std::make_shared<operation>(bell_, options().ranks);
  for (const auto& piece : in)
    if (!piece.bytes.empty())
      of->expect(piece.peer, true);
  // The operation knows all of its transfers before the first of them can be
  // done. Places to receive are ready before anything is sent, so that what
  // peers send in return need not be held.
  for (const auto& piece : in)
    if (!piece.bytes.empty())
      peer_of(piece.peer).in->expect(piece, of);
  for (const auto& piece : out)
    if (!piece.bytes.empty())
      peer_of(piece.peer).out->send(piece.bytes, piece.owner);
  return of;
}

/// What is expected of a peer will not come. What this rank could not send is
/// told in the same way: the peer will not answer it.
void rank_mesh::lose(rank_id peer, const error& reason) {
  peer_of(peer).out->stop();
  peer_of(peer).in->fail({peer, reason});
}

void rank_mesh::deliver(const gradient_message& head, frame bytes,
                        message_answer done) {
  if (head.from < 0 || head.from >= options().ranks
      || head.from == options().rank)
    return done(fail(ec::invalid_argument,
                     "rank {} is no peer of rank {} of {}", head.from,
                     options().rank, options().ranks));
  if (head.purpose == gradient_purpose::farewell)
    keep_farewell(std::move(done));
  else
    peer_of(head.from).in->deliver(head, std::move(bytes), std::move(done));
}

void rank_mesh::keep_farewell(message_answer done) {
  {
    std::lock_guard lock{mutex_};
    if (!left_) {
      farewells_.push_back(std::move(done));
      return;
    }
  }
  done(ok());
}

void rank_mesh::abandon() {
  stop_ = true;
  const operation::failure reason{std::nullopt, given_up_group(*roll_)};
  joined_->fail_with(reason);
  for_peers([&](rank_id r) {
    peer_of(r).out->stop();
    peer_of(r).in->fail(reason);
  });
  bell_->ring();
}

void rank_mesh::leave() {
  link_->close();
  std::vector<message_answer> waiting;
  {
    std::lock_guard lock{mutex_};
    left_ = true;
    waiting.swap(farewells_);
  }
  for (auto& tell : waiting)
    tell(ok());
  const auto reason = has_left();
  for_peers([&](rank_id r) { peer_of(r).in->refuse(reason); });
}

error rank_mesh::has_left() const {
  return fail(ec::unavailable, "{} has left {}",
              roll_->list({&options().rank, 1}), roll_->group());
}

class message_collective final : public collective {
public:
  message_collective(std::shared_ptr<rank_mesh> mesh,
                     std::shared_ptr<orphan_threads> orphans)
    : mesh_(std::move(mesh)), orphans_(std::move(orphans)),
      joiner_([of = mesh_] { of->join(); }) {}

  ~message_collective() override {
    mesh_->abandon();
    mesh_->leave();
    if (!mesh_->joining())
      joiner_.join();
    else
      orphans_->keep(std::move(joiner_),
                     [of = mesh_] { return !of->joining(); });
  }

  rank_id rank() const override { return mesh_->options().rank; }
  rank_id ranks() const override { return mesh_->options().ranks; }
  std::shared_ptr<operation> joined() const override { return mesh_->joined(); }
  const std::shared_ptr<progress_bell>& bell() const override {
    return mesh_->bell();
  }
  std::shared_ptr<operation> exchange(std::span<const transfer> out,
                                      std::span<const transfer> in) override {
    return mesh_->exchange(out, in);
  }
  void abandon() override { mesh_->abandon(); }

private:
  std::shared_ptr<rank_mesh> mesh_;
  std::shared_ptr<orphan_threads> orphans_;
  std::thread joiner_;
};

} // namespace

std::unique_ptr<collective>
join_by_messages(std::shared_ptr<roll_call> roll, std::string fingerprint,
                 std::shared_ptr<rank_link> link,
                 std::shared_ptr<orphan_threads> orphans) {
  auto mesh = std::make_shared<rank_mesh>(
    std::move(roll), std::move(fingerprint), std::move(link));
  mesh->open();
  return std::make_unique<message_collective>(std::move(mesh),
                                              std::move(orphans));
}

} // namespace graphmill

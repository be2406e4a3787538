#include "actors/remote/failover.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// Whether another owner may give what this one does not: it is gone, or its
/// share of the run is ending. What it says of the question itself, any other
/// one would say, too.
bool is_gone(ec code) {
  return code == ec::unavailable || code == ec::timeout;
}

void carry_out(const std::vector<std::function<void()>>& todo) {
  for (const auto& action : todo)
    action();
}

} // namespace

std::shared_ptr<failover> failover::over(std::vector<target> daemons,
                                         settings with) {
  return std::shared_ptr<failover>{
    new failover{std::move(daemons), std::move(with)}};
}

failover::failover(std::vector<target> daemons, settings with)
  : daemons_(std::move(daemons)), with_(std::move(with)),
    health_(daemons_.size()) {}

part_call failover::among(std::vector<std::size_t> owners) {
  return [self = shared_from_this(),
          list = std::make_shared<const std::vector<std::size_t>>(std::move(
            owners))](method what, payload data, part_reply on_reply) {
    self->ask(list, what, std::move(data), std::move(on_reply));
  };
}

void failover::ask(
  const std::shared_ptr<const std::vector<std::size_t>>& owners, method what,
  payload data, part_reply on_reply) {
  actions todo;
  {
    const std::scoped_lock lock{mutex_};
    question asked;
    asked.owners = owners;
    asked.what = what;
    asked.data = std::move(data);
    asked.on_reply = std::move(on_reply);
    const auto at = open_.emplace(++last_, std::move(asked)).first;
    pass_on(at, todo);
    if (!at->second.of_all)
      look(at->second, todo);
  }
  carry_out(todo);
}

/// To the next owner that is there; if there is none, to all.
void failover::pass_on(questions::iterator at, actions& todo) {
  auto& asked = at->second;
  const auto& owners = *asked.owners;
  while (owners.size() > 1 && asked.tried < owners.size()) {
    const auto daemon = owners[asked.tried++];
    if (health_[daemon].away)
      continue;
    asked.at = daemon;
    send(at, daemon, true, todo);
    return;
  }
  asked.of_all = true;
  for (const auto daemon : owners)
    send(at, daemon, false, todo);
}

void failover::send(questions::iterator at, std::size_t daemon, bool brief,
                    actions& todo) {
  auto& asked = at->second;
  ++asked.open;
  todo.push_back([self = shared_from_this(), id = at->first, daemon, brief,
                  what = asked.what, data = asked.data] {
    const auto& to = self->daemons_[daemon];
    (brief ? to.brief : to.patient)(
      what, data, [self, id, daemon](result<payload> answer) {
        self->answered(id, daemon, std::move(answer));
      });
  });
}

/// Sees whether owners that are away are there again, when it is time to.
void failover::look(const question& asked, actions& todo) {
  const auto now = with_.now();
  for (const auto daemon : *asked.owners) {
    auto& of = health_[daemon];
    if (!of.away || now < of.look_at)
      continue;
    of.pause = std::min(2 * of.pause, with_.longest_look);
    of.look_at = now + of.pause;
    todo.push_back([self = shared_from_this(), daemon, what = asked.what,
                    data = asked.data] {
      self->daemons_[daemon].brief(
        what, data, [self, daemon](const result<payload>& answer) {
          actions then;
          if (answer) {
            const std::scoped_lock lock{self->mutex_};
            self->is_there(daemon, then);
          }
          carry_out(then);
        });
    });
  }
}

void failover::answered(std::uint64_t id, std::size_t daemon,
                        result<payload> answer) {
  actions todo;
  {
    const std::scoped_lock lock{mutex_};
    const auto gone = !answer && is_gone(answer.error().code);
    if (gone)
      is_away(daemon, answer.error(), todo); // Passes this question on, too.
    else if (answer)
      is_there(daemon, todo);
    const auto at = open_.find(id);
    if (at != open_.end()) { // Else another owner was quicker.
      auto& asked = at->second;
      --asked.open;
      if (!gone || asked.open == 0) {
        todo.push_back(
          [on_reply = std::move(asked.on_reply), from = daemons_[daemon].name,
           answer = std::move(answer)] { on_reply(answer, from); });
        open_.erase(at);
      }
    }
  }
  carry_out(todo);
}

void failover::is_away(std::size_t daemon, const error& reason, actions& todo) {
  auto& of = health_[daemon];
  if (std::exchange(of.away, true))
    return;
  of.pause = with_.first_look;
  of.look_at = with_.now() + of.pause;
  auto passed = std::size_t{0};
  for (auto at = open_.begin(); at != open_.end(); ++at)
    if (!at->second.of_all && at->second.at == daemon) {
      pass_on(at, todo);
      ++passed;
    }
  of.told = passed != 0;
  if (of.told)
    say(fmt::format("daemon {} does not answer; other owners of its parts are "
                    "asked until it does: {}",
                    daemons_[daemon].name, reason.message),
        todo);
}

void failover::is_there(std::size_t daemon, actions& todo) {
  auto& of = health_[daemon];
  if (std::exchange(of.away, false) && of.told)
    say(fmt::format("daemon {} answers again", daemons_[daemon].name), todo);
}

void failover::say(std::string sentence, actions& todo) const {
  if (with_.tell)
    todo.push_back(
      [tell = with_.tell, sentence = std::move(sentence)] { tell(sentence); });
}

} // namespace graphmill

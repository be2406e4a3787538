#include "actors/launch/launched_cluster.hpp"

#include "actors/process/temporary_folder.hpp"
#include "actors/transport/sockets/connections/keys.hpp"

#include <signal.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace graphmill {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

using clock = std::chrono::steady_clock;

constexpr auto daemon_look_interval = 20ms;

/// Daemons may take that long to end by themselves, and again once told to by
/// a signal.
constexpr auto end_patience = 5s;

/// A daemon that dies more often in that time will do so again.
constexpr std::size_t most_deaths = 3;
constexpr auto deaths_within = 60s;

/// Lines that are told of what a daemon said which is started again: the run
/// goes on, and who looks at it has more to read.
constexpr std::size_t told_lines = 3;

/// The last lines of a text.
std::string_view last_lines(std::string_view text, std::size_t count) {
  auto at = text.size();
  while (at != 0 && at != std::string_view::npos && count-- != 0)
    at = text.rfind('\n', at - 1);
  return at == std::string_view::npos || at == 0 ? text : text.substr(at + 1);
}

} // namespace

result<launched_cluster> launched_cluster::start(local_launch launch,
                                                 settings with) {
  launched_cluster out{std::move(with)};
  out.until_ = clock::now() + out.with_.patience;
  GRAPHMILL_TRYV(out.launch_local(std::move(launch)));
  GRAPHMILL_TRYV(out.await_daemons());
  return out;
}

result<void> launched_cluster::launch_local(local_launch launch) {
  temporary_folder ready;
  GRAPHMILL_TRY(launch.ready, ready.make());
  if (launch.key.empty() && !launch.insecure) {
    with_.key = launch.ready / "key";
    launch.key = with_.key.string();
    GRAPHMILL_TRY(keys_, make_keys());
    GRAPHMILL_TRYV(write_keys(*keys_, with_.key));
  }
  GRAPHMILL_TRYV(add(local_daemon(launch, 0, {})));
  GRAPHMILL_TRY(const auto address, await_address(ready_file(launch, 0)));
  for (std::uint32_t i = 1; i < launch.daemons; ++i)
    GRAPHMILL_TRYV(add(local_daemon(launch, i, address)));
  GRAPHMILL_TRYV(open_client(address));
  local_ = launch;
  local_->again_at = address;
  // From here on the folder is of no use, once all have written to it: they
  // have read the key before.
  for (std::uint32_t i = 1; i < launch.daemons; ++i)
    GRAPHMILL_TRYV(await_address(ready_file(launch, i)));
  return ok();
}

result<launched_cluster> launched_cluster::start(const remote_launch& launch,
                                                 settings with) {
  launched_cluster out{std::move(with)};
  out.until_ = clock::now() + out.with_.patience;
  for (std::size_t i = 0; i < launch.hosts.size(); ++i)
    GRAPHMILL_TRYV(out.add(remote_daemon(launch, i)));
  GRAPHMILL_TRYV(out.open_client(address_of(launch.hosts.front())));
  out.remote_ = launch;
  out.remote_->again = true;
  GRAPHMILL_TRYV(out.await_daemons());
  return out;
}

launched_cluster::~launched_cluster() {
  end();
}

result<void> launched_cluster::add(process_command command) {
  GRAPHMILL_TRY(auto child, child_process::start(std::move(command)));
  daemons_.push_back(std::move(child));
  return ok();
}

result<void> launched_cluster::open_client(const std::string& address) {
  cluster_client::settings with;
  with.command = "up";
  with.address = address;
  with.key = with_.key;
  with.insecure = with_.insecure;
  with.signals = with_.signals;
  GRAPHMILL_TRY(auto made, cluster_client::make(std::move(with)));
  client_.emplace(std::move(made));
  return ok();
}

result<void> launched_cluster::check_all() {
  for (auto& daemon : daemons_)
    if (!daemon.running())
      return daemon.obituary();
  return ok();
}

result<void> launched_cluster::check_daemons() {
  forget_begun();
  // Others find the coordinator, which is the first.
  for (std::size_t i = 0; i < daemons_.size(); ++i)
    GRAPHMILL_TRYV(check(i));
  return ok();
}

/// Folders of daemons that have joined, or that have ended, are of no use.
void launched_cluster::forget_begun() {
  std::erase_if(begun_, [this](const auto& one) {
    std::error_code ignored;
    return fs::exists(one.second.ready_file, ignored)
           || !daemons_[one.first].running();
  });
}

result<void> launched_cluster::check(std::size_t index) {
  auto& daemon = daemons_[index];
  // One that was told to end is not wanted; but nobody knows of a run any more
  // without the coordinator.
  if (daemon.running() || (index != 0 && daemon.ended_well()))
    return ok();
  const auto death = daemon.obituary();
  const auto now = clock::now();
  auto& deaths = deaths_[index];
  std::erase_if(deaths,
                [now](auto then) { return now - then > deaths_within; });
  deaths.push_back(now);
  if (interrupted())
    return death;
  if (deaths.size() > most_deaths)
    return fail(death.code,
                "a daemon has died for the {}th time within {} s and is not "
                "restarted: {}",
                deaths.size(), deaths_within.count(), death.message);
  if (with_.tell) {
    const auto words = daemon.last_words();
    with_.tell(fmt::format("{} and is restarted{}{}", daemon.end_text(),
                           words.empty() ? "" : "; its last output:\n",
                           last_lines(words, told_lines)));
  }
  return start_again(index);
}

bool launched_cluster::interrupted() const {
  return with_.signals != nullptr && with_.signals->count() > 0;
}

/// Starts a daemon under the name that it had, the coordinator at its address.
result<void> launched_cluster::start_again(std::size_t index) {
  if (remote_) {
    GRAPHMILL_TRY(daemons_[index],
                  child_process::start(remote_daemon(*remote_, index)));
    return ok();
  }
  const auto folder = std::make_shared<temporary_folder>();
  auto launch = *local_;
  GRAPHMILL_TRY(launch.ready, folder->make());
  if (keys_) {
    launch.key = (launch.ready / "key").string();
    GRAPHMILL_TRYV(write_keys(*keys_, launch.key));
  }
  const auto number = static_cast<std::uint32_t>(index);
  GRAPHMILL_TRY(daemons_[index], child_process::start(local_daemon(
                                   launch, number, launch.again_at)));
  // Who has joined has read the key before.
  const auto ready = ready_file(launch, number);
  if (index == 0)
    return await_coordinator(ready);
  begun_[index] = {ready, folder};
  return ok();
}

/// The others may have died with the first, and are started after it.
result<void> launched_cluster::await_coordinator(const fs::path& file) {
  until_ = clock::now() + with_.patience;
  for (;;) {
    std::error_code ignored;
    if (fs::exists(file, ignored))
      return ok();
    if (!daemons_.front().running())
      return daemons_.front().obituary();
    GRAPHMILL_TRYV(pause());
  }
}

/// Waits a little for daemons to get on.
result<void> launched_cluster::pause() {
  if (clock::now() >= until_)
    return fail(ec::timeout, "the daemons were not up within {} s{}{}",
                std::chrono::ceil<std::chrono::seconds>(with_.patience).count(),
                daemons_.back().last_words().empty() ? ""
                                                     : "; the last said:\n",
                daemons_.back().last_words());
  if (with_.signals == nullptr) {
    std::this_thread::sleep_for(daemon_look_interval);
    return ok();
  }
  with_.signals->wait(daemon_look_interval);
  if (interrupted())
    return fail(ec::cancelled, "interrupted before the daemons were up");
  return ok();
}

/// The address that a daemon writes to a file, a line.
result<std::string> launched_cluster::await_address(const fs::path& file) {
  for (;;) {
    std::ifstream in{file};
    std::string line;
    if (std::getline(in, line) && !in.eof())
      return line;
    GRAPHMILL_TRYV(check_all());
    GRAPHMILL_TRYV(pause());
  }
}

result<void> launched_cluster::await_daemons() {
  for (;;) {
    const auto now = client_->status();
    if (now
        && std::ranges::count_if(now.value().daemons,
                                 [](const daemon_status& daemon) {
                                   return daemon.state != daemon_state::lost;
                                 })
             >= std::ssize(daemons_))
      return ok();
    // The first may take its time to listen; the others to find it.
    if (!now && now.error().code != ec::unavailable
        && now.error().code != ec::timeout)
      return now.error();
    GRAPHMILL_TRYV(check_all());
    GRAPHMILL_TRYV(pause());
  }
}

void launched_cluster::end() {
  auto told = false;
  // There are none in one that was moved from, or did not get far.
  if (client_ && !daemons_.empty() && daemons_.front().running()) {
    client_->forget_signals();
    told = bool(client_->stop({}));
  }
  client_.reset();
  if (!told)
    for (auto& daemon : daemons_)
      daemon.signal(SIGTERM);
  forget_begun();
  for (const auto& [index, unused] : begun_) // The coordinator may not know it.
    daemons_[index].signal(SIGTERM);
  end_all(daemons_, end_patience);
  daemons_.clear();
  begun_.clear();
}

} // namespace graphmill

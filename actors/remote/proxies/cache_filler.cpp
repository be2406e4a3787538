#include "actors/remote/proxies/cache_filler.hpp"

#include "actors/base/ticket_table.hpp"
#include "actors/remote/ask_daemon.hpp"
#include "actors/remote/cached_rows.hpp"
#include "actors/remote/calls/spread_call.hpp"
#include "actors/remote/calls/task_queues.hpp"
#include "actors/remote/interfaces.hpp"
#include "actors/remote/proxies/feature_proxy.hpp"
#include "actors/remote/proxies/gather_jobs.hpp"
#include "partition/sampling/rows/hot_nodes.hpp"
#include "pipelines/flow/epoch_plan.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

namespace graphmill {

namespace {

class cache_filler {
public:
  using interface = cache_filler_actor::extend<
    // The TRANSPORT has an answer.
    takes<remote_reply>,
    // INTERNAL: a moment's work on a part that is here.
    takes<tick>>;
  static constexpr const char* name = "cache_filler";

  cache_filler(interface::pointer self, cache_filler_config config)
    : self_(self), config_(std::move(config)) {
    if (!config_.gauge)
      config_.gauge =
        std::make_shared<actor_gauge>(actor_label{actor_kind::cache_filler});
    config_.gauge->enter(actor_state::starved);
    self_->set_exit_handler([this](const caf::exit_msg& exit) {
      // It is linked to proxies: one that crashed is no wish of the run's.
      give_up(exit.reason == caf::exit_reason::user_shutdown
                ? fail(ec::cancelled, "the run is over")
                : from_caf(exit.reason, "a link to another daemon"));
      self_->quit(exit.reason);
    });
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const fill_cache&) { return begin(); },
      [this](const remote_reply& reply) { on_reply(reply); },
      [this](const tick&) { work_here(); },
    };
  }

private:
  using task = inclusion::task;

  const partitioned_graph& graph() const { return *config_.graph; }
  const dataset_info& info() const { return graph().info(); }
  bool is_here(part_id part) const {
    return config_.shards[static_cast<std::size_t>(part)] != nullptr;
  }

  caf::result<cache_filled> begin() {
    if (promise_)
      return to_caf(fail(ec::invalid_argument, "the cache has been filled"));
    promise_ = self_->make_response_promise<cache_filled>();
    auto promise = *promise_;
    config_.gauge->enter(actor_state::running);
    say("choosing rows of other daemons' nodes");
    scores_ = no_scores(info());
    std::vector<std::uint32_t> windows;
    for (part_id part = 0; part < graph().part_count(); ++part) {
      windows.push_back(is_here(part) ? 1 : config_.window);
      proxies_.push_back(is_here(part) ? feature_service_actor{}
                                       : proxy_of(part));
    }
    queues_.emplace(windows);
    jobs_.emplace(self_, proxies_);
    if (config_.def.fetch.cache_order == cache_order::vip)
      next_rank();
    else
      ask_degrees();
    return promise;
  }

  feature_service_actor proxy_of(part_id part) {
    remote_feature_config proxy;
    proxy.to = config_.remote(part);
    proxy.half = rounds_features(config_.def);
    proxy.audit = config_.audit;
    auto made =
      spawn_remote_feature_service(self_->home_system(), std::move(proxy));
    self_->link_to(made); // Ends with this.
    return made;
  }

  // -- by inclusion

  void next_rank() {
    if (rank_ == config_.ranks.size()) {
      choose();
      return;
    }
    work_.emplace(graph(), *config_.scheme,
                  seed_chances(config_.def, config_.graph, config_.world,
                               config_.ranks[rank_]));
    next_hop();
  }

  void next_hop() {
    while (!work_->done()) {
      for (const auto& one : work_->tasks())
        queues_->push(one);
      if (!queues_->empty()) {
        send_tasks();
        return;
      }
      work_->finish_hop();
    }
    work_->add_to(scores_);
    work_.reset();
    ++rank_;
    next_rank();
  }

  void send_tasks() {
    while (!over()) {
      const auto next = queues_->next();
      if (!next) {
        config_.gauge->enter(here_.empty() ? actor_state::waiting
                                           : actor_state::running);
        return;
      }
      if (is_here(next->part)) {
        here_.push_back(*next);
        post(handle_of<interface>(self_), tick{});
      } else if (auto sent = send(*next); !sent) {
        give_up(sent.error());
      }
    }
  }

  result<void> send(const task& next) {
    const auto to = config_.remote(next.part);
    GRAPHMILL_TRY(auto data, encode(to.run, to.part, work_->request(next)));
    ask_owner(handle_of<interface>(self_), asked_.add(next), to, method::spread,
              std::move(data));
    return ok();
  }

  void on_reply(const remote_reply& reply) {
    auto task = asked_.take(reply.ticket);
    if (!task || over())
      return;
    const auto from = config_.remote(task->part);
    from.counters->bytes_in += reply.data.byte_size();
    config_.gauge->made(reply.data.byte_size());
    auto done = reply.failure ? result<bool>{*reply.failure}
                              : take(*task, read_spread(reply.data));
    if (done)
      settle(*task, done.value());
    else
      give_up(from.explain(done.error(), reply.from));
  }

  void work_here() {
    if (here_.empty() || over())
      return;
    auto task = here_.front();
    here_.pop_front();
    const auto& part = *config_.shards[static_cast<std::size_t>(task.part)];
    if (auto done = take(task, spread(part, work_->request(task))); done)
      settle(task, done.value());
    else
      give_up(done.error());
  }

  result<bool> take(task& next, const result<inclusion_reply>& reply) {
    return reply ? work_->accept(next, reply.value())
                 : result<bool>{reply.error()};
  }

  void settle(const task& next, bool done) {
    queues_->settle(next, done);
    if (!queues_->empty()) {
      send_tasks();
      return;
    }
    work_->finish_hop();
    next_hop();
  }

  // -- by degree

  void ask_degrees() {
    for (part_id part = 0; part < graph().part_count(); ++part)
      if (!is_here(part))
        for (auto& [job, asked] : degree_jobs(graph(), part))
          jobs_->add(part, std::move(job), [this, asked = std::move(asked)] {
            config_.gauge->made(asked->degrees.size() * sizeof(std::int32_t));
            asked->add_to(scores_);
          });
    run_jobs([this] { choose(); });
  }

  // -- rows

  void choose() {
    config_.gauge->enter(actor_state::running);
    std::vector<part_id> here;
    for (part_id part = 0; part < graph().part_count(); ++part)
      if (is_here(part))
        here.push_back(part);
    auto hot = choose_hot_nodes(graph(), here, scores_, config_.def.fetch.cache,
                                rounds_features(config_.def));
    scores_ = {};
    for (const auto& ids : hot.ids)
      rows_ += ids.size();
    say("fetching {} rows of {} bytes in all", rows_, hot.bytes);
    if (auto held = config_.cache->hold(info(), std::move(hot)); !held) {
      give_up(held.error());
      return;
    }
    std::vector<part_id> asked;
    for (part_id part = 0; part < graph().part_count(); ++part)
      if (!is_here(part))
        asked.push_back(part);
    // A job's rows have memory of their own until they are put.
    const auto each =
      config_.job_bytes / std::max<std::size_t>(asked.size(), 1);
    for (auto part : asked)
      for (auto& [job, put] : fill_jobs(config_.cache, graph(), part, each)) {
        const auto& rows = job.items.front();
        const auto bytes =
          rows.ids.size() * config_.cache->width(rows.type) * sizeof(float);
        jobs_->add(part, std::move(job), [this, bytes, put = std::move(put)] {
          config_.gauge->made(bytes);
          put();
        });
      }
    run_jobs([this] { finish(); });
  }

  void finish() {
    config_.cache->open();
    const auto bytes = config_.cache->byte_size();
    say("filled with {} rows, {} bytes of memory", rows_, bytes);
    promise_delivered_ = true;
    config_.gauge->enter(actor_state::stopped);
    promise_->deliver(cache_filled{rows_, bytes});
    for (auto& proxy : proxies_)
      if (proxy) {
        self_->unlink_from(proxy);
        stop_actor(proxy);
      }
  }

  void run_jobs(std::function<void()> then) {
    config_.gauge->enter(actor_state::waiting);
    jobs_->run(
      [this](std::size_t done, std::size_t of) {
        config_.gauge->queued(of - done);
        if (done * 10 / of != (done - 1) * 10 / of)
          say("{} of {} pieces are there", done, of);
      },
      [this, then = std::move(then)](const result<void>& how) {
        if (!how)
          give_up(how.error());
        else if (!over())
          then();
      });
  }

  // -- the end

  bool over() const { return promise_delivered_; }

  void give_up(const error& reason) {
    if (!promise_ || std::exchange(promise_delivered_, true))
      return;
    config_.gauge->failed(reason.message);
    promise_->deliver(
      to_caf(fail(reason.code, "the cache of remote rows cannot be filled: {}",
                  reason.message)));
  }

  template <class... Ts>
  void say(fmt::format_string<Ts...> text, Ts&&... args) {
    if (config_.log)
      config_.log->info("cache of remote rows: {}",
                        fmt::format(text, std::forward<Ts>(args)...));
  }

  interface::pointer self_;
  cache_filler_config config_;
  std::optional<caf::typed_response_promise<cache_filled>> promise_;
  bool promise_delivered_ = false;
  node_scores scores_;
  std::vector<feature_service_actor> proxies_; ///< None of parts here.
  std::optional<gather_jobs<std::remove_pointer_t<interface::pointer>>> jobs_;
  std::optional<task_queues> queues_;
  std::optional<inclusion> work_; ///< Of `ranks[rank_]`.
  std::size_t rank_ = 0;
  ticket_table<task> asked_;
  std::deque<task> here_;
  std::uint64_t rows_ = 0;
};

} // namespace

cache_filler_actor spawn_cache_filler(caf::actor_system& system,
                                      cache_filler_config config) {
  return spawn_state<cache_filler>(system, std::move(config));
}

} // namespace graphmill

#include "actors/remote/proxies/feature_proxy.hpp"

#include "actors/remote/ask_daemon.hpp"
#include "actors/remote/cached_rows.hpp"
#include "actors/remote/calls/call_window.hpp"
#include "actors/remote/calls/gather_call.hpp"
#include "actors/remote/calls/prove_call.hpp"
#include "actors/remote/interfaces.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// A job with whom to answer.
struct promised_gather : remote_gather {
  promised_gather(std::shared_ptr<const void> owner,
                  caf::typed_response_promise<gather_answer> to)
    : remote_gather(std::move(owner)), promise(std::move(to)) {}

  void give_up(const error& reason) {
    if (!std::exchange(over, true))
      promise.deliver(to_caf(reason));
  }
  void finish() {
    over = true;
    promise.deliver(gather_answer{bytes});
  }

  caf::typed_response_promise<gather_answer> promise;
  cache_misses misses; ///< What `wanted` points into, with a cache.
  std::uint64_t batch = 0;
};

template <class Call>
promised_gather& job_of(const Call& call) {
  return static_cast<promised_gather&>(*call.of);
}

/// Set in the tickets of requests for proofs.
constexpr std::uint64_t proof_ticket = std::uint64_t{1} << 63;

/// What a missing proof means: the dispatcher shall not begin the batch anew,
/// in which an owner could have a try with other values.
error unproved(const error& reason) {
  const auto later = reason.code == ec::unavailable
                     || reason.code == ec::timeout
                     || reason.code == ec::crashed;
  return {later ? ec::invalid_data : reason.code,
          "it cannot prove the values that it has sent: " + reason.message};
}

/// Items about the same ids become one query, so that ids travel once.
std::vector<remote_values> group(const std::vector<gather_item>& items) {
  std::vector<remote_values> out;
  for (const auto& item : items) {
    if (item.ids.empty())
      continue;
    auto same = std::find_if(
      out.begin(), out.end(), [&item](const remote_values& values) {
        return values.type == item.type && values.ids.data() == item.ids.data()
               && values.ids.size() == item.ids.size()
               && values.excluded.data() == item.excluded.data()
               && values.level == item.level && !values.of_edges
               && item.kind != gather_kind::edge_features
               && values.targets.size() < max_kinds;
      });
    if (same == out.end())
      same = out.insert(out.end(), {item.type,
                                    item.ids,
                                    {},
                                    item.excluded,
                                    item.level,
                                    item.kind == gather_kind::edge_features,
                                    item.edges});
    same->targets.push_back({item.kind, item.rows, item.out});
  }
  return out;
}

class feature_proxy {
public:
  using interface = feature_service_actor::extend<
    // The TRANSPORT has an answer.
    takes<remote_reply>>;
  static constexpr const char* name = "feature_proxy";

  feature_proxy(interface::pointer self, remote_feature_config config)
    : self_(self), config_(std::move(config)), window_(config_.window),
      proofs_(config_.window) {
    self_->set_exit_handler([this](const caf::exit_msg& exit) {
      const auto reason =
        fail(ec::cancelled, "the proxy of a feature service is shutting down");
      for (const auto& call : window_.take_all())
        job_of(call).give_up(reason);
      for (const auto& call : proofs_.take_all())
        job_of(call).give_up(reason);
      self_->quit(exit.reason);
    });
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const gather_job& job) { return begin(job); },
      [this](const remote_reply& reply) { on_reply(reply); },
    };
  }

private:
  const dataset_info& info() const { return config_.to.graph->info(); }
  remote_counters& counters() { return *config_.to.counters; }

  caf::result<gather_answer> begin(const gather_job& job) {
    auto promise = self_->make_response_promise<gather_answer>();
    auto work = std::make_shared<promised_gather>(job.owner, promise);
    work->batch = job.batch;
    const auto& items = ask_cache(job, *work);
    count_rows(items);
    work->wanted = group(items);
    auto calls = cut_calls(info(), work, config_.reply_bytes, config_.half);
    work->missing = calls.size();
    if (calls.empty())
      work->finish();
    for (auto& call : calls)
      window_.push(std::move(call));
    pump();
    return promise;
  }

  /// What remains to be asked for.
  const std::vector<gather_item>& ask_cache(const gather_job& job,
                                            promised_gather& work) {
    if (config_.cache == nullptr || !config_.cache->is_open())
      return job.items;
    work.misses = take_from(*config_.cache, info(), job, config_.half);
    work.bytes = work.misses.bytes;
    counters().cached_rows += work.misses.hits;
    counters().cached_bytes += work.misses.spared;
    return work.misses.items;
  }

  void count_rows(const std::vector<gather_item>& items) {
    if (config_.census == nullptr)
      return;
    for (const auto& item : items)
      if (item.kind == gather_kind::features)
        config_.census->add(
          item.type, item.ids,
          kept_row_bytes(info().node_types[static_cast<std::size_t>(item.type)],
                         config_.half));
  }

  void pump() {
    std::uint64_t ids = 0;
    counters().merged += window_.pump(
      [this, &ids](const gather_call& call) {
        return call.encoded(config_.to.run, config_.to.part, config_.half, ids);
      },
      [this, &ids](std::uint64_t ticket, payload data) {
        counters().ids_out += ids;
        ask_owner(handle_of<interface>(self_), ticket, config_.to,
                  method::gather, std::move(data));
      },
      [this](const gather_call& call, const error& reason) {
        job_of(call).give_up(config_.to.explain(reason));
      });
    counters().merged += proofs_.pump(
      [this](const prove_call& call) {
        return call.encoded(config_.to.run, config_.to.part);
      },
      [this](std::uint64_t ticket, payload data) {
        ask_owner(handle_of<interface>(self_), ticket | proof_ticket,
                  config_.to, method::prove, std::move(data));
      },
      [this](const prove_call& call, const error& reason) {
        job_of(call).give_up(config_.to.explain(reason));
      });
  }

  void on_reply(const remote_reply& reply) {
    counters().bytes_in += reply.data.byte_size();
    if ((reply.ticket & proof_ticket) != 0)
      take_proofs(reply);
    else
      take_values(reply);
    pump();
  }

  void take_values(const remote_reply& reply) {
    for (const auto& call : window_.take(reply.ticket)) {
      if (!call.wanted())
        continue;
      auto done = take(call, reply);
      if (!done) {
        ++counters().failures;
        job_of(call).give_up(config_.to.explain(done.error(), reply.from));
      } else {
        ask_for_proofs(call, reply.from);
        settle(call);
      }
    }
  }

  /// Before the call is settled, so that the job is not over until they came.
  /// Any owner can prove what another one has sent.
  void ask_for_proofs(const gather_call& call, const std::string& sender) {
    if (config_.audit == nullptr)
      return;
    auto checks = cut_checks(*config_.to.graph, call, *config_.audit,
                             job_of(call).batch, config_.reply_bytes);
    call.of->missing += checks.size();
    for (auto& check : checks) {
      check.sender = sender;
      proofs_.push(std::move(check));
    }
  }

  void take_proofs(const remote_reply& reply) {
    for (const auto& call : proofs_.take(reply.ticket & ~proof_ticket)) {
      if (!call.wanted())
        continue;
      auto fault = proof_fault::proof;
      auto proved = reply.failure
                      ? result<std::uint64_t>{unproved(*reply.failure)}
                      : check_proofs(*config_.to.graph, config_.to.part, call,
                                     config_.half, reply.data, fault);
      if (proved) {
        config_.audit->sound(proved.value(), reply.data.byte_size());
        settle(call);
        continue;
      }
      ++counters().failures;
      const auto& blamed =
        fault == proof_fault::values ? call.sender : reply.from;
      if (!reply.failure)
        config_.audit->caught(blamed);
      job_of(call).give_up(config_.to.explain(proved.error(), blamed));
    }
  }

  template <class Call>
  void settle(const Call& call) {
    if (--call.of->missing == 0)
      job_of(call).finish();
  }

  result<void> take(const gather_call& call, const remote_reply& reply) {
    if (reply.failure)
      return *reply.failure;
    GRAPHMILL_TRY(const auto in,
                  scatter(info(), call, config_.half, reply.data));
    counters().rows += in.rows;
    counters().rows_in += in.features;
    counters().values_in += in.values;
    return ok();
  }

  interface::pointer self_;
  remote_feature_config config_;
  call_window<gather_call> window_;
  call_window<prove_call> proofs_;
};

} // namespace

feature_service_actor
spawn_remote_feature_service(caf::actor_system& system,
                             remote_feature_config config) {
  return spawn_state<feature_proxy>(system, std::move(config));
}

} // namespace graphmill

#include "actors/remote/proxies/sampling_proxy.hpp"

#include "actors/remote/ask_daemon.hpp"
#include "actors/remote/calls/call_window.hpp"
#include "actors/remote/interfaces.hpp"

#include <map>
#include <utility>

namespace graphmill {

namespace {

/// A job with whom to answer.
struct promised_sampling : remote_sampling {
  promised_sampling(const neighbour_job& job, std::size_t named_nodes,
                    caf::typed_response_promise<neighbour_answer> to)
    : remote_sampling(job.request, job.owner, named_nodes),
      promise(std::move(to)) {}

  void give_up(const error& reason) {
    if (!std::exchange(over, true))
      promise.deliver(to_caf(reason));
  }

  void finish() {
    over = true;
    promise.deliver(
      neighbour_answer{std::make_shared<neighbour_reply>(take())});
  }

  caf::typed_response_promise<neighbour_answer> promise;
};

void give_up(const sampling_call& call, const error& reason) {
  for (const auto& piece : call.pieces)
    static_cast<promised_sampling&>(*piece.of).give_up(reason);
}

class sampling_proxy {
public:
  using interface = sampling_service_actor::extend<
    // The TRANSPORT has an answer.
    takes<remote_reply>,
    // INTERNAL: jobs have waited long enough for others of their hop.
    takes<send_hop>>;
  static constexpr const char* name = "sampling_proxy";

  sampling_proxy(interface::pointer self, remote_sampling_config config)
    : self_(self), config_(std::move(config)), window_(config_.window) {
    self_->set_exit_handler([this](const caf::exit_msg& exit) {
      fail_all(fail(ec::cancelled, "the proxy of a sampling service is "
                                   "shutting down"));
      self_->quit(exit.reason);
    });
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const neighbour_job& job) { return begin(job); },
      [this](const remote_reply& reply) { on_reply(reply); },
      [this](const send_hop& due) { send_jobs(due); },
    };
  }

private:
  using hop_key = std::pair<std::uint64_t, std::int32_t>;

  const dataset_info& info() const { return config_.to.graph->info(); }
  remote_counters& counters() { return *config_.to.counters; }

  caf::result<neighbour_answer> begin(const neighbour_job& job) {
    auto promise = self_->make_response_promise<neighbour_answer>();
    auto work =
      std::make_shared<promised_sampling>(job, config_.named_nodes, promise);
    if (job.request.destinations.empty()) {
      work->finish();
      return promise;
    }
    auto& together = hops_[{job.request.key, job.request.hop}];
    together.push_back(std::move(work));
    if (together.size() == 1)
      post_later(handle_of<interface>(self_), config_.gather_time,
                 send_hop{job.request.key, job.request.hop});
    return promise;
  }

  void send_jobs(const send_hop& due) {
    auto jobs = hops_.extract({due.key, due.hop});
    if (jobs.empty())
      return;
    for (auto& call : cut_calls(info(), jobs.mapped(), config_.reply_bytes))
      window_.push(std::move(call));
    pump();
  }

  void pump() {
    std::uint64_t ids = 0;
    counters().merged += window_.pump(
      [this, &ids](const sampling_call& call) {
        return call.encoded(config_.to.run, config_.to.part, ids);
      },
      [this, &ids](std::uint64_t ticket, payload data) {
        counters().ids_out += ids;
        ask_owner(handle_of<interface>(self_), ticket, config_.to,
                  method::sample, std::move(data));
      },
      [this](const sampling_call& call, const error& reason) {
        give_up(call, config_.to.explain(reason));
      });
  }

  void on_reply(const remote_reply& reply) {
    counters().bytes_in += reply.data.byte_size();
    for (const auto& call : window_.take(reply.ticket))
      if (auto done = take(call, reply); !done) {
        ++counters().failures;
        give_up(call, config_.to.explain(done.error(), reply.from));
      }
    pump();
  }

  result<void> take(const sampling_call& call, const remote_reply& reply) {
    if (reply.failure)
      return *reply.failure;
    GRAPHMILL_TRY(const auto answer, decode_sample_reply(reply.data));
    if (answer.too_large)
      return ask_in_pieces(call);
    if (answer.answers.size() != call.pieces.size())
      return fail(ec::invalid_data, "{} queries were answered by {} answers",
                  call.pieces.size(), answer.answers.size());
    for (std::size_t i = 0; i < call.pieces.size(); ++i)
      GRAPHMILL_TRYV(take_piece(call.pieces[i], answer.answers[i], reply.data));
    return ok();
  }

  result<void> take_piece(const sampling_piece& piece,
                          const neighbour_arrays& arrays, const payload& data) {
    auto& job = static_cast<promised_sampling&>(*piece.of);
    if (job.over)
      return ok();
    GRAPHMILL_TRY(auto next,
                  accept_piece(info(), piece, arrays, data, config_.to.pool));
    if (next) {
      ++counters().split;
      window_.push_first({{std::move(*next)}});
    }
    counters().sampled_sources += arrays.sources.count;
    counters().sources_in +=
      arrays.counts.byte_size() + arrays.sources.byte_size();
    counters().edge_ids_in +=
      arrays.edge_ids.byte_size() + arrays.weights.byte_size()
      + arrays.places.byte_size() + arrays.ages.byte_size();
    if (job.complete())
      job.finish();
    return ok();
  }

  result<void> ask_in_pieces(const sampling_call& call) {
    auto smaller = call.smaller(config_.reply_bytes);
    if (smaller.empty())
      return fail(ec::invalid_data,
                  "the owner says that a slice of the in-edges of one node "
                  "does not fit into a message");
    ++counters().split;
    for (auto at = smaller.rbegin(); at != smaller.rend(); ++at)
      window_.push_first(std::move(*at));
    return ok();
  }

  void fail_all(const error& reason) {
    for (auto& [key, jobs] : hops_)
      for (auto& job : jobs)
        static_cast<promised_sampling&>(*job).give_up(reason);
    hops_.clear();
    for (const auto& call : window_.take_all())
      give_up(call, reason);
  }

  interface::pointer self_;
  remote_sampling_config config_;
  std::map<hop_key, std::vector<std::shared_ptr<remote_sampling>>> hops_;
  call_window<sampling_call> window_;
};

} // namespace

sampling_service_actor
spawn_remote_sampling_service(caf::actor_system& system,
                              remote_sampling_config config) {
  return spawn_state<sampling_proxy>(system, std::move(config));
}

} // namespace graphmill

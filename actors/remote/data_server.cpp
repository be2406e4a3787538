#include "actors/remote/data_server.hpp"

#include "actors/remote/batch_call.hpp"
#include "actors/remote/served.hpp"
#include "actors/remote/spread_call.hpp"

#include <map>
#include <new>
#include <utility>

namespace graphmill {

namespace {

using answer_function = std::function<void(result<payload>)>;

class data_server {
public:
  using interface = data_server_actor;
  static constexpr const char* name = "data_server";

  data_server(interface::pointer self, std::string daemon)
    : self_(self), daemon_(std::move(daemon)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const data_request& request) { serve(request); },
      [this](const serve_part& part) {
        parts_.insert_or_assign({part.run, part.part->part()}, part);
      },
      [this](const serve_batches& batches) {
        batches_.insert_or_assign(batches.run, batches);
      },
      [this](const withdraw_run& over) {
        batches_.erase(over.run);
        std::erase_if(parts_, [&over](const auto& entry) {
          return entry.first.first == over.run;
        });
      },
    };
  }

private:
  using clock = std::chrono::steady_clock;
  using part_key = std::pair<std::string, part_id>;

  void serve(const data_request& request) {
    try {
      if (auto begun = begin(request); !begun)
        request.reply(std::move(begun).error());
    } catch (const std::bad_alloc&) {
      request.reply(fail(ec::out_of_memory,
                         "no memory to answer a request of "
                         "{} bytes",
                         request.data.byte_size()));
    }
  }

  result<void> begin(const data_request& request) {
    switch (request.method) {
    case method::sample:
      return sample(request);
    case method::gather:
      return gather(request);
    case method::sample_batch:
      return sample_batch(request);
    case method::spread:
      return spread(request);
    default:
      return fail(ec::invalid_argument, "\"{}\" is not a request for data",
                  to_string(request.method));
    }
  }

  result<const serve_part*> find(const std::string& run, part_id part) const {
    auto it = parts_.find({run, part});
    if (it == parts_.end())
      return fail(ec::unavailable,
                  "daemon \"{}\" does not serve part {} of run \"{}\"", daemon_,
                  part, run);
    return &it->second;
  }

  static result<std::chrono::milliseconds>
  time_left(const data_request& request) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      request.deadline - clock::now());
    if (left.count() <= 0)
      return fail(ec::timeout, "the request came too late to be answered");
    return left;
  }

  result<void> sample(const data_request& request) {
    TRY(const auto time, time_left(request));
    TRY(auto asked, decode_sample_request(request.data));
    TRY(const auto* place, find(asked.run, asked.part));
    auto too_large = false;
    TRY(auto work, read_sample(*place->part, std::move(asked), request.data,
                               place->pool, too_large));
    if (too_large) {
      request.reply(too_large_answer());
      return ok();
    }
    if (work->missing == 0)
      finish(*place->part, *work, request.reply);
    auto jobs = jobs_of(work);
    for (std::size_t i = 0; i < jobs.size(); ++i)
      ask(self_, place->sampling, time, std::move(jobs[i]))
        .then(
          [this, work, i, part = place->part,
           reply = request.reply](const neighbour_answer& answer) {
            work->answers[i] = answer.reply;
            if (--work->missing == 0 && !work->over)
              finish(*part, *work, reply);
          },
          [work, reply = request.reply](const caf::error& why) {
            if (!std::exchange(work->over, true))
              reply(told(why, "the sampling service"));
          });
    return ok();
  }

  result<void> gather(const data_request& request) {
    TRY(const auto time, time_left(request));
    TRY(auto asked, decode_gather_request(request.data));
    TRY(const auto* place, find(asked.run, asked.part));
    TRY(auto work,
        read_gather(*place->part, std::move(asked), request.data, place->pool));
    ask(self_, place->features, time, job_of(work))
      .then(
        [work, part = place->part, pool = place->pool,
         reply = request.reply](const gather_answer&) {
          reply(encoded([&] { return encode(*part, work, pool); }));
        },
        [reply = request.reply](const caf::error& why) {
          reply(told(why, "the feature service"));
        });
    return ok();
  }

  /// Done here, as no batch waits: a run asks for this before it begins.
  result<void> spread(const data_request& request) {
    TRYV(time_left(request));
    TRY(const auto asked, decode_spread_query(request.data));
    TRY(const auto* place, find(asked.run, asked.part));
    request.reply(encoded(
      [&] { return answer_spread(*place->part, asked, request.data); }));
    return ok();
  }

  result<void> sample_batch(const data_request& request) {
    TRY(const auto time, time_left(request));
    TRY(const auto asked, decode_batch_request(request.data));
    const auto it = batches_.find(asked.run);
    if (it == batches_.end())
      return fail(ec::unavailable,
                  "daemon \"{}\" samples no batches of run \"{}\"", daemon_,
                  asked.run);
    const auto& place = it->second;
    const auto& plan =
      asked.plan == batch_plan::train ? place.train : place.evaluate;
    if (asked.seeds.count > plan.most_seeds)
      return fail(ec::invalid_argument,
                  "a batch of {} seeds is asked for; the definition allows {}",
                  asked.seeds.count, plan.most_seeds);
    auto seeds = std::make_shared<std::vector<node_id>>(asked.seeds.count);
    read_integers(asked.seeds, request.data.bulk, seeds->data());
    sample_job job;
    job.stream = asked.key;
    job.seeds = std::move(seeds);
    job.plan = plan.sampling;
    ask(self_, place.sampler, time, std::move(job))
      .then(
        [graph = place.graph, reply = request.reply](const sample_answer& got) {
          reply(
            encoded([&] { return batch_answer(graph->info(), got.graph); }));
        },
        [reply = request.reply](const caf::error& why) {
          reply(told(why, "the sampler"));
        });
    return ok();
  }

  /// A service that ends is no decision of the asker's: it may ask elsewhere.
  static error told(const caf::error& why, std::string_view who) {
    auto out = from_caf(why, who);
    if (out.code == ec::cancelled)
      out.code = ec::unavailable;
    return out;
  }

  static void finish(const shard& part, const served_sample& work,
                     const answer_function& reply) {
    reply(encoded([&] { return encode(part, work); }));
  }

  template <class Encode>
  static result<payload> encoded(Encode encode) {
    try {
      return encode();
    } catch (const std::bad_alloc&) {
      return fail(ec::out_of_memory, "no memory for an answer");
    }
  }

  interface::pointer self_;
  std::string daemon_;
  std::map<part_key, serve_part> parts_;
  std::map<std::string, serve_batches> batches_; ///< By run.
};

} // namespace

data_server_actor spawn_data_server(caf::actor_system& system,
                                    std::string daemon) {
  return spawn_state<data_server>(system, std::move(daemon));
}

} // namespace graphmill

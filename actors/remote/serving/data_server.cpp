#include "actors/remote/serving/data_server.hpp"

#include "actors/base/request_watch.hpp"
#include "actors/base/timeouts.hpp"
#include "actors/remote/calls/batch_call.hpp"
#include "actors/remote/calls/prove_call.hpp"
#include "actors/remote/calls/spread_call.hpp"
#include "actors/remote/serving/answer_line.hpp"
#include "actors/remote/serving/pending_requests.hpp"
#include "actors/transport/sockets/complaint_log.hpp"
#include "messages/base/caught.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <utility>

namespace graphmill {

namespace {

using answer_function = std::function<void(result<payload>)>;

/// How often it is said that requests wait.
constexpr std::chrono::seconds full_notice{60};

class data_server {
public:
  using interface = data_server_actor::extend<
    // INTERNAL: bytes have come back.
    takes<tick>>;
  static constexpr const char* name = "data_server";

  data_server(interface::pointer self, data_server_config config)
    : self_(self), config_(std::move(config)), of_parts_(make_budget()),
      of_batches_(make_budget()) {}

  ~data_server() {
    of_parts_.budget->close();
    of_batches_.budget->close();
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const data_request& request) {
        auto& to = line_of(request.method);
        to.queue.push(request.from, {request, std::nullopt});
        serve(to);
      },
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
      [this](const tick&) {
        serve(of_parts_);
        serve(of_batches_);
      },
    };
  }

  /// A handler has thrown, for want of memory most likely. The request that it
  /// was about is dropped, which tells its sender; the daemon need not end.
  bool crashed(const caf::error& reason) {
    quietly([this, &reason] {
      complaints_.add(from_caf(reason, name).message, clock::now());
      post_later(handle_of<interface>(self_), timeouts::ask_again, tick{});
    });
    return true;
  }

private:
  using clock = std::chrono::steady_clock;
  using part_key = std::pair<std::string, part_id>;

  std::shared_ptr<reply_budget> make_budget() {
    return reply_budget::make(
      config_.reply_bytes,
      [me = handle_of<interface>(self_)] { post(me, tick{}); },
      config_.answers);
  }

  answer_line& line_of(method method_id) {
    return method_id == method::sample_batch ? of_batches_ : of_parts_;
  }

  /// Begins what there is room for. Whose turn it is has the next bytes,
  /// however many it needs: others do not overtake it, unless what it has not
  /// taken yet is in its way.
  void serve(answer_line& of) {
    for (std::size_t passed = 0; passed < of.queue.lines();) {
      if (of.is_full())
        return;
      auto& next = of.queue.front();
      std::shared_ptr<reply_budget::grant> grant;
      auto ready = prepare(next);
      if (ready) {
        const auto& asker = of.queue.turn();
        grant = of.budget->take(asker, next.work->bytes);
        if (!grant) {
          tell_full(of);
          if (!of.budget->has_some(asker))
            return;
          of.queue.pass();
          ++passed;
          continue;
        }
      }
      passed = 0;
      auto [request, work] = of.queue.pop();
      if (!ready)
        request.reply(std::move(ready).error());
      else
        begin(request, *work, std::move(grant));
    }
  }

  result<void> prepare(waiting_request& request) {
    GRAPHMILL_TRYV(time_left(request.request));
    if (request.work)
      return ok();
    try {
      GRAPHMILL_TRY(request.work, read(request.request));
      return ok();
    } catch (const std::bad_alloc&) {
      return fail(ec::out_of_memory,
                  "no memory to answer a request of {} bytes",
                  request.request.data.byte_size());
    } catch (...) {
      return caught("answer a request for data");
    }
  }

  void begin(const data_request& request, const prepared_answer& work,
             std::shared_ptr<reply_budget::grant> grant) {
    try {
      work.begin(std::move(grant));
    } catch (const std::bad_alloc&) {
      request.reply(fail(ec::out_of_memory, "no memory for an answer"));
    } catch (...) {
      request.reply(caught("answer a request for data"));
    }
  }

  void tell_full(const answer_line& of) {
    const auto now = clock::now();
    if (!config_.log || now - told_full_ < full_notice)
      return;
    told_full_ = now;
    config_.log->warn(
      "answers to other daemons take {} of {} allowed bytes: {} for their turn",
      of.budget->used(), config_.reply_bytes,
      of.queue.size() == 1 ? std::string{"a request waits"}
                           : fmt::format("{} requests wait", of.queue.size()));
  }

  result<prepared_answer> read(const data_request& request) {
    switch (request.method) {
    case method::sample:
      return sample(request);
    case method::gather:
      return gather(request);
    case method::sample_batch:
      return sample_batch(request);
    case method::spread:
      return spread(request);
    case method::prove:
      return prove(request);
    default:
      return fail(ec::invalid_argument, "\"{}\" is not a request for data",
                  to_string(request.method));
    }
  }

  result<const serve_part*> find(const std::string& run, part_id part) const {
    auto it = parts_.find({run, part});
    if (it == parts_.end())
      return fail(ec::unavailable,
                  "daemon \"{}\" does not serve part {} of run \"{}\"",
                  config_.daemon, part, run);
    return &it->second;
  }

  static result<std::chrono::milliseconds>
  time_left(const data_request& request) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      request.deadline - clock::now());
    if (left.count() <= 0)
      return fail(ec::timeout, "the deadline of the request has passed");
    return left;
  }

  result<prepared_answer> sample(const data_request& request) {
    GRAPHMILL_TRY(auto asked, decode_sample_request(request.data));
    GRAPHMILL_TRY(const auto* found, find(asked.run, asked.part));
    const auto& place = *found;
    GRAPHMILL_TRY(auto work,
                  read_sample(*place.part, std::move(asked), request.data,
                              place.pool, config_.message_bytes));
    if (work->bytes > config_.message_bytes)
      return prepared_answer{
        0, [reply = request.reply](const auto&) { reply(too_large_answer()); }};
    const auto bytes = cost_of(*work);
    return prepared_answer{
      bytes, [this, work, place, deadline = request.deadline,
              reply = request.reply](auto grant) {
        ask_for(work, place, deadline,
                answer_with(of_parts_, reply, std::move(grant)));
      }};
  }

  void ask_for(const std::shared_ptr<pending_sample>& work,
               const serve_part& place, clock::time_point deadline,
               const answer_function& reply) {
    if (work->missing == 0)
      return finish(*place.part, *work, reply);
    // Rare, and not much more than copying it: done here.
    if (work->request.queries.front().most != 0)
      return reply(
        encoded([&] { return answer_slice(*place.part, *work, place.pool); }));
    auto jobs = jobs_of(work);
    for (auto& job : jobs)
      job.until = deadline;
    for (std::size_t i = 0; i < jobs.size(); ++i)
      requests_
        .ask(self_, place.sampling, patience(deadline), std::move(jobs[i]))
        .then(
          [work, i, part = place.part, reply](const neighbour_answer& answer) {
            work->answers[i] = answer.reply;
            if (--work->missing == 0 && !work->over)
              finish(*part, *work, reply);
          },
          [work, reply](const caf::error& reason) {
            if (!std::exchange(work->over, true))
              reply(told(reason, "the sampling service"));
          });
  }

  result<prepared_answer> gather(const data_request& request) {
    GRAPHMILL_TRY(auto asked, decode_gather_request(request.data));
    GRAPHMILL_TRY(const auto* found, find(asked.run, asked.part));
    const auto& place = *found;
    GRAPHMILL_TRY(auto work, read_gather(*place.part, std::move(asked),
                                         request.data, place.pool));
    const auto bytes = cost_of(*work);
    return prepared_answer{
      bytes, [this, work, place, deadline = request.deadline,
              reply = request.reply](auto grant) {
        const auto answer = answer_with(of_parts_, reply, std::move(grant));
        auto job = job_of(*place.part, work, place.pool);
        job.until = deadline;
        requests_.ask(self_, place.features, patience(deadline), std::move(job))
          .then(
            [work, place, answer](const gather_answer&) {
              answer(
                encoded([&] { return encode(*place.part, work, place.pool); }));
            },
            [answer](const caf::error& reason) {
              answer(told(reason, "the feature service"));
            });
      }};
  }

  /// Done here, as no batch waits: a run asks for this before it begins.
  result<prepared_answer> spread(const data_request& request) {
    GRAPHMILL_TRY(const auto asked, decode_spread_request(request.data));
    GRAPHMILL_TRY(const auto* place, find(asked.run, asked.part));
    return made_here(request, most_spread_bytes,
                     [asked, part = place->part, data = request.data] {
                       return answer_spread(*part, asked, data);
                     });
  }

  /// Done here, too: a few blocks, which the kernel fetches side by side.
  result<prepared_answer> prove(const data_request& request) {
    GRAPHMILL_TRY(const auto asked, decode_prove_request(request.data));
    GRAPHMILL_TRY(const auto* place, find(asked.run, asked.part));
    GRAPHMILL_TRY(auto wanted, read_prove(*place->part, asked, request.data));
    return made_here(request, 2 * wanted.bytes, [wanted, part = place->part] {
      return answer_prove(*part, wanted);
    });
  }

  template <class Answer>
  prepared_answer made_here(const data_request& request, std::uint64_t bytes,
                            Answer answer) {
    return {bytes, [this, answer, reply = request.reply](auto grant) {
              answer_with(of_parts_, reply, std::move(grant))(encoded(answer));
            }};
  }

  result<prepared_answer> sample_batch(const data_request& request) {
    GRAPHMILL_TRY(const auto asked, decode_batch_request(request.data));
    const auto it = batches_.find(asked.run);
    if (it == batches_.end())
      return fail(ec::unavailable,
                  "daemon \"{}\" samples no batches of run \"{}\"",
                  config_.daemon, asked.run);
    const auto& place = it->second;
    const auto& kind =
      asked.kind == batch_kind::train ? place.train : place.evaluate;
    GRAPHMILL_TRY(auto seeds, read_batch_seeds(place.graph->info(), asked,
                                               request.data, kind.most_seeds));
    sample_job job{asked.batch.value_or(batch_key{}), asked.key};
    job.seeds = std::make_shared<const batch_seeds>(std::move(seeds));
    job.scheme = kind.sampling;
    job.until = request.deadline;
    // What is larger is not answered; few are sampled at a time.
    return prepared_answer{
      config_.message_bytes,
      [this, job, graph = place.graph, sampler = place.sampler,
       deadline = request.deadline, reply = request.reply](auto grant) {
        const auto answer = answer_with(of_batches_, reply, std::move(grant));
        requests_.ask(self_, sampler, patience(deadline), job)
          .then(
            [graph, answer](const sample_answer& got) {
              answer(encoded(
                [&] { return batch_answer(graph->info(), got.graph); }));
            },
            [answer](const caf::error& reason) {
              answer(told(reason, "the sampler"));
            });
      }};
  }

  /// Passes an answer on, which keeps no more of the share than it takes.
  answer_function answer_with(answer_line& of, const answer_function& reply,
                              std::shared_ptr<reply_budget::grant> grant) {
    return [this, &of, reply, grant = std::move(grant),
            begun = of.count_begun()](result<payload> answer) {
      if (answer) {
        grant->shrink(answer.value().byte_size());
        reply(keep_grant(std::move(answer).value(), grant));
      } else {
        reply(std::move(answer));
      }
      if (!of.queue.empty())
        post(handle_of<interface>(self_), tick{});
    };
  }

  static std::chrono::milliseconds patience(clock::time_point deadline) {
    return std::max(
      std::chrono::milliseconds{1},
      std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()));
  }

  /// A service that ends is no decision of the asker's: it may ask elsewhere.
  static error told(const caf::error& reason, std::string_view asked) {
    auto out = from_caf(reason, asked);
    if (out.code == ec::cancelled)
      out.code = ec::unavailable;
    return out;
  }

  static void finish(const shard& part, const pending_sample& work,
                     const answer_function& reply) {
    reply(is_too_large(work) ? too_large_answer()
                             : encoded([&] { return encode(part, work); }));
  }

  interface::pointer self_;
  data_server_config config_;
  answer_line of_parts_;
  /// Batches wait for what parts elsewhere answer. In the way of such answers
  /// here, two daemons that sample for others would wait for each other.
  answer_line of_batches_;
  clock::time_point told_full_{};
  complaint_log complaints_{[log = config_.log](const std::string& line) {
    if (log)
      log->error("{}", line);
  }};
  request_watch requests_;
  std::map<part_key, serve_part> parts_;
  std::map<std::string, serve_batches> batches_; ///< By run.
};

} // namespace

data_server_actor spawn_data_server(caf::actor_system& system,
                                    data_server_config config) {
  return spawn_state<data_server>(system, std::move(config));
}

} // namespace graphmill

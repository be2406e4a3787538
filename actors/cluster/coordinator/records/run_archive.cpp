#include "actors/cluster/coordinator/records/run_archive.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/outside/coordinator_limits.hpp"
#include "actors/cluster/history/state_lock.hpp"
#include "pipelines/figures/status_json.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

constexpr auto history_lane = cluster_port::lane::history;

/// Bytes of the runs of one answer, which must fit in a frame.
constexpr std::size_t most_listed_bytes = max_frame_bytes / 2;

/// What of a page fits in an answer.
runs_reply fitting_page(run_history::page page) {
  runs_reply out;
  out.more = page.more;
  std::size_t bytes = 0;
  for (auto& run : page.runs) {
    run.summary = brief_summary(run.summary);
    bytes += run.summary.size() + run.message.size() + run.id.size()
             + run.name.size() + sizeof run;
    if (bytes > most_listed_bytes && !out.runs.empty()) {
      out.more = true;
      break;
    }
    out.runs.push_back(std::move(run));
  }
  return out;
}

} // namespace

run_record fitting(run_record run) {
  if (run.summary.size() > most_listed_bytes)
    run.summary = brief_summary(run.summary);
  return run;
}

run_archive::run_archive(cluster_port& port, cluster_notices& notices,
                         lead_guard& lead, std::shared_ptr<run_history> history,
                         std::shared_ptr<const state_lock> lock, hooks tell)
  : port_(port), notices_(notices), lead_(lead), history_(std::move(history)),
    lock_(std::move(lock)), tell_(std::move(tell)) {
  // nop
}

// -- questions

void run_archive::ask_history(const responder& reply, question asked) {
  if (port_.waiting(history_lane) >= coordinator_limits::history_questions) {
    reply.reply(fail(ec::unavailable,
                     "{} questions about runs wait at the coordinator already: "
                     "ask again",
                     coordinator_limits::history_questions));
    return;
  }
  port_.post(
    history_lane,
    [history = history_, reply, asked = std::move(asked)] {
      reply.reply(asked(*history));
    },
    [reply](const error& reason) { reply.reply(reason); });
}

void run_archive::ask(const std::string& id, const responder& reply,
                      run_question asked) {
  if (const auto* run = records_.find(id)) {
    reply.reply(asked(*run));
    return;
  }
  ask_history(
    reply,
    [id, asked = std::move(asked)](run_history& history) -> result<payload> {
      GRAPHMILL_TRY(auto old, history.get(id));
      if (old)
        return asked(std::move(old->record));
      return fail(ec::not_found,
                  "there is no run \"{}\" here; `graphmill runs` lists them",
                  id);
    });
}

void run_archive::list(const payload& request, const responder& reply) {
  auto decoded = decode_runs_request(request);
  if (!decoded) {
    reply.reply(decoded.error());
  } else if (!decoded.value().run.empty()) {
    ask(decoded.value().run, reply, [](run_record run) -> result<payload> {
      return encode(runs_reply{{fitting(std::move(run))}, false});
    });
  } else {
    ask_history(
      reply,
      [wanted = std::move(decoded).value(),
       known = records_](run_history& history) -> result<payload> {
        GRAPHMILL_TRY(
          auto page,
          history.list(std::min(wanted.limit, coordinator_limits::listed_runs),
                       wanted.before));
        known.correct(page.runs);
        return encode(fitting_page(std::move(page)));
      });
  }
}

// -- changes

void run_archive::note(const run_record& record,
                       std::optional<run_standing> standing) {
  if (is_over(record.state)) // Which it is noted to be once.
    ++over_[static_cast<std::size_t>(record.state)
            - static_cast<std::size_t>(run_state::finished)];
  records_.set(record, std::move(standing));
  notices_.run(record);
  tell_.changed();
  write();
}

void run_archive::look(clock::time_point now) {
  if (now >= write_at_)
    write();
}

void run_archive::write() {
  if (lead_.is_superseded())
    return;
  auto changes = records_.take_unwritten();
  if (changes.empty())
    return;
  port_.work<void>(
    history_lane,
    [history = history_, lock = lock_,
     changes = std::move(changes)]() -> result<void> {
      GRAPHMILL_TRYV(lock->check());
      GRAPHMILL_TRYV(history->put(changes));
      return ok();
    },
    [this](const result<void>& written) { take(written); });
}

void run_archive::take(const result<void>& written) {
  if (!written && lead_.gives_way(written.error()))
    return;
  const auto news =
    records_.written(written ? std::nullopt : std::optional{written.error()});
  if (written) {
    if (news)
      notices_.log().info("the run history is written again");
    write(); // What has come meanwhile.
  } else {
    write_at_ = clock::now() + timeouts::write_again;
    if (news) {
      notices_.log().error("{}; what becomes of runs is kept in memory until "
                           "it can be written",
                           written.error().message);
      notices_.event(event_kind::warning, {}, written.error().message);
    }
  }
  tell_.written(written.has_value());
}

} // namespace graphmill

#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "actors/cluster/coordinator/members/coordinator_limits.hpp"
#include "actors/http/api/status_json.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace graphmill {

namespace {

/// Bytes of the runs of one answer, which must fit in a frame.
constexpr std::size_t most_listed_bytes = max_frame_bytes / 2;

/// A record that fits in an answer, whatever the run was on.
run_record fitting(run_record run) {
  if (run.summary.size() > most_listed_bytes)
    run.summary = brief_summary(run.summary);
  return run;
}

/// What of a page fits in an answer.
runs_reply fitting(run_history::page page) {
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

/// The history answers from a thread of its own: the disk may be slow.
void coordinator::ask_history(const responder& reply, question asked) {
  if (history_thread_.waiting() >= coordinator_limits::history_questions) {
    reply.reply(fail(ec::unavailable,
                     "{} questions about runs wait at the coordinator already: "
                     "ask again",
                     coordinator_limits::history_questions));
    return;
  }
  history_thread_.post(
    [history = config_.history, reply, asked = std::move(asked)] {
      reply.reply(asked(*history));
    },
    [reply](const error& reason) { reply.reply(reason); });
}

/// Answers a question about one run, wherever what is known of it stands.
void coordinator::ask_run(const std::string& id, const responder& reply,
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

void coordinator::runs(const payload& data, const responder& reply) {
  auto request = decode_runs_request(data);
  if (!request) {
    reply.reply(request.error());
  } else if (!request.value().run.empty()) {
    ask_run(request.value().run, reply, [](run_record run) -> result<payload> {
      return encode(runs_reply{{fitting(std::move(run))}, false});
    });
  } else {
    ask_history(
      reply,
      [wanted = std::move(request).value(),
       known = records_](run_history& history) -> result<payload> {
        GRAPHMILL_TRY(
          auto page,
          history.list(std::min(wanted.limit, coordinator_limits::listed_runs),
                       wanted.before));
        known.correct(page.runs);
        return encode(fitting(std::move(page)));
      });
  }
}

// -- what is written

void coordinator::note(const run_record& record) {
  if (is_over(record.state)) // Which it is noted to be once.
    ++over_[static_cast<std::size_t>(record.state)
            - static_cast<std::size_t>(run_state::finished)];
  records_.set(record);
  tell_of(record);
  answer_watchers(clock::now());
  write_records();
}

/// The same of a run that is not over, with what it takes to go on with it.
void coordinator::note_standing(const submitted_run& run,
                                std::vector<std::string> daemons) {
  records_.set(run.record, standing_of(run, std::move(daemons)));
  tell_of(run.record);
  answer_watchers(clock::now());
  write_records();
}

void coordinator::write_records() {
  if (superseded_)
    return;
  auto changes = records_.take_unwritten();
  if (!changes.empty())
    history_thread_.post(
      [me = handle_of<interface>(self_), history = config_.history,
       lock = config_.lock, changes = std::move(changes)] {
        records_written done;
        if (auto held = lock->check(); !held)
          done.failure = held.error();
        else if (auto kept = history->put(changes); !kept)
          done.failure = kept.error();
        post(me, std::move(done));
      },
      [me = handle_of<interface>(self_)](const error& reason) {
        post(me, records_written{reason});
      });
}

void coordinator::on_written(const records_written& done) {
  if (done.failure && gives_way(*done.failure))
    return;
  const auto news = records_.written(done.failure);
  if (done.failure) {
    write_at_ = clock::now() + timeouts::write_again;
    if (news)
      config_.log->error("{}; what becomes of runs is kept in memory until it "
                         "can be written",
                         done.failure->message);
    if (news)
      tell(event_kind::warning, {}, done.failure->message);
  } else {
    if (news)
      config_.log->info("the run history is written again");
    write_records(); // What has come meanwhile.
    begin_if_written();
  }
  start_next();
  end_if_done();
}

// -- watchers and files

void coordinator::watch(const payload& data, const responder& reply) {
  auto request = decode_watch_request(data);
  if (!request) {
    reply.reply(request.error());
    return;
  }
  const auto now = clock::now();
  auto& wanted = request.value();
  if (records_.find(wanted.run) == nullptr) { // Then it is over.
    ask_run(wanted.run, reply,
            [seen = board_.since(wanted.run, wanted.cursor)](
              run_record run) -> result<payload> {
              return encode(
                watch_reply{seen.first, seen.second, fitting(std::move(run))});
            });
    return;
  }
  if (watchers_.size() >= coordinator_limits::watchers) {
    reply.reply(fail(ec::unavailable,
                     "{} watch runs of this cluster already: try again",
                     coordinator_limits::watchers));
    return;
  }
  const auto wait = std::min(wanted.wait, timeouts::longest_watch);
  waiting_watcher asks{std::move(wanted), reply, now + wait};
  if (!answer(asks, now))
    watchers_.push_back(std::move(asks));
}

/// Answers a watcher, if there is something to tell, or its time is over.
bool coordinator::answer(const waiting_watcher& waiting,
                         clock::time_point now) const {
  // There is one: watchers are answered before it goes to the history.
  const auto* record = records_.find(waiting.request.run);
  watch_reply out;
  std::tie(out.next, out.events) =
    board_.since(waiting.request.run, waiting.request.cursor);
  if (out.events.empty() && !is_over(record->state) && now < waiting.until)
    return false;
  out.record = fitting(*record);
  waiting.reply.reply(encode(out));
  return true;
}

void coordinator::answer_watchers(clock::time_point now) {
  std::erase_if(watchers_, [this, now](const waiting_watcher& waiting) {
    return answer(waiting, now);
  });
}

// -- how the runs that are on are

result<payload> coordinator::take_health(const incoming_request& request) {
  const auto now = clock::now();
  auto taken =
    reports_.take(request.from, request.data, registry_, active_, now);
  if (!taken) {
    // Daemons learn by themselves that they are lost, or that a run is over.
    if (taken.error().code != ec::not_found)
      complaints_.add("refused: " + taken.error().message, now);
    return std::move(taken).error();
  }
  for (auto& trouble : taken.value().troubles)
    tell(event_kind::trouble, request.from.name, std::move(trouble),
         taken.value().run);
  return payload{};
}

/// Of the run that is wanted, or of the one that began first.
result<payload> coordinator::tell_health(const payload& data) const {
  GRAPHMILL_TRY(const auto wanted, decode_health_request(data));
  const auto run = active_.first([&wanted](const active_run& on) {
    return wanted.run.empty() || on.id == wanted.run;
  });
  if (!run)
    return fail(ec::not_found, "{} is not on",
                wanted.run.empty() ? "a run" : "run " + wanted.run);
  return encode(run->health.tell(wanted, clock::now()));
}

} // namespace graphmill

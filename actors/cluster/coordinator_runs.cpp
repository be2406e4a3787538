#include "actors/cluster/coordinator_state.hpp"
#include "pipelines/definition_checks.hpp"
#include "pipelines/definition_file.hpp"
#include "pipelines/validation.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <tuple>

namespace graphmill {

using std::chrono::milliseconds;

namespace {

/// Runs that wait; each has files open.
constexpr std::size_t most_queued = 100;
/// Runs of one answer, which must fit in a frame.
constexpr std::uint32_t most_listed = 500;
/// The longest that a watcher may wait for news.
constexpr milliseconds longest_watch{10'000};

} // namespace

unix_time now_unix() {
  return std::chrono::duration_cast<unix_time>(
    std::chrono::system_clock::now().time_since_epoch());
}

result<void> coordinator::check(const definition& def) const {
  if (def.dataset != config_.offer.dataset)
    return fail(ec::invalid_argument,
                "the definition is on dataset \"{}\", but this cluster "
                "serves \"{}\"",
                def.dataset, config_.offer.dataset);
  // What a client has not checked: names become names of folders.
  definition_source source;
  source.value = def;
  check_definition(source);
  if (!source.problems.empty())
    return fail(ec::invalid_argument, "the definition is refused: {}",
                source.problems.front().text);
  if (def.name.empty() || def.name.front() == '.'
      || !std::all_of(def.name.begin(), def.name.end(), is_name_character))
    return fail(ec::invalid_argument,
                "the run's name must be of letters, digits, '.', '_' and "
                "'-', and not begin with '.'");
  return check_against(def, config_.graph->info());
}

result<placement> coordinator::place_now(const definition& def) const {
  const auto offers = members_.offers();
  return place(def, config_.graph->part_count(), offers);
}

result<payload> coordinator::submit(const payload& data) {
  TRY(auto def, decode_definition_body(data));
  TRYV(check(def));
  TRYV(place_now(def));
  if (queue_.size() >= most_queued)
    return fail(ec::unavailable,
                "{} runs are waiting already: submit it again when some of "
                "them are over",
                queue_.size());
  submitted_run run;
  TRY(run.file, run_file::create(config_.runs, def, config_.data,
                                 config_.offer.dataset_digest));
  run.id = run.file->id();
  run.def = std::move(def);
  run.record.id = run.id;
  run.record.name = run.def.name;
  run.record.submitted = now_unix();
  config_.log->info("run {} is queued", run.id);
  note(run.record, definition_yaml(run.def));
  const auto id = run.id;
  queue_.push_back(std::move(run));
  start_next();
  return encode_run_id(id);
}

result<payload> coordinator::plan(const payload& data) const {
  TRY(const auto def, decode_definition_body(data));
  TRYV(check(def));
  TRY(const auto where, place_now(def));
  plan_reply out;
  for (auto owner : where.owner_of_part)
    out.daemon_of_part.push_back(where.daemons[owner].name);
  for (auto daemon : where.daemon_of_rank)
    out.daemon_of_rank.push_back(where.daemons[daemon].name);
  for (auto daemon : where.samplers)
    out.samplers.push_back(where.daemons[daemon].name);
  return encode(out);
}

result<run_record> coordinator::record_of(const std::string& id) const {
  if (const auto it = live_.find(id); it != live_.end())
    return it->second;
  TRY(auto old, config_.history->get(id));
  if (old)
    return std::move(old->record);
  return fail(ec::not_found,
              "there is no run \"{}\" here; `graphmill runs` lists them", id);
}

result<payload> coordinator::runs(const payload& data) const {
  TRY(const auto what, decode_runs_request(data));
  if (what.run.empty()) {
    TRY(auto latest,
        config_.history->latest(std::min(what.limit, most_listed)));
    for (auto& run : latest)
      run.summary = brief(run.summary);
    return encode(latest);
  }
  TRY(auto one, record_of(what.run));
  return encode(std::vector{std::move(one)});
}

std::string coordinator::brief(const std::string& summary) {
  auto json = nlohmann::json::parse(summary, nullptr, false);
  if (!json.is_object())
    return {};
  json.erase("stages");
  json.erase("daemons");
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void coordinator::note(const run_record& record,
                       const std::string& definition) {
  if (is_over(record.state))
    live_.erase(record.id);
  else
    live_[record.id] = record;
  if (auto kept = config_.history->put(record, definition); !kept)
    config_.log->error("run {}: {}", record.id, kept.error().message);
  answer_watchers(clock::now());
}

result<payload> coordinator::cancel(const payload& data) {
  TRY(const auto what, decode_cancel_request(data));
  const auto queued =
    std::find_if(queue_.begin(), queue_.end(),
                 [&what](const auto& run) { return run.id == what.run; });
  if (queued != queue_.end()) {
    auto record = queued->record;
    record.state = run_state::cancelled;
    record.message = "cancelled before it began";
    record.ended = now_unix();
    queue_.erase(queued);
    note(record);
    return payload{};
  }
  if (active_ && active_->id == what.run) {
    active_->cancelled = true;
    if (active_->conductor)
      post_urgent(active_->conductor, cancel_run{what.now});
    return payload{};
  }
  TRY(const auto record, record_of(what.run));
  return fail(ec::invalid_argument, "run {} is {} already", what.run,
              to_string(record.state));
}

// -- watchers and files

void coordinator::watch(const payload& data, const responder& reply) {
  auto what = decode_watch_request(data);
  if (!what) {
    reply.reply(what.error());
    return;
  }
  const auto wait = std::min(what.value().wait, longest_watch);
  watchers_.push_back({std::move(what).value(), reply, clock::now() + wait});
  answer_watchers(clock::now());
}

void coordinator::answer_watchers(clock::time_point now) {
  std::erase_if(watchers_, [this, now](const watcher& one) {
    auto record = record_of(one.what.run);
    if (!record) {
      one.reply.reply(record.error());
      return true;
    }
    watch_reply out;
    std::tie(out.next, out.events) =
      board_.since(one.what.run, one.what.cursor);
    if (out.events.empty() && !is_over(record.value().state) && now < one.until)
      return false;
    out.record = std::move(record).value();
    one.reply.reply(encode(out));
    return true;
  });
}

result<payload> coordinator::file(const std::filesystem::path& runs,
                                  const payload& data) {
  TRY(const auto wanted, decode_file_request(data));
  TRY(const auto piece, read_run_file(runs, wanted));
  return encode(piece);
}

} // namespace graphmill

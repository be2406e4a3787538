#include "actors/http/api/api_pages.hpp"

#include "actors/http/api/api_answer.hpp"
#include "actors/http/api/feed_json.hpp"
#include "actors/http/api/page_files.hpp"
#include "actors/http/api/query_fields.hpp"
#include "actors/process/logs/log_levels.hpp"
#include "messages/base/printable.hpp"
#include "pipelines/figures/figure_tables.hpp"
#include "pipelines/figures/status_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

using board_ptr = std::shared_ptr<const figures_board>;
using feed_ptr = std::shared_ptr<const cluster_feed>;

const std::string runs_path = "/api/runs/"; ///< With the id of a run behind it.

/// Pages of what comes after a number; all of it without one. Whoever opens the
/// web page reads an hour so, and that takes some 35 ms to write: each is
/// written once for as long as the feed stands where it did, however many ask.
/// Used by the server's thread alone.
class pages_since {
public:
  using maker = std::function<nlohmann::json(std::uint64_t since)>;

  pages_since(feed_ptr feed, maker make)
    : feed_(std::move(feed)), make_(std::move(make)) {}

  http_answer answer(const http_request& asked) {
    const auto since = number_in(asked.query, "since");
    if (!since)
      return http_sentence(400, "since= is no whole number");
    const auto now = feed_->now();
    if (now != at_ || made_.size() >= most_kept) {
      made_.clear();
      at_ = now;
    }
    auto& body = made_[*since];
    if (!body)
      body = api_body(make_(*since));
    return api_answer(body);
  }

private:
  /// They have some MiB each at the most.
  static constexpr std::size_t most_kept = 8;

  feed_ptr feed_;
  maker make_;
  cluster_feed::position at_; ///< Where the feed stood for `made_`,
  std::map<std::uint64_t, std::shared_ptr<const std::string>>
    made_; ///< by what was asked for.
};

http_answer status_page(const figures_board& board) {
  const auto now = board.of_cluster();
  if (!now)
    return http_sentence(503, "nothing is known yet");
  return api_answer(status_json(now->address, now->status));
}

/// The pages of runs. That of a run that is on has all actors of the run, and
/// each open web page asks for one every second: it is made once of what was
/// left on the board, however many ask. Used by the server's thread alone.
class run_pages {
public:
  run_pages(board_ptr board, feed_ptr feed)
    : board_(std::move(board)), feed_(std::move(feed)) {}

  /// What the feed says is newer than the figures.
  http_answer make(const std::string& id) {
    const auto record = feed_->run(id);
    if (!record)
      return http_sentence(404, "there is no such run among the latest ones");
    if (record->state != run_state::running)
      return api_answer(run_status_json(*record));
    auto now = board_->of_cluster();
    if (now != figures_) {
      live_.clear();
      figures_ = std::move(now);
    }
    if (!figures_)
      return just_begun();
    const auto run = std::ranges::find_if(
      figures_->runs, [&id](const auto& on) { return on.health.run == id; });
    if (run == figures_->runs.end())
      return just_begun();
    auto& live = live_[id];
    if (!live) {
      auto told = run_status_json(run->health);
      if (run->feeds)
        told["feeds"] = true;
      live = api_body(told);
    }
    return api_answer(live);
  }

private:
  static http_answer just_begun() {
    return http_sentence(503, "the run has just begun: ask again");
  }

  board_ptr board_;
  feed_ptr feed_;
  figures_board::cluster figures_; ///< That `live_` is of.
  std::map<std::string, std::shared_ptr<const std::string>> live_; ///< By run.
};

/// A field of a query as text; empty if there is none.
result<std::string> text_in(std::string_view query, std::string_view name) {
  const auto said = field_in(query, name);
  auto text = decoded(said.value_or(""));
  if (!text)
    return fail(ec::invalid_argument, "{}= has a % without two digits", name);
  return *std::move(text);
}

http_answer actors_page(const cluster_feed& feed, const std::string& query) {
  const auto run = text_in(query, "run");
  const auto daemon = text_in(query, "daemon");
  const auto kind = text_in(query, "kind");
  for (const auto* said : {&run, &daemon, &kind})
    if (!*said)
      return http_sentence(400, said->error().message);
  if (run.value().empty() || daemon.value().empty())
    return http_sentence(400, "it needs run= and daemon=");
  return api_answer(actors_json(feed.actors(run.value()), daemon.value(),
                                kind.value(), most_history_rows));
}

/// What /api/logs is asked for; a sentence if that makes no sense.
result<log_request> log_request_in(std::string_view query) {
  log_request out;
  const auto after = number_in(query, "after");
  if (!after)
    return fail(ec::invalid_argument, "after= is no whole number");
  out.after = *after;
  GRAPHMILL_TRY(out.run, text_in(query, "run"));
  GRAPHMILL_TRY(out.daemon, text_in(query, "daemon"));
  if (const auto level = field_in(query, "level")) {
    GRAPHMILL_TRY(out.level, parse_log_level(*level));
  }
  return out;
}

http_answer log_page(const log_ring& logs, const std::string& query) {
  const auto asked = log_request_in(query);
  if (!asked)
    return http_sentence(400, printable(asked.error().message));
  return api_answer(log_json(logs.since(asked.value())));
}

// -- the stream

using stream_position = cluster_feed::position;

/// "HISTORY-EVENTS"
std::optional<stream_position> stream_position_in(std::string_view id) {
  const auto middle = id.find('-');
  if (middle == std::string_view::npos)
    return std::nullopt;
  const auto history = decimal_in(id.substr(0, middle));
  const auto events = decimal_in(id.substr(middle + 1));
  if (!history || !events)
    return std::nullopt;
  return stream_position{*history, *events};
}

/// Makes the ticks of all streams. Most are at the same place: what one gets
/// was made for another.
class tick_maker {
public:
  tick_maker(board_ptr board, feed_ptr feed)
    : board_(std::move(board)), feed_(std::move(feed)) {}

  /// The tick of a stream that is at `at`, which moves on.
  std::shared_ptr<const std::string> make(stream_position& at) {
    auto figures = board_->of_cluster();
    const auto now = feed_->now();
    if (!text_ || figures != figures_ || now != now_ || at != from_) {
      text_.reset(); // Should memory run out, nothing old is told as new.
      from_ = at;
      figures_ = std::move(figures);
      now_ = now;
      write();
    }
    at = to_;
    return text_;
  }

  stream_position begin(const http_request& asked) const {
    if (const auto lost = stream_position_in(asked.last_event_id))
      return *lost;
    const auto said = field_in(asked.query, "since");
    const auto wanted = said ? stream_position_in(*said) : std::nullopt;
    return wanted ? *wanted : feed_->now();
  }

private:
  void write() {
    const auto history = feed_->history(from_.history, most_history_rows);
    const auto events = feed_->events(from_.events);
    to_ = {history.next, events.next};
    const nlohmann::json data{
      {"status", figures_ ? status_json(figures_->address, figures_->status)
                          : nlohmann::json()},
      {"history", history_json(history)},
      {"events", events_json(events)}};
    text_ = std::make_shared<const std::string>(
      fmt::format("id: {}-{}\nevent: tick\ndata: {}\n\n", to_.history,
                  to_.events, api_text(data)));
  }

  board_ptr board_;
  feed_ptr feed_;
  stream_position from_;           ///< That `text_` goes on from,
  stream_position to_;             ///< to here,
  figures_board::cluster figures_; ///< when these were the latest
  stream_position now_;            ///< and the feed stood here.
  std::shared_ptr<const std::string> text_;
};

/// By which the page chooses a format.
const char* unit_for_page(figure_unit unit) {
  switch (unit) {
  case figure_unit::bytes:
    return "bytes";
  case figure_unit::bytes_per_second:
    return "bytes_per_second";
  case figure_unit::per_second:
    return "per_second";
  case figure_unit::ratio:
    return "ratio";
  case figure_unit::loss:
    return "loss";
  case figure_unit::number:
    return "number";
  default:
    return "count";
  }
}

/// Those in the history. Without a title, the page keeps it and shows no curve.
template <std::size_t Rows, class T>
nlohmann::json figures_for_page(const figure<T> (&table)[Rows]) {
  auto out = nlohmann::json::array();
  for_each_field(table, [&out](const auto& row, std::size_t) {
    out.push_back({{"name", row.field},
                   {"unit", unit_for_page(row.unit)},
                   {"title", row.title},
                   {"help", row.help}});
  });
  return out;
}

/// A module of the page: which figures it shows, and how.
std::string page_figures() {
  auto stages = nlohmann::json::array();
  for (const auto kind : figures::curved_stages)
    stages.push_back(to_string(kind));
  std::string out;
  for (const auto& [name, list] :
       {std::pair{"DAEMON_FIGURES", figures_for_page(figures::load)},
        std::pair{"RUN_FIGURES", figures_for_page(figures::progress)},
        std::pair{"STAGE_FIGURES", figures_for_page(figures::actor)},
        std::pair{"CURVED_STAGES", std::move(stages)}})
    out += fmt::format("export const {} = {};\n", name, list.dump(1));
  return out;
}

} // namespace

void add_api(http_server::options& to, const board_ptr& board,
             const feed_ptr& feed,
             const std::shared_ptr<const log_ring>& logs) {
  to.pages["/api/status"] = [board](const http_request&) {
    return status_page(*board);
  };
  to.pages["/api/runs"] = [feed](const http_request&) {
    return api_answer(run_list_json(feed->runs(most_listed_runs)));
  };
  to.pages[runs_path] = [pages = std::make_shared<run_pages>(board, feed)](
                          const http_request& asked) {
    return pages->make(asked.path.substr(runs_path.size()));
  };
  const auto add_since = [&to, &feed](const char* path,
                                      pages_since::maker make) {
    to.pages[path] =
      [pages = std::make_shared<pages_since>(feed, std::move(make))](
        const http_request& asked) { return pages->answer(asked); };
  };
  add_since("/api/history", [feed](std::uint64_t since) {
    return history_json(feed->history(since, most_history_rows));
  });
  add_since("/api/events", [feed](std::uint64_t since) {
    return events_json(feed->events(since));
  });
  to.pages["/api/actors"] = [feed](const http_request& asked) {
    return actors_page(*feed, asked.query);
  };
  to.pages["/api/logs"] = [logs](const http_request& asked) {
    return log_page(*logs, asked.query);
  };
  to.streams["/api/stream"] =
    [maker = std::make_shared<tick_maker>(board, feed)](
      const http_request& asked) -> http_stream_source {
    return
      [maker, at = maker->begin(asked)]() mutable { return maker->make(at); };
  };
}

void add_web_page(http_server::options& to) {
  const auto add = [&to](std::string_view name, std::string_view type,
                         std::string_view digest, std::string content) {
    http_answer answer;
    answer.type = type;
    answer.etag = fmt::format("\"{}\"", digest);
    answer.body = std::make_shared<const std::string>(std::move(content));
    const http_page page = [answer](const http_request&) { return answer; };
    to.pages[fmt::format("/page/{}", name)] = page;
    if (name == "index.html")
      to.pages["/"] = page;
  };
  for (const auto& file : page_files())
    add(file.name, file.type, file.digest, std::string{file.content});
  auto figures = page_figures();
  const auto digest = std::to_string(std::hash<std::string>{}(figures));
  add("data/figures.js", "text/javascript; charset=utf-8", digest,
      std::move(figures));
}

} // namespace graphmill

#include "pipelines/results/checkpoint_state.hpp"

#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace graphmill {

namespace {

constexpr int state_version = 1;
constexpr std::size_t digest_size = 32;

// What stands around digest and state, to the byte.
constexpr std::string_view before_digest = R"({"digest":")";
constexpr std::string_view before_state = R"(","state":)";
constexpr std::string_view behind_state = "}\n";

/// A long state consists of metrics. A value of these takes at least 13 bytes,
/// as `parse_json` counts values.
constexpr std::size_t bytes_of_value = 12;

/// Values that a state of so many bytes may have: so that its memory is in
/// proportion to its bytes.
constexpr std::size_t most_values_in(std::size_t bytes) {
  return std::min(json_value_limit, bytes / bytes_of_value + 65536);
}

/// Bytes of a state that is written: one with more could not be read.
constexpr std::uint64_t most_written = json_value_limit * bytes_of_value;
static_assert(most_written < largest_checkpoint_state);

std::string digest_of_text(std::string_view text) {
  content_hash hash;
  hash.update(text);
  return hash.digest();
}

/// Names may hold bytes that are no text.
std::string compact_text(const nlohmann::json& content) {
  return content.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// JSON has no number that is none.
nlohmann::json json_of_number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

/// Takes the fields of a state one by one, and remembers the first that is
/// wrong.
class state_fields {
public:
  explicit state_fields(const nlohmann::json& from) : from_(from) {}

  std::int64_t
  count(const char* name, std::int64_t least = 0,
        std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
    const auto value = integer_of(at(name));
    if (!value || *value < least || *value > most)
      return wrong(name), least;
    return *value;
  }

  std::string text(const char* name) {
    const auto& value = at(name);
    return value.is_string() ? value.get<std::string>()
                             : (wrong(name), std::string{});
  }

  /// Null stands for what is no number.
  std::optional<double> number(const char* name) {
    const auto& value = at(name);
    if (value.is_number())
      return value.get<double>();
    if (!value.is_null() || !from_.contains(name))
      wrong(name);
    return std::nullopt;
  }

  const nlohmann::json& at(const char* name) const {
    static const nlohmann::json nothing;
    const auto found = from_.find(name);
    return found == from_.end() ? nothing : *found;
  }

  void wrong(const char* name) {
    if (wrong_.empty())
      wrong_ = name;
  }
  const std::string& first_wrong() const { return wrong_; }

private:
  const nlohmann::json& from_;
  std::string wrong_;
};

/// Lines of metrics.jsonl, as far as anybody looks at them.
bool are_metrics(const nlohmann::json& lines) {
  return lines.is_array()
         && std::all_of(lines.begin(), lines.end(), [](const auto& line) {
              return line.is_object() && line.contains("phase")
                     && line["phase"].is_string() && line.contains("epoch")
                     && integer_of(line["epoch"]);
            });
}

result<checkpoint_state> read_state(nlohmann::json state,
                                    const std::string& name) {
  state_fields in{state};
  checkpoint_state out;
  auto& made = out.content;
  auto& at = made.state.at;
  at.epoch = static_cast<std::int32_t>(in.count("epoch", 0, 9'999'999));
  at.step = in.count("step", 0, 9'999'999'999);
  at.train_steps = in.count("train_steps", at.step);
  at.best_validation = in.number("best_validation");
  at.since_best = static_cast<std::uint32_t>(
    in.count("since_best", 0, std::numeric_limits<std::uint32_t>::max()));
  if (state.contains("average"))
    at.averages = {in.number("average").value_or(0),
                   in.number("best_average").value_or(0)};
  auto& so_far = made.state.so_far;
  so_far.loss_sum =
    in.number("loss_sum").value_or(std::numeric_limits<double>::quiet_NaN());
  so_far.correct = in.count("correct");
  so_far.seeds = in.count("seeds", so_far.correct);
  made.definition = in.text("definition");
  made.dataset_digest = in.text("dataset_digest");
  made.data = in.text("data");
  made.world = static_cast<rank_id>(in.count("world", 1, 65535));
  made.parts = static_cast<part_id>(in.count("parts", 1, 65535));
  if (state.contains("sizes")) {
    if (auto sizes = sizes_in(state["sizes"]))
      made.sizes = std::move(*sizes);
    else
      in.wrong("sizes");
  }
  if (state.contains("learnt")) {
    if (auto learnt = learnt_in(state["learnt"], name);
        learnt && !learnt.value().dataset_digest.empty())
      made.learnt = std::move(learnt).value();
    else
      in.wrong("learnt");
  }
  made.seconds = in.number("seconds").value_or(0);
  out.tensors.bytes = static_cast<std::uint64_t>(in.count("tensor_bytes"));
  out.tensors.digest = in.text("tensor_digest");
  if (are_metrics(in.at("metrics")))
    made.metrics = std::move(state["metrics"]); // The last that is read.
  else
    in.wrong("metrics");
  if (!in.first_wrong().empty())
    return fail(ec::invalid_data,
                "{} is no state of a run: its field {} is missing or makes no "
                "sense",
                name, in.first_wrong());
  return out;
}

/// Calls back with the lines of a file as an array of JSON, piece by piece.
result<void>
each_piece(const metrics_part& lines,
           const std::function<result<void>(std::string_view)>& put) {
  GRAPHMILL_TRYV(put("["));
  content_hash hash;
  std::string buffer(std::size_t{1} << 17, '\0');
  for (std::uint64_t at = 0; at < lines.bytes; at += buffer.size()) {
    buffer.resize(std::min<std::uint64_t>(buffer.size(), lines.bytes - at));
    GRAPHMILL_TRYV(lines.read(buffer, at));
    hash.update(buffer);
    std::ranges::replace(buffer, '\n', ',');
    std::string_view piece{buffer};
    if (at + piece.size() == lines.bytes) // Behind the last line is no comma.
      piece.remove_suffix(1);
    GRAPHMILL_TRYV(put(piece));
  }
  return hash.short_digest() == lines.digest ? put("]") : lines.changed();
}

/// All but the lines of metrics.
std::string short_state(const checkpoint& made, const file_digest& tensors) {
  const auto& at = made.state.at;
  const auto& so_far = made.state.so_far;
  nlohmann::json state{
    {"format_version", state_version},
    {"epoch", at.epoch},
    {"step", at.step},
    {"train_steps", at.train_steps},
    {"best_validation", at.best_validation ? json_of_number(*at.best_validation)
                                           : nlohmann::json()},
    {"since_best", at.since_best},
    {"loss_sum", json_of_number(so_far.loss_sum)},
    {"correct", so_far.correct},
    {"seeds", so_far.seeds},
    {"definition", made.definition},
    {"dataset_digest", made.dataset_digest},
    {"data", made.data.string()},
    {"world", made.world},
    {"parts", made.parts},
    {"seconds", json_of_number(made.seconds)},
    {"tensor_bytes", tensors.bytes},
    {"tensor_digest", tensors.digest},
  };
  if (at.averages != score_averages{}) {
    state["average"] = json_of_number(at.averages.now);
    state["best_average"] = json_of_number(at.averages.best);
  }
  if (!made.sizes.empty())
    state["sizes"] = sizes_json(made.sizes);
  if (made.learnt)
    state["learnt"] = to_json(*made.learnt);
  return compact_text(state);
}

} // namespace

result<void> write_checkpoint_state(int file, const std::filesystem::path& path,
                                    const checkpoint& made,
                                    const file_digest& tensors) {
  const auto write = [&](std::string_view text) {
    return write_all(file, std::as_bytes(std::span{text}), path);
  };
  content_hash hash;
  const auto put = [&](std::string_view text) {
    hash.update(text);
    return write(text);
  };
  auto begin = short_state(made, tensors);
  begin.back() = ',';
  begin += R"("metrics":)";
  const auto lines =
    made.told.file ? std::string{} : compact_text(made.metrics);
  const auto bytes = begin.size() + lines.size() + made.told.bytes;
  if (bytes > most_written)
    return fail(ec::invalid_argument,
                "{} would have {} bytes, nearly all of them lines of "
                "metrics.jsonl, and with more than {} it could not be read: "
                "train fewer epochs, or validate after more of them "
                "(evaluate.every)",
                path.string(), bytes, most_written);
  GRAPHMILL_TRYV(write(before_digest));
  GRAPHMILL_TRYV(write(std::string(digest_size, ' '))); // Known at the end.
  GRAPHMILL_TRYV(write(before_state));
  GRAPHMILL_TRYV(put(begin));
  GRAPHMILL_TRYV(made.told.file ? each_piece(made.told, put) : put(lines));
  GRAPHMILL_TRYV(put("}"));
  GRAPHMILL_TRYV(write(behind_state));
  const auto digest = hash.digest();
  return write_at(file, std::as_bytes(std::span{digest}), before_digest.size(),
                  path);
}

result<checkpoint_state> parse_checkpoint_state(std::string_view text,
                                                const std::string& name) {
  constexpr auto head =
    before_digest.size() + digest_size + before_state.size();
  if (text.size() < head + behind_state.size()
      || !text.starts_with(before_digest)
      || text.substr(before_digest.size() + digest_size, before_state.size())
           != before_state
      || !text.ends_with(behind_state))
    return fail(ec::invalid_data, "{} is damaged, or was cut short", name);
  const auto body = text.substr(head, text.size() - head - behind_state.size());
  if (digest_of_text(body) != text.substr(before_digest.size(), digest_size))
    return fail(ec::invalid_data,
                "{} is damaged: it has not the digest that stands in it", name);
  GRAPHMILL_TRY(auto state,
                parse_json(body, name, most_values_in(body.size())));
  if (!state.is_object() || !state.contains("format_version"))
    return fail(ec::invalid_data, "{} is no state of a run", name);
  if (state["format_version"] != state_version)
    return fail(ec::version_mismatch,
                "{} was written by a newer version of Graphmill", name);
  return read_state(std::move(state), name);
}

} // namespace graphmill

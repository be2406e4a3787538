#include "actors/commands/engine/prediction_files.hpp"

#include "partition/files/mapped_file.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/files/npy/npy_header.hpp"
#include "pipelines/kernels/class_scores.hpp"
#include "pipelines/kernels/cross_entropy.hpp"
#include "pipelines/kernels/labels/binary_cross_entropy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

/// Rows that are put together before they are written.
constexpr std::int64_t written_rows = 4096;

/// predictions.npy -> predictions.logits.npy
fs::path beside(const fs::path& out, std::string_view infix) {
  if (infix.empty())
    return out;
  const std::string end =
    out.extension() == ".csv" ? std::string{".csv"} : std::string{".npy"};
  auto path = out;
  path.replace_extension(fmt::format(".{}{}", infix, end));
  return path;
}

/// What becomes of the rows of a matrix that are written.
enum class written_form : std::uint8_t {
  plain,
  softmax,  ///< The probability of each class.
  logistic, ///< The probability of each label.
  labels    ///< 1 for labels that a node is said to have, else 0.
};

/// Rows of a matrix, in the order of a file.
struct row_source {
  const_matrix from;
  std::span<const std::int64_t> rows; ///< Empty: all, in order.
  written_form form = written_form::plain;
  std::optional<threshold_choice> threshold = {}; ///< Of a label.

  std::int64_t count() const {
    return rows.empty() ? from.rows : std::ssize(rows);
  }

  /// Rows [begin, end) of the file. @param out Receives them.
  void take(std::int64_t begin, std::int64_t end,
            std::vector<float>& out) const {
    const auto width = static_cast<std::size_t>(from.columns);
    out.resize(static_cast<std::size_t>(end - begin) * width);
    for (auto i = begin; i < end; ++i)
      std::copy_n(from.row(rows.empty() ? i : rows[i]), width,
                  out.data() + static_cast<std::size_t>(i - begin) * width);
    const matrix whole{out.data(), end - begin, from.columns};
    if (form == written_form::softmax)
      softmax(whole, whole);
    else if (form == written_form::logistic)
      logistic(whole, whole);
    else if (form == written_form::labels)
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] =
          takes_label(static_cast<std::int64_t>(i % width), out[i], threshold)
            ? 1.0f
            : 0.0f;
  }
};

/// Labels or values that are predicted.
row_source predicted_in(const prediction& made) {
  return {made.logits, made.rows,
          made.task.decides ? written_form::labels : written_form::plain,
          made.threshold};
}

row_source probabilities_of(const prediction& made) {
  return {made.logits, made.rows,
          made.task.one_class ? written_form::softmax : written_form::logistic};
}

result<void> write_header(const scratch_file& file, dtype type,
                          std::span<const std::int64_t> shape) {
  const auto header = format_npy_header(type, shape);
  return write_all(file.fd(), std::as_bytes(std::span{header}), file.path());
}

/// @param flat Rows of one value are a list.
result<void> write_array(const scratch_file& file, const row_source& source,
                         bool flat = false) {
  const std::array shape{source.count(), source.from.columns};
  GRAPHMILL_TRYV(
    write_header(file, dtype::float32,
                 std::span{shape}.first(flat && shape[1] == 1 ? 1 : 2)));
  std::vector<float> values;
  for (std::int64_t at = 0; at < source.count(); at += written_rows) {
    source.take(at, std::min(at + written_rows, source.count()), values);
    GRAPHMILL_TRYV(
      write_all(file.fd(), std::as_bytes(std::span{values}), file.path()));
  }
  return ok();
}

result<void> write_integers(const scratch_file& file,
                            std::span<const std::int64_t> values) {
  return write_npy_bytes(file.fd(), file.path(), dtype::int64,
                         {std::ssize(values)}, std::as_bytes(values));
}

/// A group of columns of a CSV.
struct table_columns {
  std::string name; ///< What stands before the number of a column.
  row_source source;
};

/// The columns that stand before those of numbers, of a line.
void add_front(const prediction& made, std::int64_t line, bool classes,
               std::string& text) {
  const auto at = made.ids.empty() || !classes ? line : made.rows[line];
  const auto id = made.ids.empty() ? line : made.ids[line];
  fmt::format_to(std::back_inserter(text), "{}", id);
  if (made.names)
    text += "," + csv_text(made.names->of(id));
  if (!classes)
    return;
  const auto found = made.classes[at];
  fmt::format_to(std::back_inserter(text), ",{}", found);
  if (!made.class_names.empty())
    text += "," + csv_text(made.class_names[found]);
}

} // namespace

std::string csv_text(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos)
    return std::string{text};
  std::string out = "\"";
  for (const auto c : text) {
    if (c == '"')
      out += '"';
    out += c;
  }
  return out + '"';
}

result<prediction_files>
prediction_files::create(const prediction_request& request) {
  prediction_files out;
  out.request_ = request;
  if (request.classes)
    GRAPHMILL_TRYV(out.add(content::classes, "predictions", ""));
  if (!request.csv()) {
    if (request.listed)
      GRAPHMILL_TRYV(out.add(content::ids, "ids", "ids"));
    if (request.probabilities)
      GRAPHMILL_TRYV(
        out.add(content::probabilities, "probabilities", "probabilities"));
    if (request.logits)
      GRAPHMILL_TRYV(out.add(content::logits, "logits", "logits"));
  }
  for (std::size_t i = 0; i < request.embeddings.size(); ++i) {
    const auto& type = request.embeddings[i];
    const auto name = type.empty() ? "embeddings" : "embeddings." + type;
    GRAPHMILL_TRYV(out.add(content::embeddings, name, name, i));
  }
  return out;
}

result<void> prediction_files::add(content what, std::string name,
                                   std::string_view infix,
                                   std::size_t embedding) {
  const auto path = beside(request_.out, infix);
  GRAPHMILL_TRY(auto scratch, scratch_file::create(path));
  files_.push_back(
    {what, std::move(name), path, embedding, std::move(scratch)});
  return ok();
}

result<void> prediction_files::write_labels(const file& one,
                                            const prediction& made) const {
  const auto labels = predicted_in(made);
  const std::array shape{labels.count(), labels.from.columns};
  GRAPHMILL_TRYV(write_header(one.scratch, dtype::uint8, shape));
  std::vector<float> values;
  for (std::int64_t at = 0; at < labels.count(); at += written_rows) {
    labels.take(at, std::min(at + written_rows, labels.count()), values);
    const std::vector<std::uint8_t> bytes(values.begin(), values.end());
    GRAPHMILL_TRYV(write_all(one.scratch.fd(), std::as_bytes(std::span{bytes}),
                             one.scratch.path()));
  }
  return ok();
}

result<void> prediction_files::write_table(const file& one,
                                           const prediction& made) const {
  const auto classes = one.what == content::classes;
  std::vector<table_columns> columns;
  if (classes && !made.task.one_class)
    columns.push_back(
      {std::string{made.task.prediction.column}, predicted_in(made)});
  if (classes && request_.probabilities)
    columns.push_back({"probability_", probabilities_of(made)});
  if (classes && request_.logits)
    columns.push_back({"logit_", {made.logits, made.rows}});
  const auto other = !classes && !request_.embeddings[one.embedding].empty();
  if (!classes)
    columns.push_back({"embedding_",
                       {made.embeddings[one.embedding],
                        other ? std::span<const std::int64_t>{} : made.rows}});
  // Rows of another type are no rows of the list.
  prediction everyone;
  if (other && !made.embedding_names.empty())
    everyone.names = made.embedding_names[one.embedding];
  const auto& front = other ? everyone : made;
  const auto lines = classes ? made.count() : columns.front().source.count();
  std::string text = front.names ? "id,name" : "id";
  const auto named = classes && made.task.one_class;
  if (named)
    text += made.class_names.empty() ? ",class" : ",class,class_name";
  for (const auto& group : columns)
    for (std::int64_t c = 0; c < group.source.from.columns; ++c)
      text += fmt::format(",{}{}", group.name, c);
  text += '\n';
  std::vector<std::vector<float>> values(columns.size());
  for (std::int64_t begin = 0; begin < lines; begin += written_rows) {
    const auto end = std::min(begin + written_rows, lines);
    for (std::size_t g = 0; g < columns.size(); ++g)
      columns[g].source.take(begin, end, values[g]);
    for (auto line = begin; line < end; ++line) {
      add_front(front, line, named, text);
      for (std::size_t g = 0; g < columns.size(); ++g) {
        const auto width = columns[g].source.from.columns;
        for (std::int64_t c = 0; c < width; ++c)
          fmt::format_to(std::back_inserter(text), ",{}",
                         values[g][(line - begin) * width + c]);
      }
      text += '\n';
    }
    GRAPHMILL_TRYV(write_all(one.scratch.fd(), std::as_bytes(std::span{text}),
                             one.scratch.path()));
    text.clear();
  }
  return ok();
}

result<void> prediction_files::write(const file& one,
                                     const prediction& made) const {
  if (request_.csv())
    return write_table(one, made);
  switch (one.what) {
  case content::ids:
    return write_integers(one.scratch, made.ids);
  case content::probabilities:
    return write_array(one.scratch, probabilities_of(made));
  case content::logits:
    return write_array(one.scratch, {made.logits, made.rows});
  case content::embeddings:
    if (request_.embeddings[one.embedding].empty())
      return write_array(one.scratch,
                         {made.embeddings[one.embedding], made.rows});
    return write_array(one.scratch, {made.embeddings[one.embedding], {}});
  case content::classes:
    break;
  }
  if (!made.task.decides)
    return write_array(one.scratch, predicted_in(made), true);
  if (!made.task.one_class)
    return write_labels(one, made);
  std::vector<std::int64_t> listed;
  for (const auto row : made.rows)
    listed.push_back(made.classes[row]);
  return write_integers(one.scratch, made.ids.empty() ? made.classes : listed);
}

result<void> prediction_files::write(const prediction& made) {
  for (const auto& one : files_)
    GRAPHMILL_TRYV(write(one, made));
  // Rows may lie in files, and those that cannot be read are zeros by now.
  if (auto fault = mapped_file::first_fault())
    return *fault;
  // A disk may turn out to be full only now, and then all names stay as they
  // were.
  for (const auto& one : files_)
    GRAPHMILL_TRYV(sync_file(one.scratch.fd(), one.path));
  for (auto& one : files_)
    GRAPHMILL_TRYV(one.scratch.commit());
  return ok();
}

std::vector<std::pair<std::string, std::string>>
prediction_files::names() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& one : files_)
    out.emplace_back(one.name, one.path.string());
  return out;
}

} // namespace graphmill

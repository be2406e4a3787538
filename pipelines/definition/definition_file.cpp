#include "pipelines/definition/definition_file.hpp"

#include "messages/base/printable.hpp"
#include "messages/definition/definition_codec.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/definition/definition_checks.hpp"
#include "pipelines/definition/definition_help.hpp"
#include "pipelines/definition/yaml/yaml_tree.hpp"

#include <capnp/message.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <span>
#include <utility>

namespace graphmill {

namespace {

/// The file's bytes, at most one more than a definition may have.
result<std::string> read_text(const std::filesystem::path& file) {
  // Opening a pipe waits for its other end, which may never come.
  const unique_fd in{::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  struct stat about {};
  if (in.get() < 0 || ::fstat(in.get(), &about) != 0)
    return fail_errno(errno, "cannot open the definition");
  if (S_ISDIR(about.st_mode))
    return fail_errno(EISDIR, "cannot read the definition");
  if (!S_ISREG(about.st_mode))
    return fail(ec::invalid_data,
                "the definition is no file, but a pipe, device or socket: "
                "write it into a file");
  std::string text(yaml_size_limit + 1, '\0');
  GRAPHMILL_TRY(
    const auto size,
    read_some(in.get(), std::as_writable_bytes(std::span{text}), file));
  text.resize(size);
  return text;
}

/// "a.b=3" as the tree {a: {b: 3}}. @param option That it was given to.
std::optional<yaml_node> parse_override(std::string_view option,
                                        const std::string& text,
                                        std::vector<problem>& problems) {
  const auto origin = fmt::format("{} {}", option, shortened(text, 200));
  const source_position where{origin, 0, 0};
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    problems.push_back({where, "must be FIELD=VALUE, as in train.epochs=3"});
    return std::nullopt;
  }
  auto node = parse_yaml(std::string_view{text}.substr(equals + 1), origin,
                         false, problems);
  auto path = text.substr(0, equals);
  for (std::size_t depth = 0; node; ++depth) {
    const auto dot = path.rfind('.');
    const auto last = dot == std::string::npos;
    if (depth == yaml_depth_limit || path.empty() || path.back() == '.') {
      problems.push_back({where, "does not name a field"});
      return std::nullopt;
    }
    yaml_node key{yaml_node::kind::scalar, where, {}, {}, {}};
    key.text = last ? path : path.substr(dot + 1);
    yaml_node map{yaml_node::kind::map, where, {}, {}, {}};
    map.keys.push_back(std::move(key));
    map.items.push_back(std::move(*node));
    node = std::move(map);
    if (last)
      break;
    path.resize(dot);
  }
  return node;
}

/// A name made of the file's: "my run.yaml" -> "my-run".
std::string name_of(const std::filesystem::path& file) {
  auto name = file.stem().string();
  for (auto& c : name)
    if (!is_name_character(c))
      c = '-';
  if (name.starts_with('.'))
    name.front() = '-';
  return name.empty() ? "run" : name.substr(0, 100);
}

/// @returns false if there is no value then that could be checked.
bool decode_into(definition_source& source,
                 capnp::DynamicStruct::Reader reader) {
  auto decoded = decode_definition(reader);
  if (decoded) {
    source.value = std::move(decoded).value();
    return true;
  }
  if (source.problems.empty())
    source.report({source.file, 1, 1}, decoded.error().message);
  return false;
}

void write_struct(capnp::DynamicStruct::Reader reader, std::string_view indent,
                  std::string& out);

void write_per_key(capnp::DynamicStruct::Reader reader,
                   capnp::StructSchema::Field f, const std::string& taken,
                   std::string& out) {
  if (!has_number_per_key(f))
    out += fmt::format("    default: {}\n", yaml_text(reader.get(f), f));
  const auto entries = reader.get(taken).as<capnp::DynamicList>();
  for (auto entry : entries) {
    const auto pair = entry.as<capnp::DynamicStruct>();
    const auto value_field = pair.getSchema().getFieldByName("values");
    const auto key_field = pair.getSchema().getFieldByName("key");
    out += fmt::format("    {}: {}\n", yaml_text(pair.get("key"), key_field),
                       yaml_text(pair.get("values"), value_field));
  }
}

void write_struct(capnp::DynamicStruct::Reader reader, std::string_view indent,
                  std::string& out) {
  for (auto f : reader.getSchema().getFields()) {
    if (!has_key(f))
      continue;
    out += fmt::format("{}{}:", indent, user_name(f));
    const auto taken = notes_of(f).per_key;
    if (f.getType().isStruct()) {
      out += '\n';
      write_struct(reader.get(f).as<capnp::DynamicStruct>(), "  ", out);
    } else if (!taken.empty()
               && reader.get(taken).as<capnp::DynamicList>().size() != 0) {
      out += '\n';
      write_per_key(reader, f, taken, out);
    } else {
      out += fmt::format(" {}\n", field_text(reader, f));
    }
  }
}

/// Gives fields that are newer than the record of a run their old meaning.
void keep_old_meaning(definition_source& source) {
  auto& model = source.value.model;
  if (model.kind == model_kind::hetero_sage
      && !source.fields.contains("model.relations"))
    model.relations = relation_use::mean_of_all;
}

/// Refuses the copy of a record whose meaning has changed. Records have all
/// fields of their time, so that few files that users write are taken for one.
void refuse_old_record(definition_source& source) {
  for (const auto* path :
       {"model.kind", "model.hidden", "model.heads", "model.dropout",
        "model.embedding", "model.layer_norm", "model.weights"})
    if (!source.fields.contains(path))
      return;
  if (source.value.model.kind == model_kind::hetero_sage
      && !source.fields.contains("model.relations"))
    source.report(source.where("model.kind"),
                  "this looks like the record of a run that is older than "
                  "`model.relations`: add `relations: mean_of_all` to train as "
                  "that run did, or `relations: sum` to train as new runs do");
}

/// Averages what `train.patience` counts, unless the user says otherwise.
void average_for_patience(definition_source& source) {
  constexpr std::uint32_t window = 10;
  auto& train = source.value.train;
  if (train.patience != 0 && !source.fields.contains("train.patience_window"))
    train.patience_window = window;
}

/// Keeps a dataset's path apart from its name, which is what everybody knows it
/// by.
void take_dataset_path(definition_source& source) {
  auto& name = source.value.dataset;
  if (name.find('/') == std::string::npos)
    return;
  source.dataset_path = name;
  const auto end = name.find_last_not_of('/');
  name = end == std::string::npos ? "" : name.substr(0, end + 1);
  name = name.substr(name.rfind('/') + 1);
}

/// @param is_record Of a run; else a user has written it.
definition_source source_of(std::string_view text,
                            const std::filesystem::path& file,
                            std::span<const std::string> overrides,
                            std::span<const std::string> grid, bool is_record) {
  definition_source source;
  source.file = file.string();
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<capnp::DynamicStruct>(definition_schema());
  definition_reader reader{source.problems, source.fields};
  const auto tree = parse_yaml(text, source.file, true, source.problems);
  if (tree)
    reader.read(*tree, root);
  for (const auto& [option, settings] :
       {std::pair{"--set", overrides}, std::pair{"--grid", grid}})
    for (const auto& setting : settings)
      if (const auto node = parse_override(option, setting, source.problems))
        reader.read(*node, root);
  if (!tree)
    return source;
  reader.report_missing(definition_schema(), source.file);
  if (!root.has("name"))
    root.set("name", name_of(file).c_str());
  if (!root.has("dataset")) {
    // A problem by now; the other checks go on.
    root.set("dataset", "unknown");
    source.fields["dataset"] = {{source.file, 1, 1}, false};
  }
  if (!decode_into(source, root.asReader()))
    return source;
  take_dataset_path(source);
  if (is_record) {
    keep_old_meaning(source);
  } else {
    refuse_old_record(source);
    average_for_patience(source);
  }
  check_definition(source);
  return source;
}

result<definition_source> load_source(const std::filesystem::path& file,
                                      std::span<const std::string> overrides,
                                      std::span<const std::string> grid,
                                      bool is_record) {
  const auto text = read_text(file);
  if (!text)
    return fail(text.error().code, "{}: {}", file.string(),
                text.error().message);
  auto source = source_of(text.value(), file, overrides, grid, is_record);
  if (!source.problems.empty())
    return to_error(source.problems);
  return source;
}

} // namespace

void definition_source::report(source_position where, std::string text) {
  problem found;
  found.where = std::move(where);
  found.text = std::move(text);
  problems.push_back(std::move(found));
}

source_position definition_source::where(const std::string& path) const {
  for (auto prefix = path; !prefix.empty();) {
    const auto found = fields.find(prefix);
    if (found != fields.end())
      return found->second.where;
    const auto dot = prefix.rfind('.');
    prefix.resize(dot == std::string::npos ? 0 : dot);
  }
  return {file, 1, 1};
}

bool definition_source::usable(const std::string& path) const {
  const auto found = fields.find(path);
  return found == fields.end() || found->second.valid;
}

definition_source parse_definition(std::string_view text,
                                   const std::filesystem::path& file,
                                   std::span<const std::string> overrides,
                                   std::span<const std::string> grid) {
  return source_of(text, file, overrides, grid, false);
}

definition_source parse_record(std::string_view text,
                               std::span<const std::string> overrides) {
  return source_of(text, "definition.yaml", overrides, {}, true);
}

definition_source read_definition(const std::filesystem::path& file,
                                  std::span<const std::string> overrides) {
  const auto text = read_text(file);
  if (text)
    return parse_definition(text.value(), file, overrides);
  definition_source source;
  source.file = file.string();
  source.report({source.file, 0, 0}, text.error().message);
  return source;
}

result<definition_source>
load_definition(const std::filesystem::path& file,
                std::span<const std::string> overrides,
                std::span<const std::string> grid) {
  return load_source(file, overrides, grid, false);
}

result<definition_source> load_record(const std::filesystem::path& file,
                                      std::span<const std::string> overrides) {
  return load_source(file, overrides, {}, true);
}

std::string definition_yaml(const definition& def) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<capnp::DynamicStruct>(definition_schema());
  encode_definition(def, root);
  std::string out;
  write_struct(root.asReader(), "", out);
  return out;
}

} // namespace graphmill

#include "pipelines/definition/definition_reader.hpp"

#include "pipelines/definition/definition_help.hpp"
#include "pipelines/definition/words_elsewhere.hpp"
#include "pipelines/definition/yaml/scalar_text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

namespace {

using field = capnp::StructSchema::Field;
using which = capnp::schema::Type::Which;

std::optional<field> find_field(capnp::StructSchema schema,
                                const std::string& key) {
  for (auto f : schema.getFields())
    if (has_key(f) && user_name(f) == key)
      return f;
  return std::nullopt;
}

/// "a whole number from 1 to 64 stages".
std::string wanted(field f) {
  if (!range_of(f) || f.getType().isList())
    return type_text(f);
  return fmt::format("{} {}", type_text(f), allowed_text(f));
}

/// A hint at what a field is called that other libraries have; empty: none.
std::string field_here(std::string_view word) {
  const auto here = field_elsewhere(word);
  if (!here.empty())
    return fmt::format("; that is `{}` here", here);
  const auto absent = absent_elsewhere(word);
  return absent.empty() ? std::string{} : fmt::format("; {}", absent);
}

/// A hint at one of the words that a field can have; empty: none.
std::string word_hint(std::string_view given,
                      const std::vector<std::string>& words) {
  const auto here = value_elsewhere(given);
  return std::ranges::find(words, here) != words.end()
           ? fmt::format("; that is `{}` here", here)
           : suggestion(given, words);
}

bool is_whole(const yaml_node& node) {
  return node.type == yaml_node::kind::scalar && parse_whole(node.text);
}

} // namespace

void definition_reader::read(const yaml_node& root,
                             capnp::DynamicStruct::Builder into) {
  if (root.type == yaml_node::kind::null)
    return;
  read_struct(root, into, "");
}

void definition_reader::report_missing(capnp::StructSchema schema,
                                       const std::string& origin) {
  for (auto f : schema.getFields()) {
    const auto notes = notes_of(f);
    if (notes.required && !sources_.contains(user_name(f)))
      report({origin, 1, 1}, fmt::format("{} is missing: {}",
                                         in_quotes(user_name(f)), notes.help));
  }
}

void definition_reader::read_struct(const yaml_node& node,
                                    capnp::DynamicStruct::Builder into,
                                    const std::string& path) {
  if (node.type == yaml_node::kind::null)
    return; // a section of which everything is commented out
  if (node.type != yaml_node::kind::map) {
    report(node.where,
           fmt::format("{} is {}, must be a map with some of the keys {}",
                       path.empty() ? "the definition" : in_quotes(path),
                       shown(node),
                       fmt::join(keys_of(into.getSchema()), ", ")));
    return;
  }
  std::map<std::string, const yaml_node*> seen;
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const auto& key = node.keys[i];
    const auto f = find_field(into.getSchema(), key.text);
    if (key.type != yaml_node::kind::scalar || !f) {
      report_unknown(key, into.getSchema(), path);
      continue;
    }
    if (const auto [first, fresh] = seen.emplace(key.text, &key); !fresh) {
      report(key.where, fmt::format("{} is given twice, first on line {}",
                                    in_quotes(joined(path, key.text)),
                                    first->second->where.line));
      continue;
    }
    read_field(node.items[i], into, *f, joined(path, key.text));
  }
}

void definition_reader::read_field(const yaml_node& node,
                                   capnp::DynamicStruct::Builder into, field f,
                                   const std::string& path) {
  if (f.getType().isStruct()) {
    read_struct(node, into.get(f).as<capnp::DynamicStruct>(), path);
    return;
  }
  const auto notes = notes_of(f);
  if (node.type == yaml_node::kind::map && has_number_per_key(f)) {
    read_number_per_key(node, into, f, path);
    return;
  }
  if (node.type == yaml_node::kind::map && !notes.per_key.empty()) {
    read_per_key(node, into, f, path);
    return;
  }
  if (node.type == yaml_node::kind::map && !notes.least.empty()) {
    sources_[path] = {node.where, read_span(node, into, f, path)};
    return;
  }
  if (!notes.least.empty() && !is_whole(node)) {
    sources_[path] = {
      node.where,
      report(node.where,
             fmt::format("{} is {}, must be {}, or a map of min and max, as in "
                         "{{min: 1, max: 4}}",
                         in_quotes(path), shown(node), wanted(f)))};
    return;
  }
  const auto valid = read_value(node, into, f, path);
  if (valid && !notes.least.empty()) // A plain number has no least.
    into.set(notes.least.c_str(), 0U);
  if (valid && has_number_per_key(f)) // A list takes the place of a map.
    into.init(notes.per_key.c_str(), 0);
  sources_[path] = {node.where, valid};
}

bool definition_reader::read_value(const yaml_node& node,
                                   capnp::DynamicStruct::Builder into, field f,
                                   const std::string& path) {
  const auto type = f.getType();
  if (type.isList())
    return read_list(node, into, f, path);
  if (node.type != yaml_node::kind::scalar)
    return report(node.where,
                  fmt::format("{} is {}, must be {}", in_quotes(path),
                              shown(node), wanted(f)));
  if (type.isText())
    return read_text(node, into, f, path);
  if (type.isEnum())
    return read_enum(node, into, f, path);
  if (!type.isBool())
    return read_number(node, into, f, path);
  const auto value = parse_bool(node.text);
  if (!value)
    return report(node.where, fmt::format("{} is {}, must be true or false",
                                          in_quotes(path), shown(node)));
  into.set(f, *value);
  return true;
}

bool definition_reader::read_number(const yaml_node& node,
                                    capnp::DynamicStruct::Builder into, field f,
                                    const std::string& path) {
  const auto notes = notes_of(f);
  const auto wrong = [&, this] {
    return report(node.where,
                  fmt::format("{} is {}, must be {}", in_quotes(path),
                              shown(node), wanted(f)));
  };
  const auto type = f.getType().which();
  if (notes.word && node.text == notes.word->name) {
    into.set(f, notes.word->value);
    return true;
  }
  const auto allowed = range_of(f).value_or(value_range{});
  if (type == which::FLOAT64) {
    const auto value = parse_number(node.text);
    if (!value || !allowed.contains(*value))
      return wrong();
    into.set(f, *value);
    return true;
  }
  auto value = parse_whole(node.text);
  if (notes.unit == "bytes")
    if (const auto bytes = parse_bytes(node.text))
      value = whole_number{false, *bytes};
  if (!value || !allowed.contains(value->as_double()))
    return wrong();
  if (type == which::INT32)
    into.set(f, value->as_int32());
  else
    into.set(f, value->magnitude);
  return true;
}

bool definition_reader::read_text(const yaml_node& node,
                                  capnp::DynamicStruct::Builder into, field f,
                                  const std::string& path) {
  const auto length = notes_of(f).length.value_or(value_range{});
  if (!length.contains(static_cast<double>(node.text.size())))
    return report(node.where, fmt::format("{} has {} characters, must have {}",
                                          in_quotes(path), node.text.size(),
                                          range_text(length, "")));
  into.set(f, capnp::Text::Reader{node.text.c_str(), node.text.size()});
  return true;
}

bool definition_reader::read_enum(const yaml_node& node,
                                  capnp::DynamicStruct::Builder into, field f,
                                  const std::string& path) {
  const auto schema = f.getType().asEnum();
  const auto detail = notes_of(f).detail;
  const auto end =
    detail.empty() ? std::string::npos : node.text.find_first_of("@:");
  const auto given = node.text.substr(0, end);
  for (auto word : schema.getEnumerants()) {
    const auto name = user_name(word.getProto().getName().cStr());
    if (word.getOrdinal() == 0 || name != given)
      continue;
    into.set(f, capnp::DynamicEnum{word});
    if (!detail.empty())
      into.set(detail.c_str(), node.text.substr(given.size()).c_str());
    return true;
  }
  return report(node.where,
                fmt::format("{} is {}, must be {}{}", in_quotes(path),
                            shown(node), type_text(f),
                            word_hint(given, enum_words(schema))));
}

std::string definition_reader::joined(const std::string& path,
                                      std::string_view key) {
  return path.empty() ? std::string{key} : fmt::format("{}.{}", path, key);
}

void definition_reader::report_unknown(const yaml_node& key,
                                       capnp::StructSchema schema,
                                       const std::string& path) {
  const auto place = path.empty() ? "a definition" : in_quotes(path);
  if (key.type != yaml_node::kind::scalar) {
    report(key.where,
           fmt::format("a key of {} is {}, must be one of {}", place,
                       shown(key), fmt::join(keys_of(schema), ", ")));
    return;
  }
  auto text =
    fmt::format("{} is not a field of {}", in_quotes(key.text), place);
  auto hint = field_here(key.text);
  if (hint.empty())
    hint = suggestion(key.text, keys_of(schema));
  if (hint.empty())
    for (auto section : definition_schema().getFields())
      if (section.getType().isStruct() && hint.empty()
          && find_field(section.getType().asStruct(), key.text))
        hint = fmt::format("; it belongs to `{}`", user_name(section));
  if (hint.empty())
    hint = fmt::format("; there are {}", fmt::join(keys_of(schema), ", "));
  report(key.where, text + hint);
}

bool definition_reader::report(const source_position& where, std::string text) {
  problems_.push_back({where, std::move(text)});
  return false;
}

} // namespace graphmill

#include "pipelines/definition/definition_help.hpp"
#include "pipelines/definition/definition_reader.hpp"
#include "pipelines/definition/yaml/scalar_text.hpp"

#include <utility>

// What a definition reader makes of lists, and of maps in their place.

namespace graphmill {

bool definition_reader::read_list(const yaml_node& node,
                                  capnp::DynamicStruct::Builder into, field f,
                                  const std::string& path) {
  if (f.getType().asList().getElementType().isText())
    return read_texts(node, into, f, path);
  if (f.getType().asList().getElementType().isFloat64())
    return read_reals(node, into, f, path);
  if (read_word(node, into, f))
    return true;
  std::vector<std::int32_t> values;
  if (!read_numbers(node, f, path, values))
    return false;
  auto list =
    into.init(f, static_cast<unsigned>(values.size())).as<capnp::DynamicList>();
  for (unsigned i = 0; i < list.size(); ++i)
    list.set(i, values[i]);
  return true;
}

/// The word for all elements, of which there are as many then as before.
/// @returns false if it is something else.
bool definition_reader::read_word(const yaml_node& node,
                                  capnp::DynamicStruct::Builder into, field f) {
  const auto word = notes_of(f).word;
  if (!word || node.type != yaml_node::kind::scalar || node.text != word->name)
    return false;
  const auto size = into.asReader().get(f).as<capnp::DynamicList>().size();
  auto list = into.init(f, size).as<capnp::DynamicList>();
  for (unsigned i = 0; i < size; ++i)
    list.set(i, word->value);
  return true;
}

bool definition_reader::read_reals(const yaml_node& node,
                                   capnp::DynamicStruct::Builder into, field f,
                                   const std::string& path) {
  if (!check_list(node, path,
                  has_number_per_key(f)
                    ? "numbers, as in [1, 0.5], or a map of numbers"
                    : "numbers, as in [1, 0.5]"))
    return false;
  auto valid = check_length(node, f, path);
  const auto range = range_of(f).value_or(value_range{});
  std::vector<double> values;
  for (const auto& item : node.items) {
    const auto number = item.type == yaml_node::kind::scalar
                          ? parse_number(item.text)
                          : std::nullopt;
    if (number && range.contains(*number))
      values.push_back(*number);
    else
      valid = report(
        item.where, fmt::format("{} has the element {}, must be a number {}",
                                in_quotes(path), shown(item), allowed_text(f)));
  }
  if (!valid)
    return false;
  auto list =
    into.init(f, static_cast<unsigned>(values.size())).as<capnp::DynamicList>();
  for (unsigned i = 0; i < list.size(); ++i)
    list.set(i, values[i]);
  return true;
}

bool definition_reader::read_texts(const yaml_node& node,
                                   capnp::DynamicStruct::Builder into, field f,
                                   const std::string& path) {
  if (!check_list(node, path, "texts, as in [a, b]")
      || !check_length(node, f, path))
    return false;
  for (const auto& item : node.items)
    if (item.type != yaml_node::kind::scalar || item.text.empty())
      return report(item.where,
                    fmt::format("{} has the element {}, must be a text",
                                in_quotes(path), shown(item)));
  auto list = into.init(f, static_cast<unsigned>(node.items.size()))
                .as<capnp::DynamicList>();
  for (unsigned i = 0; i < list.size(); ++i)
    list.set(i, capnp::Text::Reader{node.items[i].text.c_str(),
                                    node.items[i].text.size()});
  return true;
}

/// @param elements What the list must be of, with an example.
bool definition_reader::check_list(const yaml_node& node,
                                   const std::string& path,
                                   std::string_view elements) {
  return node.type == yaml_node::kind::list
         || report(node.where,
                   fmt::format("{} is {}, must be a list of {}",
                               in_quotes(path), shown(node), elements));
}

bool definition_reader::check_length(const yaml_node& node, field f,
                                     const std::string& path) {
  const auto length = notes_of(f).length.value_or(value_range{});
  if (length.contains(static_cast<double>(node.items.size())))
    return true;
  return report(node.where,
                fmt::format("{} has {} elements, must have {}", in_quotes(path),
                            node.items.size(), range_text(length, "")));
}

bool definition_reader::read_numbers(const yaml_node& node, field f,
                                     const std::string& path,
                                     std::vector<std::int32_t>& out) {
  const auto notes = notes_of(f);
  if (!check_list(node, path,
                  notes.per_key.empty()
                    ? "whole numbers, as in [10, 10]"
                    : "whole numbers, as in [10, 10], or a map of lists"))
    return false;
  auto valid = check_length(node, f, path);
  const auto range = range_of(f).value_or(value_range{});
  for (const auto& item : node.items) {
    const auto number = item.type == yaml_node::kind::scalar
                          ? parse_whole(item.text)
                          : std::nullopt;
    if (notes.word && item.type == yaml_node::kind::scalar
        && item.text == notes.word->name)
      out.push_back(static_cast<std::int32_t>(notes.word->value));
    else if (number && range.contains(number->as_double()))
      out.push_back(number->as_int32());
    else
      valid = report(
        item.where, fmt::format("{} has the element {}, must be a whole number "
                                "{}",
                                in_quotes(path), shown(item), allowed_text(f)));
  }
  return valid;
}

/// A map of numbers takes the place of a list, and of a map that came before.
void definition_reader::read_number_per_key(const yaml_node& node,
                                            capnp::DynamicStruct::Builder into,
                                            field f, const std::string& path) {
  const auto range = range_of(f).value_or(value_range{});
  std::map<std::string, double> numbers;
  auto valid = check_length(node, f, path);
  for (const auto& [key, item] : entries_of(node, path)) {
    const auto place = joined(path, key);
    const auto number = parse_number(item->text); // Only scalars have text.
    const auto sound = number && range.contains(*number);
    sources_[place] = {item->where, sound};
    if (sound)
      numbers[key] = *number;
    else
      valid = report(item->where, fmt::format("{} is {}, must be a number {}",
                                              in_quotes(place), shown(*item),
                                              allowed_text(f)));
  }
  sources_[path] = {node.where, valid};
  into.init(f, 0);
  auto pairs =
    into
      .init(notes_of(f).per_key.c_str(), static_cast<unsigned>(numbers.size()))
      .as<capnp::DynamicList>();
  unsigned i = 0;
  for (const auto& [key, number] : numbers) {
    auto pair = pairs[i++].as<capnp::DynamicStruct>();
    pair.set("key", capnp::Text::Reader{key.c_str(), key.size()});
    pair.set("values", number);
  }
}

/// A map in place of a list: `default` is the list itself, the other entries
/// are added to the field that takes them, or replace those of the same key.
void definition_reader::read_per_key(const yaml_node& node,
                                     capnp::DynamicStruct::Builder into,
                                     field f, const std::string& path) {
  const auto target =
    into.getSchema().getFieldByName(notes_of(f).per_key.c_str());
  std::map<std::string, std::vector<std::int32_t>> lists;
  for (auto entry : into.get(target).as<capnp::DynamicList>().asReader()) {
    const auto pair = entry.as<capnp::DynamicStruct>();
    auto& values = lists[pair.get("key").as<capnp::Text>().cStr()];
    for (auto value : pair.get("values").as<capnp::DynamicList>())
      values.push_back(value.as<std::int32_t>());
  }
  for (const auto& [key, item] : entries_of(node, path)) {
    if (key == "default") {
      sources_[path] = {item->where, read_value(*item, into, f, path)};
      continue;
    }
    const auto place = joined(path, key);
    std::vector<std::int32_t> values;
    const auto valid = read_numbers(*item, f, place, values);
    sources_[place] = {item->where, valid};
    if (valid)
      lists[key] = std::move(values);
  }
  auto pairs = into.init(target, static_cast<unsigned>(lists.size()))
                 .as<capnp::DynamicList>();
  unsigned i = 0;
  for (const auto& [key, values] : lists) {
    auto pair = pairs[i++].as<capnp::DynamicStruct>();
    pair.set("key", capnp::Text::Reader{key.c_str(), key.size()});
    auto list = pair.init("values", static_cast<unsigned>(values.size()))
                  .as<capnp::DynamicList>();
    for (unsigned j = 0; j < list.size(); ++j)
      list.set(j, values[j]);
  }
}

/// The least of a span has the bounds of its most, and so is read as that. 0,
/// which stands for none, cannot be given.
bool definition_reader::read_least(const yaml_node& node,
                                   capnp::DynamicStruct::Builder into, field f,
                                   const std::string& path) {
  const auto most = into.asReader().get(f).as<std::uint32_t>();
  if (!read_value(node, into, f, path))
    return false;
  into.set(notes_of(f).least.c_str(), into.asReader().get(f));
  into.set(f, most);
  return true;
}

/// A map of `min` and `max` in place of a number. What is not given of a map
/// stays as it was.
bool definition_reader::read_span(const yaml_node& node,
                                  capnp::DynamicStruct::Builder into, field f,
                                  const std::string& path) {
  const auto least = into.getSchema().getFieldByName(notes_of(f).least.c_str());
  auto valid = true;
  for (const auto& [key, item] : entries_of(node, path)) {
    const auto place = joined(path, key);
    if (key == "max")
      valid = read_value(*item, into, f, place) && valid;
    else if (key == "min")
      valid = read_least(*item, into, f, place) && valid;
    else
      valid = report(item->where, fmt::format("{} is not a field of {}; there "
                                              "are min and max",
                                              in_quotes(key), in_quotes(path)));
  }
  if (valid && into.asReader().get(least).as<std::uint32_t>() == 0)
    return report(node.where, fmt::format("{} is a map without `min`, which "
                                          "must be 1 at the least",
                                          in_quotes(path)));
  return valid;
}

/// The entries of a map whose keys are free, duplicates reported.
std::map<std::string, const yaml_node*>
definition_reader::entries_of(const yaml_node& node, const std::string& path) {
  std::map<std::string, const yaml_node*> entries;
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const auto& key = node.keys[i];
    if (key.type != yaml_node::kind::scalar || key.text.empty())
      report(key.where, fmt::format("a key of {} is {}, must be a text",
                                    in_quotes(path), shown(key)));
    else if (!entries.emplace(key.text, &node.items[i]).second)
      report(key.where, fmt::format("{} is given twice in {}",
                                    in_quotes(key.text), in_quotes(path)));
  }
  return entries;
}

} // namespace graphmill

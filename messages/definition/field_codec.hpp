#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "messages/words/field_name.hpp"

#include <capnp/dynamic.h>
#include <capnp/schema.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Reads and writes plain structs by the list of fields beside them, `fields`,
// which names each as the schema does. A name that the schema lacks is a bug of
// ours, and a kj::Exception: every struct is in a test that sends it there and
// back.

namespace graphmill {

/// How far the values of an enumeration of the schema are ahead of ours. Those
/// of all schemas begin with `unset`. Most of ours lack it and begin with the
/// value behind it; for those that have the schema's own values, it is 0.
template <class Enum>
inline constexpr int wire_offset = 1;

/// Structs and texts that the lists of one message may bring: as many as a
/// frame has words, of which ours take one at least. Cap'n Proto lets bytes
/// pass for structs of one byte each, so that a frame could bring eight times
/// as many, and each becomes some hundreds of bytes here.
inline constexpr std::size_t most_listed = std::size_t{1} << 17;

/// Takes the fields of a struct from a message that comes from outside. Refuses
/// values that an enumeration of the schema does not have, and structs that
/// their own `check`, if they have one, refuses. The first failure is kept, and
/// nothing is read after it. A number that does not fit into its field is a
/// kj::Exception, which `decode_frame` and `decode_definition` turn into an
/// error. Readers of inner structs share what the outer one has seen.
class field_reader {
public:
  /// What the readers of a message have seen of it.
  struct seen {
    std::optional<error> failure;   ///< The first one.
    std::size_t most = most_listed; ///< Structs and texts in lists.
    std::size_t listed = 0;         ///< Of these, so far.
  };

  /// @param so_far Must outlive it.
  field_reader(capnp::DynamicStruct::Reader from, seen& so_far)
    : from_(from), seen_(&so_far) {}

  /// All fields of a struct, with its `check`.
  template <class T>
  void read_all(T& into) const {
    T::fields(into, *this);
    if constexpr (requires { into.check(); }) {
      if (seen_->failure)
        return;
      if (auto sound = into.check(); !sound)
        seen_->failure = std::move(sound).error();
    }
  }

  template <class T>
  void operator()(const char* name, T& into) const {
    if (!seen_->failure)
      read(name, from_.get(name), into);
  }

  /// What is not in the message stays empty.
  template <class T>
  void operator()(const char* name, std::optional<T>& into) const {
    if (!seen_->failure && from_.has(name))
      read(name, from_.get(name), into.emplace());
  }

private:
  using value = capnp::DynamicValue::Reader;

  template <class T>
  void read(const char* name, const value& from, T& into) const {
    if constexpr (std::is_arithmetic_v<T>)
      into = from.as<T>(); // Throws if it does not fit.
    else if constexpr (std::is_enum_v<T>)
      read_word(name, from, into);
    else
      field_reader{from.as<capnp::DynamicStruct>(), *seen_}.read_all(into);
  }

  /// A value is checked as wide as it travels, before it is cast: ours may have
  /// fewer bits, in which an unknown value could look like a known one.
  template <class T>
  void read_word(const char* name, const value& from, T& into) const {
    const auto word = from.as<capnp::DynamicEnum>();
    if (word.getRaw() == 0 || word.getEnumerant() == nullptr)
      seen_->failure =
        fail(ec::invalid_data,
             "{} of a {} has the value {}, which this version does "
             "not know",
             user_name(name), from_.getSchema().getShortDisplayName().cStr(),
             word.getRaw());
    else
      into = static_cast<T>(word.getRaw() - wire_offset<T>);
  }

  void read(const char*, const value& from, std::string& into) const {
    const auto text = from.as<capnp::Text>();
    into.assign(text.begin(), text.end());
  }

  void read(const char*, const value& from,
            std::chrono::milliseconds& into) const {
    into = std::chrono::milliseconds{from.as<std::int64_t>()};
  }

  template <class T>
  void read(const char* name, const value& from, std::vector<T>& into) const {
    const auto list = from.as<capnp::DynamicList>();
    into.clear();
    if (std::is_class_v<T> && !count_listed(name, list.size()))
      return;
    into.reserve(list.size());
    for (auto element : list) {
      if (seen_->failure)
        return;
      read(name, element, into.emplace_back());
    }
  }

  template <class T>
  void read(const char* name, const value& from,
            std::map<std::string, T>& into) const {
    const auto list = from.as<capnp::DynamicList>();
    if (!count_listed(name, list.size()))
      return;
    for (auto entry : list) {
      const auto pair = entry.as<capnp::DynamicStruct>();
      std::string key;
      read(name, pair.get("key"), key);
      read(name, pair.get("values"), into[key]);
    }
  }

  /// A definition is read by `decode_definition`, which checks the ranges of
  /// its schema, too.
  void read(const char* name, const value& from, definition& into) const;

  bool count_listed(const char* name, std::size_t more) const {
    seen_->listed += more;
    if (seen_->listed > seen_->most)
      seen_->failure =
        fail(ec::invalid_data,
             "with {} of a {} the lists of a message have {} elements, but one "
             "of its size has {} at the most",
             user_name(name), from_.getSchema().getShortDisplayName().cStr(),
             seen_->listed, seen_->most);
    return !seen_->failure;
  }

  capnp::DynamicStruct::Reader from_;
  seen* seen_;
};

/// Reads a struct that comes from outside by its list of fields.
/// @param most Structs and texts that its lists may have together.
/// @returns its first problem, as a sentence. Cap'n Proto may throw.
template <class T>
result<T> read_fields(capnp::DynamicStruct::Reader from,
                      std::size_t most = most_listed) {
  field_reader::seen so_far{{}, std::min(most, most_listed)};
  T out;
  field_reader{from, so_far}.read_all(out);
  if (so_far.failure)
    return std::move(*so_far.failure);
  return out;
}

/// Puts the fields of a struct into a message, in the order of its list. It
/// checks nothing: what we send is ours.
class field_writer {
public:
  explicit field_writer(capnp::DynamicStruct::Builder to) : to_(to) {}

  template <class T>
  void operator()(const char* name, const T& from) {
    if constexpr (std::is_arithmetic_v<T>)
      to_.set(name, from);
    else if constexpr (std::is_enum_v<T>)
      to_.set(name, word(name, static_cast<int>(from) + wire_offset<T>));
    else
      T::fields(from, field_writer{to_.init(name).as<capnp::DynamicStruct>()});
  }

  /// An empty one leaves the field out.
  template <class T>
  void operator()(const char* name, const std::optional<T>& from) {
    if (from)
      (*this)(name, *from);
  }

  void operator()(const char* name, const std::string& from) {
    to_.set(name, text(from));
  }

  /// Times are 64 bits wide in some schemas and 32 bits in others, where longer
  /// ones become the longest that fits.
  void operator()(const char* name, const std::chrono::milliseconds& from) {
    const std::int64_t count = from.count();
    if (field(name).getType().isInt64())
      to_.set(name, count);
    else
      to_.set(name, static_cast<std::uint32_t>(std::clamp<std::int64_t>(
                      count, 0, std::numeric_limits<std::uint32_t>::max())));
  }

  template <class T>
  void operator()(const char* name, const std::vector<T>& from) {
    auto list = init_list(name, from.size());
    for (unsigned i = 0; i < list.size(); ++i)
      if constexpr (std::is_arithmetic_v<T>)
        list.set(i, from[i]);
      else if constexpr (std::is_same_v<T, std::string>)
        list.set(i, text(from[i]));
      else
        T::fields(from[i],
                  field_writer{list[i].template as<capnp::DynamicStruct>()});
  }

  template <class T>
  void operator()(const char* name, const std::map<std::string, T>& from) {
    auto list = init_list(name, from.size());
    unsigned i = 0;
    for (const auto& [key, values] : from) {
      field_writer entry{list[i++].template as<capnp::DynamicStruct>()};
      entry("key", key);
      entry("values", values);
    }
  }

private:
  static capnp::Text::Reader text(const std::string& from) {
    return {from.data(), from.size()};
  }

  capnp::StructSchema::Field field(const char* name) const {
    return to_.getSchema().getFieldByName(name);
  }

  capnp::DynamicList::Builder init_list(const char* name, std::size_t size) {
    return to_.init(name, static_cast<unsigned>(size)).as<capnp::DynamicList>();
  }

  capnp::DynamicEnum word(const char* name, int number) const {
    return {field(name).getType().asEnum(), static_cast<std::uint16_t>(number)};
  }

  capnp::DynamicStruct::Builder to_;
};

} // namespace graphmill

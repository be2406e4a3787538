#include "messages/definition/definition_codec.hpp"

#include "messages/definition/definition.capnp.h"
#include "messages/definition/definition_schema.hpp"

#include <kj/exception.h>

#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace graphmill {

namespace {

// Enumerations of the schema have `unset` before the values of ours.
template <class Wire, class Ours>
constexpr bool aligned(Wire wire, Ours ours) {
  return static_cast<int>(wire) == static_cast<int>(ours) + 1;
}
static_assert(aligned(schema::ModelKind::RGCN, model_kind::rgcn));
static_assert(aligned(schema::OptimizerKind::SGD, optimizer_kind::sgd));
static_assert(aligned(schema::ScheduleKind::STEP, schedule_kind::step));
static_assert(aligned(schema::SeedOrder::GLOBAL, seed_order::global));
static_assert(aligned(schema::NeighbourUse::ALL, neighbour_use::all));
static_assert(aligned(schema::Precision::FLOAT16, feature_precision::float16));
static_assert(aligned(schema::CacheOrder::DEGREE, cache_order::degree));

// -- checks

using field = capnp::StructSchema::Field;

result<void> check_number(double value, const field_notes& notes,
                          const std::string& path) {
  if (notes.range && !notes.range->contains(value))
    return fail(ec::invalid_data, "{} is {}, must be {}", path, value,
                range_text(*notes.range, notes.unit));
  return ok();
}

result<void> check_struct(capnp::DynamicStruct::Reader reader,
                          const std::string& prefix);

result<void> check_list(capnp::DynamicList::Reader list,
                        const field_notes& notes, const std::string& path) {
  if (notes.length && !notes.length->contains(list.size()))
    return fail(ec::invalid_data, "{} has {} elements, must have {}", path,
                list.size(), range_text(*notes.length, ""));
  for (auto element : list) {
    if (element.getType() == capnp::DynamicValue::INT) {
      TRYV(check_number(element.as<double>(), notes, path));
    } else if (element.getType() == capnp::DynamicValue::STRUCT) {
      TRYV(check_struct(element.as<capnp::DynamicStruct>(), path + '.'));
    }
  }
  return ok();
}

result<void> check_value(capnp::DynamicValue::Reader value,
                         const field_notes& notes, const std::string& path) {
  switch (value.getType()) {
  case capnp::DynamicValue::INT:
  case capnp::DynamicValue::UINT:
  case capnp::DynamicValue::FLOAT:
    return check_number(value.as<double>(), notes, path);
  case capnp::DynamicValue::TEXT: {
    const auto size = value.as<capnp::Text>().size();
    if (notes.length && !notes.length->contains(static_cast<double>(size)))
      return fail(ec::invalid_data, "{} has {} characters, must have {}", path,
                  size, range_text(*notes.length, ""));
    return ok();
  }
  case capnp::DynamicValue::ENUM: {
    const auto raw = value.as<capnp::DynamicEnum>();
    if (raw.getRaw() == 0 || raw.getEnumerant() == nullptr)
      return fail(ec::invalid_data,
                  "{} has the value {}, which this version does not know", path,
                  raw.getRaw());
    return ok();
  }
  case capnp::DynamicValue::LIST:
    return check_list(value.as<capnp::DynamicList>(), notes, path);
  case capnp::DynamicValue::STRUCT:
    return check_struct(value.as<capnp::DynamicStruct>(), path + '.');
  default:
    return ok();
  }
}

result<void> check_struct(capnp::DynamicStruct::Reader reader,
                          const std::string& prefix) {
  for (auto f : reader.getSchema().getFields())
    TRYV(check_value(reader.get(f), notes_of(f), prefix + user_name(f)));
  return ok();
}

// -- fields

using lists_by_key = std::map<std::string, std::vector<std::int32_t>>;

/// Takes the fields of a section from a message that has been checked.
class field_reader {
public:
  explicit field_reader(capnp::DynamicStruct::Reader from) : from_(from) {}

  void operator()(const char* name, auto& into) const {
    read(from_.get(name), into);
  }

private:
  using value = capnp::DynamicValue::Reader;

  template <class T>
  static void read(value from, T& into) {
    if constexpr (std::is_arithmetic_v<T>)
      into = from.as<T>();
    else if constexpr (std::is_enum_v<T>)
      into = static_cast<T>(from.as<capnp::DynamicEnum>().getRaw() - 1);
    else
      T::fields(into, field_reader{from.as<capnp::DynamicStruct>()});
  }

  static void read(value from, std::string& into) {
    into = from.as<capnp::Text>().cStr();
  }

  static void read(value from, std::vector<std::int32_t>& into) {
    into.clear();
    for (auto element : from.as<capnp::DynamicList>())
      into.push_back(element.as<std::int32_t>());
  }

  static void read(value from, std::vector<std::string>& into) {
    into.clear();
    for (auto element : from.as<capnp::DynamicList>()) {
      const auto text = element.as<capnp::Text>();
      into.emplace_back(text.begin(), text.end());
    }
  }

  static void read(value from, lists_by_key& into) {
    for (auto entry : from.as<capnp::DynamicList>()) {
      const auto pair = entry.as<capnp::DynamicStruct>();
      read(pair.get("values"), into[pair.get("key").as<capnp::Text>().cStr()]);
    }
  }

  capnp::DynamicStruct::Reader from_;
};

/// Puts the fields of a section into a message.
class field_writer {
public:
  explicit field_writer(capnp::DynamicStruct::Builder to) : to_(to) {}

  template <class T>
  void operator()(const char* name, const T& from) {
    if constexpr (std::is_arithmetic_v<T>)
      to_.set(name, from);
    else if constexpr (std::is_enum_v<T>)
      to_.set(name, enumerant(name, static_cast<int>(from) + 1));
    else
      T::fields(from, field_writer{to_.init(name).as<capnp::DynamicStruct>()});
  }

  void operator()(const char* name, const std::string& from) {
    to_.set(name, text(from));
  }

  void operator()(const char* name, const std::vector<std::int32_t>& from) {
    auto list = init_list(name, from.size());
    for (unsigned i = 0; i < list.size(); ++i)
      list.set(i, from[i]);
  }

  void operator()(const char* name, const std::vector<std::string>& from) {
    auto list = init_list(name, from.size());
    for (unsigned i = 0; i < list.size(); ++i)
      list.set(i, text(from[i]));
  }

  void operator()(const char* name, const lists_by_key& from) {
    auto list = init_list(name, from.size());
    unsigned i = 0;
    for (const auto& [key, values] : from) {
      field_writer entry{list[i++].as<capnp::DynamicStruct>()};
      entry("key", key);
      entry("values", values);
    }
  }

private:
  static capnp::Text::Reader text(const std::string& from) {
    return {from.data(), from.size()};
  }

  capnp::DynamicList::Builder init_list(const char* name, std::size_t size) {
    return to_.init(name, static_cast<unsigned>(size)).as<capnp::DynamicList>();
  }

  capnp::DynamicEnum enumerant(const char* name, int number) const {
    const auto type = to_.getSchema().getFieldByName(name).getType().asEnum();
    return {type, static_cast<std::uint16_t>(number)};
  }

  capnp::DynamicStruct::Builder to_;
};

} // namespace

result<definition> decode_definition(capnp::DynamicStruct::Reader reader) {
  try {
    TRYV(check_struct(reader, ""));
    definition out;
    definition::fields(out, field_reader{reader});
    return out;
  } catch (const kj::Exception& broken) {
    return fail(ec::invalid_data, "cannot decode a definition: {}",
                broken.getDescription().cStr());
  }
}

void encode_definition(const definition& def,
                       capnp::DynamicStruct::Builder builder) {
  definition::fields(def, field_writer{builder});
}

} // namespace graphmill

#pragma once

#include "messages/definition/definition_schema.hpp"
#include "pipelines/definition/yaml/problem.hpp"
#include "pipelines/definition/yaml/yaml_tree.hpp"

#include <capnp/dynamic.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// Where a field's value was written, and whether it could be used.
struct field_source {
  source_position where;
  bool valid = false;
};

/// Where every field that was given comes from, by path: "train.batch_size",
/// "sampler.fanouts", "sampler.fanouts.<edge type>".
using field_sources = std::map<std::string, field_source>;

/// Reads trees into a struct of a Cap'n Proto schema by reflection, so that a
/// new field needs no code here. Fields that are right are set; everything that
/// is wrong becomes a problem, and its field keeps what it had. Several trees
/// may be read one after the other: later ones override. Borrows the lists that
/// it adds to. Not thread-safe.
class definition_reader {
public:
  /// @param problems Receives what is wrong.
  /// @param sources Receives where each given field was written.
  definition_reader(std::vector<problem>& problems, field_sources& sources)
    : problems_(problems), sources_(sources) {}

  /// Reads the whole definition; a null node is one without any field.
  void read(const yaml_node& root, capnp::DynamicStruct::Builder into);

  /// Reports fields that are required and were not given.
  /// @param origin The file that should have them.
  void report_missing(capnp::StructSchema schema, const std::string& origin);

private:
  using field = capnp::StructSchema::Field;

  void read_struct(const yaml_node& node, capnp::DynamicStruct::Builder into,
                   const std::string& path);
  void read_field(const yaml_node& node, capnp::DynamicStruct::Builder into,
                  field f, const std::string& path);
  bool read_value(const yaml_node& node, capnp::DynamicStruct::Builder into,
                  field f, const std::string& path);
  bool read_number(const yaml_node& node, capnp::DynamicStruct::Builder into,
                   field f, const std::string& path);
  bool read_text(const yaml_node& node, capnp::DynamicStruct::Builder into,
                 field f, const std::string& path);
  bool read_enum(const yaml_node& node, capnp::DynamicStruct::Builder into,
                 field f, const std::string& path);

  bool read_list(const yaml_node& node, capnp::DynamicStruct::Builder into,
                 field f, const std::string& path);
  bool read_texts(const yaml_node& node, capnp::DynamicStruct::Builder into,
                  field f, const std::string& path);
  bool read_reals(const yaml_node& node, capnp::DynamicStruct::Builder into,
                  field f, const std::string& path);
  bool read_word(const yaml_node& node, capnp::DynamicStruct::Builder into,
                 field f);
  bool check_list(const yaml_node& node, const std::string& path,
                  std::string_view elements);
  bool check_length(const yaml_node& node, field f, const std::string& path);
  bool read_numbers(const yaml_node& node, field f, const std::string& path,
                    std::vector<std::int32_t>& out);
  void read_per_key(const yaml_node& node, capnp::DynamicStruct::Builder into,
                    field f, const std::string& path);
  void read_number_per_key(const yaml_node& node,
                           capnp::DynamicStruct::Builder into, field f,
                           const std::string& path);
  bool read_least(const yaml_node& node, capnp::DynamicStruct::Builder into,
                  field f, const std::string& path);
  bool read_span(const yaml_node& node, capnp::DynamicStruct::Builder into,
                 field f, const std::string& path);
  std::map<std::string, const yaml_node*> entries_of(const yaml_node& node,
                                                     const std::string& path);

  static std::string joined(const std::string& path, std::string_view key);
  void report_unknown(const yaml_node& key, capnp::StructSchema schema,
                      const std::string& path);
  bool report(const source_position& where, std::string text);

  std::vector<problem>& problems_;
  field_sources& sources_;
};

} // namespace graphmill

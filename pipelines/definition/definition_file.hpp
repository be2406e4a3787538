#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "pipelines/definition/definition_reader.hpp"
#include "pipelines/definition/yaml/problem.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// A definition with the place of each field, so that later checks can name the
/// place, too.
struct definition_source {
  definition value; ///< Use it only if there are no problems.
  std::vector<problem> problems;
  std::string file;     ///< The name in problems without another place.
  field_sources fields; ///< Where each given field was written.
  /// The path of the dataset, if `dataset` was written with a '/'. Then `value`
  /// has its last part as the name.
  std::string dataset_path;

  /// Adds a problem.
  void report(source_position where, std::string text);

  /// Where a field was written; otherwise the start of its section or file.
  /// @param path Such as "sampler.fanouts.a__b__c".
  source_position where(const std::string& path) const;

  /// Whether a field has its default or a usable value: otherwise checks with
  /// it are pointless.
  bool usable(const std::string& path) const;
};

/// Reads a definition from a YAML file of at most 256 KiB. It never fails as a
/// whole: everything that is wrong, including unreadable files, is a problem.
/// @param overrides "path=value" each, as given to `--set`: "train.epochs=3",
/// "sampler.fanouts=[5, 5]", "sampler.fanouts.<edge type>=[1, 0]". They win
/// over the file, and later ones over earlier ones.
definition_source read_definition(const std::filesystem::path& file,
                                  std::span<const std::string> overrides = {});

/// The same for text in memory.
/// @param file The source in problems; its stem is the default name.
/// @param grid Like `overrides`, but given to `--grid`, as problems with them
/// say; they win over those.
definition_source parse_definition(std::string_view text,
                                   const std::filesystem::path& file,
                                   std::span<const std::string> overrides = {},
                                   std::span<const std::string> grid = {});

/// `read_definition` for callers that need a definition without problems: the
/// error's message has all problems, a line each.
result<definition_source>
load_definition(const std::filesystem::path& file,
                std::span<const std::string> overrides = {},
                std::span<const std::string> grid = {});

/// The definition as YAML, every field written out: the record of a run.
/// `parse_record` gives an equal one.
std::string definition_yaml(const definition& def);

/// Reads the record of a run, as `parse_definition` reads the file of a user. A
/// field that is newer than the record means what the run computed, not what a
/// new run does.
definition_source parse_record(std::string_view text,
                               std::span<const std::string> overrides = {});

/// `load_definition` for the record in a run folder.
result<definition_source>
load_record(const std::filesystem::path& file,
            std::span<const std::string> overrides = {});

} // namespace graphmill

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

/// A definition as it was read, with where each field came from, so that later
/// checks can name the place, too.
struct definition_source {
  definition value; ///< To be used only if there are no problems.
  std::vector<problem> problems;
  std::string file;     ///< What problems without another place name.
  field_sources fields; ///< Where each field that was given was written.
  /// Where the dataset lies, if `dataset` was written with a '/'; then its last
  /// part alone is the name in `value`.
  std::string dataset_path;

  /// Adds a problem.
  void report(source_position where, std::string text);

  /// Where a field was written; if it was not, its section's or the file's
  /// begin. @param path Such as "sampler.fanouts.a__b__c".
  source_position where(const std::string& path) const;

  /// Whether a field has its default or a usable value: checks that involve it
  /// are pointless otherwise.
  bool usable(const std::string& path) const;
};

/// Reads a definition from a YAML file of at most 256 KiB. Never fails as a
/// whole: everything that is wrong, unreadable files included, is a problem.
/// @param overrides "path=value" each, as given to `--set`: "train.epochs=3",
/// "sampler.fanouts=[5, 5]", "sampler.fanouts.<edge type>=[1, 0]". They win
/// over the file, and later ones over earlier ones.
definition_source read_definition(const std::filesystem::path& file,
                                  std::span<const std::string> overrides = {});

/// The same for text that lies in memory.
/// @param file What problems name as its source; its stem is the default name.
/// @param grid As the overrides, but given to `--grid`, as problems with them
/// say; they win over those.
definition_source parse_definition(std::string_view text,
                                   const std::filesystem::path& file,
                                   std::span<const std::string> overrides = {},
                                   std::span<const std::string> grid = {});

/// `read_definition` for callers that only go on without problems: all of them
/// make up the error's message, a line each.
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

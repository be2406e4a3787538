#include "actors/commands/options/definition_options.hpp"

#include <nlohmann/json.hpp>

#include <map>

namespace graphmill {

void add_definition_options(CLI::App& command, definition_options& options) {
  command.add_option("file", options.file, "Pipeline definition (YAML)")
    ->required();
  command.add_option("--data", options.data,
                     "The dataset, or the folder that holds it (default: "
                     "./data)");
  add_override_option(command, options.overrides);
  command.add_flag("--json", options.json, "Print one line of JSON");
}

void add_override_option(CLI::App& command,
                         std::vector<std::string>& overrides) {
  command
    .add_option("--set", overrides,
                "Override a field: --set sampler.replicas=3 (repeatable)")
    ->allow_extra_args(false);
}

nlohmann::json problems_json(const std::string& file,
                             std::span<const problem> problems,
                             const std::string& data) {
  auto list = nlohmann::json::array();
  for (const auto& problem : problems)
    list.push_back({{"origin", problem.where.origin},
                    {"line", problem.where.line},
                    {"column", problem.where.column},
                    {"message", problem.text}});
  nlohmann::json out{
    {"file", file},
    {"valid", problems.empty()},
    {"data", data.empty() ? nlohmann::json() : nlohmann::json(data)},
    {"problems", std::move(list)}};
  if (!problems.empty()) {
    const auto refused = to_error(problems);
    out["error"] = refused.message;
    out["code"] = to_string(refused.code);
  }
  return out;
}

void add_split_option(CLI::App& command, std::string& split,
                      const std::string& help) {
  const std::map<std::string, std::string> same{{"val", "validation"}};
  command.add_option("--split", split, help)
    ->transform(CLI::Transformer(same).description(""))
    ->check(CLI::IsMember({"train", "validation", "test"}))
    ->capture_default_str();
}

std::string one_line(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string wrapped(std::string_view text, std::size_t indent) {
  constexpr std::size_t columns = 80;
  const std::string margin(indent, ' ');
  std::string out = margin;
  auto used = indent;
  while (!text.empty()) {
    const auto space = text.find(' ');
    const auto word = text.substr(0, space);
    if (used > indent && used + 1 + word.size() > columns) {
      out += '\n' + margin;
      used = indent;
    }
    if (used > indent) {
      out += ' ';
      ++used;
    }
    out += word;
    used += word.size();
    text = space == std::string_view::npos ? "" : text.substr(space + 1);
  }
  return out + '\n';
}

} // namespace graphmill

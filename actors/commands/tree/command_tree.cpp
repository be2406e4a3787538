#include "actors/commands/tree/command_tree.hpp"

#include <string_view>

namespace graphmill {

namespace {

/// What stands between two signs, without them; empty if they are not there.
std::string_view between(std::string_view text, std::string_view open,
                         char close) {
  const auto begin = text.find(open);
  if (begin == std::string_view::npos)
    return {};
  text.remove_prefix(begin + open.size());
  return text.substr(0, text.find(close));
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = text.find(',');
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

option_description describe(const CLI::Option& option) {
  option_description out;
  out.positional = option.get_positional();
  if (out.positional)
    out.names = {option.get_name(true)};
  for (const auto& name : option.get_snames())
    out.names.push_back("-" + name);
  for (const auto& name : option.get_lnames())
    out.names.push_back("--" + name);
  out.help = option.get_description();
  out.required = option.get_required();
  out.variable = option.get_envname();
  if (option.get_type_size() == 0) // A flag.
    return out;
  // CLI11 tells what is allowed by this text alone: TEXT:{auto,memory},
  // INT:INT in [1 - 9].
  const auto type = option.get_type_name();
  out.value = type.substr(0, type.find(':'));
  out.choices = split_at_commas(between(type, ":{", '}'));
  if (const auto range = between(type, " in [", ']'); !range.empty())
    out.range = "[" + std::string{range} + "]";
  out.may_lack_value = option.get_expected_min() == 0;
  out.default_value = option.get_default_str();
  return out;
}

command_description describe(const CLI::App& app, const std::string& above) {
  command_description out;
  out.name = app.get_name();
  out.words = above.empty() ? out.name : above + " " + out.name;
  out.help = app.get_description();
  out.footer = app.get_footer();
  for (const auto* option : app.get_options())
    out.options.push_back(describe(*option));
  for (const auto* command : app.get_subcommands(nullptr))
    out.commands.push_back(describe(*command, out.words));
  return out;
}

} // namespace

command_description describe_commands(const CLI::App& app) {
  return describe(app, "");
}

std::vector<const command_description*>
all_commands(const command_description& root) {
  std::vector<const command_description*> out{&root};
  for (const auto& command : root.commands) {
    const auto below = all_commands(command);
    out.insert(out.end(), below.begin(), below.end());
  }
  return out;
}

} // namespace graphmill

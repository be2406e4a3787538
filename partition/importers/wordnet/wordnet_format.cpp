#include "partition/importers/wordnet/wordnet_format.hpp"

#include <charconv>
#include <string>

namespace graphmill::wordnet {

namespace {

constexpr std::array<relation, 26> relation_table{{
  {"!", "antonym"},
  {"@", "hypernym"},
  {"@i", "instance_hypernym"},
  {"~", "hyponym"},
  {"~i", "instance_hyponym"},
  {"#m", "member_holonym"},
  {"#s", "substance_holonym"},
  {"#p", "part_holonym"},
  {"%m", "member_meronym"},
  {"%s", "substance_meronym"},
  {"%p", "part_meronym"},
  {"=", "attribute"},
  {"+", "derivationally_related"},
  {";c", "domain_topic"},
  {"-c", "domain_topic_member"},
  {";r", "domain_region"},
  {"-r", "domain_region_member"},
  {";u", "domain_usage"},
  {"-u", "domain_usage_member"},
  {"*", "entailment"},
  {">", "cause"},
  {"^", "also_see"},
  {"$", "verb_group"},
  {"&", "similar_to"},
  {"<", "participle_of"},
  // The noun of a relational adjective; the adjective of a derived adverb.
  {"\\", "pertainym"},
}};

constexpr std::array<std::string_view, 45> lexicographer_table{
  "adj.all",          "adj.pert",           "adv.all",
  "noun.Tops",        "noun.act",           "noun.animal",
  "noun.artifact",    "noun.attribute",     "noun.body",
  "noun.cognition",   "noun.communication", "noun.event",
  "noun.feeling",     "noun.food",          "noun.group",
  "noun.location",    "noun.motive",        "noun.object",
  "noun.person",      "noun.phenomenon",    "noun.plant",
  "noun.possession",  "noun.process",       "noun.quantity",
  "noun.relation",    "noun.shape",         "noun.state",
  "noun.substance",   "noun.time",          "verb.body",
  "verb.change",      "verb.cognition",     "verb.communication",
  "verb.competition", "verb.consumption",   "verb.contact",
  "verb.creation",    "verb.emotion",       "verb.motion",
  "verb.perception",  "verb.possession",    "verb.social",
  "verb.stative",     "verb.weather",       "adj.ppl",
};

/// Synset types that may stand in each file; `s` is an adjective satellite.
constexpr std::array<std::string_view, 4> types_of_file{"n", "v", "as", "r"};

std::optional<int> file_of(std::string_view type) {
  for (std::size_t file = 0; type.size() == 1 && file < 4; ++file)
    if (types_of_file[file].find(type[0]) != std::string_view::npos)
      return static_cast<int>(file);
  return std::nullopt;
}

/// What a person sees of a field: short, and without control characters.
std::string shown(std::string_view field) {
  std::string out{field.substr(0, 24)};
  for (auto& c : out)
    if (c < ' ' || c > '~')
      c = '?';
  return out;
}

/// Takes the fields of a line one by one.
class field_reader {
public:
  explicit field_reader(std::string_view line) : rest_(line) {}

  result<std::string_view> text(std::string_view name) {
    const auto end = std::min(rest_.find(' '), rest_.size());
    if (end == 0)
      return fail(ec::invalid_data, "the line ends before its {}", name);
    const auto field = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return field;
  }

  /// A number of exactly `digits` digits.
  result<std::uint32_t> number(std::string_view name, std::size_t digits,
                               int base = 10) {
    GRAPHMILL_TRY(const auto field, text(name));
    std::uint32_t value = 0;
    const auto* end = field.data() + field.size();
    const auto [last, code] = std::from_chars(field.data(), end, value, base);
    if (code != std::errc{} || last != end || field.size() != digits)
      return fail(ec::invalid_data, "its {} '{}' is no number of {} {}digits",
                  name, shown(field), digits, base == 16 ? "hexadecimal " : "");
    return value;
  }

  std::string_view rest() const { return rest_; }

private:
  std::string_view rest_;
};

result<pointer> parse_pointer(field_reader& fields) {
  pointer out;
  GRAPHMILL_TRY(const auto symbol, fields.text("pointer symbol"));
  const auto relation = find_relation(symbol);
  if (!relation)
    return fail(ec::invalid_data, "'{}' is no pointer symbol of WordNet",
                shown(symbol));
  GRAPHMILL_TRY(out.offset, fields.number("pointer's synset offset", 8));
  GRAPHMILL_TRY(const auto type, fields.text("pointer's part of speech"));
  const auto file = file_of(type);
  if (!file)
    return fail(ec::invalid_data,
                "'{}' is no part of speech; n, v, a and r are", shown(type));
  GRAPHMILL_TRYV(fields.number("pointer's source and target", 4, 16));
  out.relation = *relation;
  out.file = *file;
  return out;
}

} // namespace

std::span<const relation> relations() {
  return relation_table;
}

std::optional<int> find_relation(std::string_view symbol) {
  for (std::size_t i = 0; i < relation_table.size(); ++i)
    if (relation_table[i].symbol == symbol)
      return static_cast<int>(i);
  return std::nullopt;
}

std::span<const std::string_view> lexicographer_files() {
  return lexicographer_table;
}

result<synset> parse_synset(std::string_view line, int file) {
  field_reader fields{line};
  synset out;
  GRAPHMILL_TRY(out.offset, fields.number("synset offset", 8));
  GRAPHMILL_TRY(const auto number,
                fields.number("lexicographer file number", 2));
  if (number >= lexicographer_table.size())
    return fail(ec::invalid_data,
                "its lexicographer file number {} is not below {}", number,
                lexicographer_table.size());
  out.lexicographer_file = static_cast<int>(number);
  GRAPHMILL_TRY(const auto type, fields.text("synset type"));
  if (file_of(type) != file)
    return fail(ec::invalid_data,
                "its synset type '{}' does not belong into this file",
                shown(type));
  GRAPHMILL_TRY(const auto words, fields.number("word count", 2, 16));
  for (std::uint32_t i = 0; i < words; ++i) {
    GRAPHMILL_TRY(const auto lemma, fields.text("words"));
    GRAPHMILL_TRYV(fields.text("lexical id"));
    out.lemmas.push_back(lemma);
  }
  GRAPHMILL_TRY(const auto pointers, fields.number("pointer count", 3));
  for (std::uint32_t i = 0; i < pointers; ++i) {
    GRAPHMILL_TRY(const auto parsed, parse_pointer(fields));
    out.pointers.push_back(parsed);
  }
  // Verbs have sentence frames here, which nothing of ours uses.
  const auto bar = fields.rest().find("| ");
  if (bar == std::string_view::npos)
    return fail(ec::invalid_data, "it has no gloss");
  out.gloss = fields.rest().substr(bar + 2);
  return out;
}

std::string_view next_definition(std::string_view& gloss) {
  const auto quote = std::min(gloss.find('"'), gloss.size());
  const auto definition = gloss.substr(0, quote);
  const auto close = gloss.find('"', quote + 1);
  gloss = close == std::string_view::npos ? std::string_view{}
                                          : gloss.substr(close + 1);
  return definition;
}

} // namespace graphmill::wordnet

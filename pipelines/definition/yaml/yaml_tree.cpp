#include "pipelines/definition/yaml/yaml_tree.hpp"

#include "messages/base/printable.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace graphmill {

namespace {

/// Builds the tree from yaml-cpp's events. What is refused is thrown, in the
/// library's own type, and caught in `parse_yaml`.
class tree_builder : public YAML::EventHandler {
public:
  tree_builder(const std::string& origin, bool lines)
    : origin_(origin), lines_(lines) {}

  yaml_node take() { return std::move(root_); }

  source_position place(const YAML::Mark& mark) const {
    if (!lines_)
      return {origin_, 0, 0};
    // Marks count from 0, and are negative where the parser knows no place.
    return {origin_, mark.line < 0 ? 1 : mark.line + 1,
            mark.column < 0 ? 1 : mark.column + 1};
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check(mark, "", anchor);
    attach(yaml_node{yaml_node::kind::null, place(mark), {}, {}, {}});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw YAML::ParserException(mark, "aliases are not supported here");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& value) override {
    check(mark, tag, anchor);
    if (value.find('\0') != std::string::npos)
      throw YAML::ParserException(mark,
                                  "NUL characters are not supported here");
    attach(yaml_node{yaml_node::kind::scalar, place(mark), value, {}, {}});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, yaml_node::kind::list);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, yaml_node::kind::map);
  }
  void OnMapEnd() override { close(); }

private:
  void check(const YAML::Mark& mark, const std::string& tag,
             YAML::anchor_t anchor) {
    if (anchor != 0)
      throw YAML::ParserException(mark, "anchors are not supported here");
    // "?" is a plain scalar, "!" a quoted one.
    if (!tag.empty() && tag != "?" && tag != "!")
      throw YAML::ParserException(mark, "tags are not supported here");
    if (++nodes_ > yaml_node_limit)
      throw YAML::ParserException(
        mark, fmt::format("more than {} values", yaml_node_limit));
  }

  void open(const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor, yaml_node::kind type) {
    check(mark, tag, anchor);
    if (open_.size() >= yaml_depth_limit)
      throw YAML::ParserException(
        mark, fmt::format("nested deeper than {} levels", yaml_depth_limit));
    open_.push_back(yaml_node{type, place(mark), {}, {}, {}});
  }

  void close() {
    auto node = std::move(open_.back());
    open_.pop_back();
    attach(std::move(node));
  }

  /// Keys and values of a map come in turn.
  void attach(yaml_node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    auto& parent = open_.back();
    const auto is_key = parent.type == yaml_node::kind::map
                        && parent.keys.size() == parent.items.size();
    (is_key ? parent.keys : parent.items).push_back(std::move(node));
  }

  const std::string& origin_;
  const bool lines_;
  std::size_t nodes_ = 0;
  std::vector<yaml_node> open_; ///< Collections begun and not yet ended.
  yaml_node root_;
};

struct bad_byte {
  std::size_t offset = 0;
  const char* problem = "";
};

std::optional<bad_byte> find_bad_byte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r')
        || byte == 0x7f)
      return bad_byte{i, "a control character"};
    const auto length = utf8_length(text.substr(i));
    if (length == 0)
      return bad_byte{i, "a byte that is not UTF-8"};
    i += length;
  }
  return std::nullopt;
}

YAML::Mark mark_of(std::string_view text, std::size_t offset) {
  YAML::Mark mark;
  for (const char c : text.substr(0, offset)) {
    ++mark.column;
    if (c == '\n') {
      ++mark.line;
      mark.column = 0;
    }
  }
  return mark;
}

/// Whether a line, counted from 0, is indented by a tab, as YAML must not be.
bool indented_by_tab(std::string_view text, int line) {
  for (; line > 0 && !text.empty(); --line)
    text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
  const auto begin = text.find_first_not_of(' ');
  return begin != text.npos && text[begin] == '\t';
}

} // namespace

std::optional<yaml_node> parse_yaml(std::string_view text,
                                    const std::string& origin, bool lines,
                                    std::vector<problem>& problems) {
  tree_builder builder{origin, lines};
  const auto refuse = [&](const YAML::Mark& mark, std::string reason) {
    problems.push_back({builder.place(mark), std::move(reason)});
    return std::nullopt;
  };
  if (text.size() > yaml_size_limit)
    return refuse({}, fmt::format("larger than {} KiB, which no definition is",
                                  yaml_size_limit >> 10));
  if (const auto bad = find_bad_byte(text))
    return refuse(mark_of(text, bad->offset),
                  fmt::format("{}: this is not a text file", bad->problem));
  try {
    std::istringstream stream{std::string{text}};
    YAML::Parser parser{stream};
    if (!parser.HandleNextDocument(builder))
      return yaml_node{yaml_node::kind::null, builder.place({}), {}, {}, {}};
    auto root = builder.take();
    tree_builder second{origin, lines};
    if (parser.HandleNextDocument(second))
      return refuse({}, "more than one YAML document in the file");
    return root;
  } catch (const YAML::Exception& broken) {
    if (indented_by_tab(text, broken.mark.line))
      return refuse(broken.mark, "not valid YAML: a tab before what stands "
                                 "here; indent with spaces");
    return refuse(broken.mark,
                  format_printable("not valid YAML: {}", broken.msg));
  } catch (const std::exception& broken) {
    return refuse({}, fmt::format("cannot be read as YAML: {}", broken.what()));
  }
}

std::string shown(const yaml_node& node) {
  switch (node.type) {
  case yaml_node::kind::scalar:
    return in_quotes(node.text);
  case yaml_node::kind::list:
    return "a list";
  case yaml_node::kind::map:
    return "a map";
  default:
    return "empty";
  }
}

} // namespace graphmill

#include "config/yaml_tree.h"

#include <algorithm>
#include <exception>
#include <istream>
#include <streambuf>
#include <unordered_map>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

namespace sluice::config {
namespace {

Position position_of(const YAML::Mark& mark) {
  if (mark.is_null() || mark.line < 0 || mark.column < 0) return {};
  return {static_cast<std::uint32_t>(mark.line) + 1, static_cast<std::uint32_t>(mark.column) + 1};
}

// Leaves the parser for good: yaml-cpp has no other way to be stopped. Caught in parse_yaml.
struct GiveUp : std::exception {};

class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* const begin = const_cast<char*>(text.data());  // never written through: there is no put area
    setg(begin, begin, begin + text.size());
  }
};

// Builds the tree from yaml-cpp's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& file, Problems& problems) : file_(file), problems_(problems) {}

  Node take() { return std::move(root_); }
  void report(Position at, std::string key, std::string message, std::string hint = {}) {
    problems_.push_back(
        {file_, at.line, at.column, Severity::Error, std::move(key), std::move(message), std::move(hint)});
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { place(mark, Node::Kind::Null, {}); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    report(position_of(mark), "", "aliases (*name) are not accepted", "write the value out");
    place(mark, Node::Kind::Null, {});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    const bool plain = tag == "?";  // "!" marks a quoted scalar
    const bool null = plain && (value.empty() || value == "~" || value == "null" || value == "Null");
    place(mark, null ? Node::Kind::Null : Node::Kind::Scalar, value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, Node::Kind::List);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, Node::Kind::Map);
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or map that has not ended. In a map, `key` holds the key whose value comes next.
  struct Open {
    Node node;
    std::optional<Node::Entry> key;
    std::unordered_map<std::string, Position> seen;
  };

  void open(const YAML::Mark& mark, Node::Kind kind) {
    if (stack_.size() >= kDepthMax) {
      report(position_of(mark), "", "nested deeper than " + std::to_string(kDepthMax) + " levels");
      throw GiveUp();
    }
    count(mark);
    Open opened;
    opened.node.kind = kind;
    opened.node.position = position_of(mark);
    stack_.push_back(std::move(opened));
  }
  void close() {
    Node finished = std::move(stack_.back().node);
    stack_.pop_back();
    deliver(std::move(finished));
  }
  void place(const YAML::Mark& mark, Node::Kind kind, const std::string& scalar) {
    count(mark);
    Node node;
    node.kind = kind;
    node.position = position_of(mark);
    node.scalar = scalar;
    deliver(std::move(node));
  }
  void deliver(Node node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = stack_.back();
    if (parent.node.kind == Node::Kind::List) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      parent.key = as_key(node, parent);
    } else {
      parent.key->value = std::move(node);
      if (!parent.key->key.empty()) parent.node.entries.push_back(std::move(*parent.key));
      parent.key.reset();
    }
  }
  // An empty key marks an entry to be dropped.
  Node::Entry as_key(const Node& node, Open& map) {
    Node::Entry entry;
    entry.position = node.position;
    if (node.kind != Node::Kind::Scalar || node.scalar.empty()) {
      report(node.position, "", "a key must be a word, not " + std::string(kind_word(node.kind)));
      return entry;
    }
    const auto [first, is_new] = map.seen.emplace(node.scalar, node.position);
    if (is_new) {
      entry.key = node.scalar;
    } else {
      report(node.position, node.scalar,
             "given twice; the first time in line " + std::to_string(first->second.line), "remove one");
    }
    return entry;
  }
  void count(const YAML::Mark& mark) {
    if (++node_count_ <= kNodeCountMax) return;
    report(position_of(mark), "", "more than " + std::to_string(kNodeCountMax) + " values");
    throw GiveUp();
  }

  const std::string& file_;
  Problems& problems_;
  Node root_;
  std::vector<Open> stack_;
  std::size_t node_count_ = 0;
};

// yaml-cpp takes a quote that is never closed for closed where the text ends with a line's end.
std::string_view without_trailing_blanks(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return text.substr(0, last == text.npos ? 0 : last + 1);
}

}  // namespace

const Node* Node::find(std::string_view key) const noexcept {
  const auto entry =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
  return entry == entries.end() ? nullptr : &entry->value;
}

std::string_view kind_word(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::Null:
      return "nothing";
    case Node::Kind::Scalar:
      return "a single value";
    case Node::Kind::List:
      return "a list";
    case Node::Kind::Map:
      return "a set of keys";
  }
  return "?";
}

std::optional<Node> parse_yaml(std::string_view text, const std::string& file, Problems& problems) {
  TreeBuilder builder(file, problems);
  if (text.size() > kFileBytesMax) {
    builder.report({}, "", "larger than " + std::to_string(kFileBytesMax >> 20) + " MB");
    return std::nullopt;
  }
  if (const std::size_t nul = text.find('\0'); nul != text.npos) {
    const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    builder.report({static_cast<std::uint32_t>(lines) + 1, 0}, "", "contains a zero byte",
                   "the file is to be plain text in UTF-8");
    return std::nullopt;
  }
  try {
    ViewBuffer buffer(without_trailing_blanks(text));
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return Node{};
    Node root = builder.take();
    TreeBuilder rest(file, problems);
    if (parser.HandleNextDocument(rest)) {
      builder.report(rest.take().position, "", "a second document begins", "remove the line ---");
    }
    return root;
  } catch (const GiveUp&) {
    return std::nullopt;
  } catch (const YAML::Exception& e) {
    builder.report(position_of(e.mark), "", "not valid YAML: " + e.msg);
  } catch (const std::exception& e) {
    builder.report({}, "", std::string("cannot be parsed: ") + e.what());
  }
  return std::nullopt;
}

}  // namespace sluice::config

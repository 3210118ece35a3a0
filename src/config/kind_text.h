#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/nearest.h"
#include "config/fields.h"

// How each kind of value is read from and written to a configuration file. `read` gives "" or what is wrong.
namespace sluice::config {

template <class Kind>
struct KindText {
  static std::string expects(const Limits&);
  static std::string read(const Node&, const Limits&, typename Kind::Value&);
  static std::string print(const typename Kind::Value&);
};

// `"x" is not <expected>`, for anything that a node can be.
std::string not_as_expected(const Node&, const std::string& expected);
// "a, b or c"
std::string list_words(std::span<const std::string_view> words);

template <class E>
struct KindText<kind::Choice<E>> {
  static std::array<std::string_view, EnumWords<E>::words.size()> words() {
    std::array<std::string_view, EnumWords<E>::words.size()> texts;
    std::transform(EnumWords<E>::words.begin(), EnumWords<E>::words.end(), texts.begin(),
                   [](const auto& word) { return word.first; });
    return texts;
  }
  static std::string expects(const Limits&) { return list_words(words()); }
  static std::string read(const Node& node, const Limits& limits, E& value) {
    for (const auto& [word, each] : EnumWords<E>::words)
      if (node.kind == Node::Kind::Scalar && node.scalar == word) return value = each, "";
    const std::string hint = suggestion(node.scalar, words());
    return not_as_expected(node, expects(limits)) + (hint.empty() ? "" : "; " + hint);
  }
  static std::string print(const E& value) { return std::string(word_of(value)); }
};

// A scalar as YAML: bare where that reads back as the same text, else in double quotes.
std::string quoted_if_needed(std::string_view text);

}  // namespace sluice::config

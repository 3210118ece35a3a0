#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/problem.h"

namespace sluice::config {

struct Position {
  std::uint32_t line = 0;  // from 1; 0 = unknown
  std::uint32_t column = 0;
};

// One value of a YAML document, with its place. We keep a tree of our own because yaml-cpp's drops duplicate
// keys and forgets where keys stand.
struct Node {
  enum class Kind { Null, Scalar, List, Map };
  struct Entry;

  Kind kind = Kind::Null;
  Position position;
  std::string scalar;
  std::vector<Node> items;     // of a list
  std::vector<Entry> entries;  // of a map, in the file's order; keys unique

  const Node* find(std::string_view key) const noexcept;
};
struct Node::Entry {
  std::string key;
  Position position;
  Node value;
};

std::string_view kind_word(Node::Kind);  // "a list"

inline constexpr std::size_t kFileBytesMax = std::size_t{4} << 20;
inline constexpr std::size_t kDepthMax = 16;
inline constexpr std::size_t kNodeCountMax = 200'000;

// Reads the one document of `text`. Whatever is wrong becomes a problem: syntax, a second document, aliases
// (they can multiply), duplicate keys, keys that are not plain words, and the maxima above, which are also
// what bounds time and memory. nullopt only where nothing of it can be used. An empty document is Null.
std::optional<Node> parse_yaml(std::string_view text, const std::string& file, Problems& problems);

}  // namespace sluice::config

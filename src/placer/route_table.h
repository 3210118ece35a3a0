#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sluice::placer {

// Finds the route of a request among patterns: segments are words, `:name` (any one segment, not empty), or a
// last `*` (any number of segments, none too). Pure. Of several that match, the most specific counts,
// whatever their order: from left to right a word beats a :name, which beats a *; for the same pattern a
// method beats none. HEAD is looked up as GET. Paths are compared after percent-decoding of what needs no
// encoding (RFC 3986, section 2.3) and removal of the segments . and .., encoded or not; an encoded slash
// separates nothing. So /a/%66eed and /a/x/../feed are /a/feed. Shape:  match() visits a node of the pattern
// tree at most once, and allocates nothing for a path in normal form.
class RouteTable {
 public:
  struct Entry {
    std::string pattern;  // as config checked it
    std::string method;   // "" = any
  };
  RouteTable() = default;
  explicit RouteTable(const std::vector<Entry>& entries);

  // Index of the entry, nullopt when none matches. `path` is without the query.
  std::optional<std::uint32_t> match(std::string_view method, std::string_view path) const;

 private:
  struct Terminal {
    std::string method;
    std::uint32_t route = 0;
  };
  struct Node {
    std::vector<Terminal> ends;       // patterns that end here
    std::vector<Terminal> open_ends;  // ... with a * behind
    std::uint32_t parameter = 0;      // the child for :name; 0 = none, since the root is nobody's child
  };
  struct Edge {
    std::uint32_t from = 0;
    std::string segment;
  };
  struct EdgeView {
    std::uint32_t from = 0;
    std::string_view segment;
  };
  struct EdgeHash {
    using is_transparent = void;
    std::size_t operator()(const EdgeView& edge) const noexcept {
      return std::hash<std::string_view>()(edge.segment) ^ (edge.from * 0x9E3779B97F4A7C15u);
    }
    std::size_t operator()(const Edge& edge) const noexcept {
      return (*this)(EdgeView{edge.from, edge.segment});
    }
  };
  struct EdgeEqual {
    using is_transparent = void;
    static EdgeView view(const Edge& edge) noexcept { return {edge.from, edge.segment}; }
    static EdgeView view(const EdgeView& edge) noexcept { return edge; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const noexcept {
      return view(a).from == view(b).from && view(a).segment == view(b).segment;
    }
  };

  void add(const Entry& entry, std::uint32_t route);
  static std::optional<std::uint32_t> pick(const std::vector<Terminal>& ends,
                                           std::string_view method) noexcept;
  std::optional<std::uint32_t> find(std::uint32_t node, std::string_view rest, std::string_view method) const;

  std::vector<Node> nodes_{Node{}};
  std::unordered_map<Edge, std::uint32_t, EdgeHash, EdgeEqual> edges_;
};

// The path in normal form, as match() compares it. `path` begins with '/'; `scratch` holds the result where
// it differs.
std::string_view normal_path(std::string_view path, std::string& scratch);

}  // namespace sluice::placer

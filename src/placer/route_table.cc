#include "placer/route_table.h"

#include <algorithm>
#include <charconv>

namespace sluice::placer {
namespace {

bool needs_no_encoding(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void append_decoded(std::string_view path, std::string& out) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    unsigned value = 0;
    if (path[i] == '%' && i + 2 < path.size()) {
      const auto [end, error] = std::from_chars(path.data() + i + 1, path.data() + i + 3, value, 16);
      const char decoded = static_cast<char>(value);
      if (error == std::errc() && end == path.data() + i + 3 && needs_no_encoding(decoded)) {
        out += decoded;
        i += 2;
        continue;
      }
    }
    out += path[i];
  }
}

// RFC 3986, section 5.2.4.
void remove_dot_segments(std::string& path) {
  std::string out;
  std::string_view rest = path;
  while (!rest.empty()) {
    rest.remove_prefix(1);  // the slash
    const std::string_view segment = rest.substr(0, rest.find('/'));
    rest.remove_prefix(segment.size());
    const bool last = rest.empty();
    if (segment == "." || segment == "..") {
      if (segment == "..") out.erase(std::min(out.rfind('/'), out.size()));
      if (last) out += '/';
      continue;
    }
    out.append("/").append(segment);
  }
  path = std::move(out);
}

}  // namespace

std::string_view normal_path(std::string_view path, std::string& scratch) {
  if (!path.starts_with('/')) return path;
  const bool encoded = path.find('%') != path.npos;
  if (!encoded && path.find("/.") == path.npos) return path;
  scratch.clear();
  append_decoded(path, scratch);
  if (scratch.find("/.") != scratch.npos) remove_dot_segments(scratch);
  return scratch;
}

RouteTable::RouteTable(const std::vector<Entry>& entries) {
  for (std::size_t i = 0; i < entries.size(); ++i)
    add(entries[i], static_cast<std::uint32_t>(i));
}

void RouteTable::add(const Entry& entry, std::uint32_t route) {
  std::uint32_t at = 0;
  std::string_view rest = entry.pattern;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view segment = rest.substr(0, rest.find('/'));
    rest.remove_prefix(segment.size());
    if (segment == "*") {
      nodes_[at].open_ends.push_back({entry.method, route});
      return;
    }
    const auto next = static_cast<std::uint32_t>(nodes_.size());
    if (segment.starts_with(':')) {
      if (nodes_[at].parameter == 0) {
        nodes_[at].parameter = next;
        nodes_.emplace_back();
      }
      at = nodes_[at].parameter;
    } else {
      const auto [edge, is_new] = edges_.emplace(Edge{at, std::string(segment)}, next);
      if (is_new) nodes_.emplace_back();
      at = edge->second;
    }
  }
  nodes_[at].ends.push_back({entry.method, route});
}

std::optional<std::uint32_t> RouteTable::pick(const std::vector<Terminal>& ends,
                                              std::string_view method) noexcept {
  std::optional<std::uint32_t> any;
  for (const Terminal& end : ends) {
    if (end.method == method) return end.route;
    if (end.method.empty()) any = end.route;
  }
  return any;
}

std::optional<std::uint32_t> RouteTable::match(std::string_view method, std::string_view path) const {
  if (!path.starts_with('/')) return std::nullopt;
  std::string scratch;
  path = normal_path(path, scratch);
  return find(0, path, method == "HEAD" ? "GET" : method);
}

// `rest` is "" or begins with the slash in front of the next segment. Recursion goes no deeper than the
// patterns.
std::optional<std::uint32_t> RouteTable::find(std::uint32_t at, std::string_view rest,
                                              std::string_view method) const {
  const Node& node = nodes_[at];
  if (rest.empty()) {
    if (const auto found = pick(node.ends, method)) return found;
    return pick(node.open_ends, method);
  }
  const std::string_view from_segment = rest.substr(1);
  const std::string_view segment = from_segment.substr(0, from_segment.find('/'));
  const std::string_view behind = from_segment.substr(segment.size());
  if (const auto edge = edges_.find(EdgeView{at, segment}); edge != edges_.end())
    if (const auto found = find(edge->second, behind, method)) return found;
  if (node.parameter != 0 && !segment.empty())
    if (const auto found = find(node.parameter, behind, method)) return found;
  return pick(node.open_ends, method);
}

}  // namespace sluice::placer

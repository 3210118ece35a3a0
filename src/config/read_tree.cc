#include "config/read_tree.h"

#include "config/fields.h"
#include "config/read_record.h"

namespace sluice::config {
namespace {

// "host", "host:port", "[::1]:5432", "/run/postgresql": the port only behind the last colon of a name or a
// bracket.
void read_short_server(const Node& node, const std::string& path, Server& server, Reporter& reporter) {
  std::string_view text = node.scalar;
  std::string_view port;
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  const std::size_t bracket = text.find(']');
  if (bracketed && bracket == text.npos) {
    reporter.error(path, "\"" + node.scalar.substr(0, 80) + "\" has no closing bracket", "write [::1]:5432");
    return;
  }
  if (bracketed) {
    port = text.substr(bracket + 1);
    text = text.substr(1, bracket - 1);
    if (!port.empty() && port.front() == ':') port.remove_prefix(1);
  } else if (colon != text.npos && text.find(':') == colon && !text.starts_with('/') &&
             !text.starts_with('@')) {
    port = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  Node host = node;
  host.scalar = std::string(text);
  read_field(*find_field<Server>("host"), host, path, server, reporter);
  if (port.empty()) return;
  Node number = node;
  number.scalar = std::string(port);
  read_field(*find_field<Server>("port"), number, path + ".port", server, reporter);
}

}  // namespace

template <>
void read_item(const Node& node, const std::string& path, Server& server, Reporter& reporter) {
  if (node.kind == Node::Kind::Scalar) return read_short_server(node, path, server, reporter);
  read_record(node, path, server, reporter);
}

namespace {

// One server, or a list of those that may be it. A list of one names it as surely as no list does.
void read_primary(const Node& value, const std::string& key, Config& config, Reporter& reporter) {
  if (value.kind == Node::Kind::List && value.items.size() != 1)
    return read_list(value, key, config.primary_candidates, reporter);
  const Node& one = value.kind == Node::Kind::List ? value.items.front() : value;
  if (one.kind != Node::Kind::Null) read_item(one, key, config.primary.emplace(), reporter);
}

bool read_list_key(const Node::Entry& entry, Config& config, Reporter& reporter) {
  const std::string& key = entry.key;
  const Node& value = entry.value;
  if (key == "listeners") return read_list(value, key, config.listeners, reporter), true;
  if (key == "replicas") return read_list(value, key, config.replicas, reporter), true;
  if (key == "classes") return read_list(value, key, config.classes, reporter), true;
  if (key == "rules") return read_list(value, key, config.rules, reporter), true;
  if (key == "budgets") return read_list(value, key, config.budgets, reporter), true;
  if (key == "hosts") return read_list(value, key, config.hosts, reporter), true;
  if (key == "databases") return read_list(value, key, config.databases, reporter), true;
  if (key == "users") return read_list(value, key, config.user_settings, reporter), true;
  if (key == "hba") return read_list(value, key, config.hba, reporter), true;
  if (key == "replica_order") {  // its former name
    read_field(*find_field<Options>("order_within_pool"), value, key, config.options, reporter);
    return true;
  }
  if (key == "primary") {
    read_primary(value, key, config, reporter);
    return true;
  }
  return false;
}

}  // namespace

void read_tree(const Node& root, Config& config, Reporter& reporter) {
  read_top<Options>(root, config.options, list_keys(), reporter,
                    [&](const Node::Entry& entry) { return read_list_key(entry, config, reporter); });
}

}  // namespace sluice::config

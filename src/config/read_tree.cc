#include "config/read_tree.h"

#include <algorithm>
#include <charconv>

#include "base/nearest.h"
#include "config/fields.h"

namespace sluice::config {
namespace {

template <class R>
std::vector<std::string_view> keys_of() {
  std::vector<std::string_view> keys;
  for (const Field<R>& field : fields_of<R>())
    keys.push_back(field.key);
  return keys;
}

template <class R>
const Field<R>* find_field(std::string_view key) {
  const auto fields = fields_of<R>();
  const auto field =
      std::find_if(fields.begin(), fields.end(), [&](const Field<R>& f) { return f.key == key; });
  return field == fields.end() ? nullptr : &*field;
}

template <class R>
void read_field(const Field<R>& field, const Node& value, const std::string& path, R& record,
                Reporter& reporter) {
  // PgBouncer users write `key =` for "none": an empty value is the empty text where that is allowed.
  Node node = value;
  if (node.kind == Node::Kind::Null) node.kind = Node::Kind::Scalar, node.scalar.clear();
  const std::string wrong = field.read(record, node, field.limits);
  if (wrong.empty()) return;
  if (value.kind == Node::Kind::Null) {
    reporter.error(path, "has no value; expected " + field.expects(field.limits));
  } else {
    reporter.error(path, wrong);
  }
}

// `path` names the record, "rules[2]"; its keys are reported under it.
template <class R>
void read_record(const Node& node, const std::string& path, R& record, Reporter& reporter) {
  if (node.kind != Node::Kind::Map) {
    const std::vector<std::string_view> keys = keys_of<R>();
    std::string listed;
    for (const std::string_view key : keys)
      listed += (listed.empty() ? "" : ", ") + std::string(key);
    reporter.error(path, std::string(kind_word(node.kind)) + " where a set of keys is expected",
                   "keys: " + listed);
    return;
  }
  for (const Node::Entry& entry : node.entries) {
    if (reporter.full()) return;
    const std::string key_path = path + "." + entry.key;
    reporter.remember(key_path, entry.position);
    if (const Field<R>* const field = find_field<R>(entry.key)) {
      read_field(*field, entry.value, key_path, record, reporter);
    } else {
      reporter.error(key_path, "unknown key", suggestion(entry.key, keys_of<R>()));
    }
  }
  for (const Field<R>& field : fields_of<R>())
    if (field.presence == Presence::Required && node.find(field.key) == nullptr)
      reporter.error(path, "lacks " + std::string(field.key),
                     std::string(field.key) + " is " + field.expects(field.limits));
}

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
  } else if (colon != text.npos && text.find(':') == colon && !text.starts_with('/')) {
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

template <class R>
void read_item(const Node& node, const std::string& path, R& record, Reporter& reporter) {
  read_record(node, path, record, reporter);
}
template <>
void read_item(const Node& node, const std::string& path, Server& server, Reporter& reporter) {
  if (node.kind == Node::Kind::Scalar) return read_short_server(node, path, server, reporter);
  read_record(node, path, server, reporter);
}

template <class R>
void read_list(const Node& node, const std::string& key, std::vector<R>& records, Reporter& reporter) {
  constexpr std::size_t kRecordCountMax = 65'536;
  if (node.kind == Node::Kind::Null) return;
  if (node.kind != Node::Kind::List)
    return reporter.error(key, std::string(kind_word(node.kind)) + " where a list is expected",
                          "begin each element with - ");
  if (node.items.size() > kRecordCountMax)
    return reporter.error(key, std::to_string(node.items.size()) + " elements are more than " +
                                   std::to_string(kRecordCountMax));
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string path = indexed(key, i);
    reporter.remember(path, node.items[i].position);
    read_item(node.items[i], path, records.emplace_back(), reporter);
  }
}

bool read_list_key(const Node::Entry& entry, Config& config, Reporter& reporter) {
  const std::string& key = entry.key;
  const Node& value = entry.value;
  if (key == "listeners") return read_list(value, key, config.listeners, reporter), true;
  if (key == "replicas") return read_list(value, key, config.replicas, reporter), true;
  if (key == "classes") return read_list(value, key, config.classes, reporter), true;
  if (key == "rules") return read_list(value, key, config.rules, reporter), true;
  if (key == "hosts") return read_list(value, key, config.hosts, reporter), true;
  if (key == "databases") return read_list(value, key, config.databases, reporter), true;
  if (key == "hba") return read_list(value, key, config.hba, reporter), true;
  if (key == "primary") {
    if (value.kind != Node::Kind::Null) read_item(value, key, config.primary.emplace(), reporter);
    return true;
  }
  return false;
}

}  // namespace

void read_tree(const Node& root, Config& config, Reporter& reporter) {
  if (root.kind == Node::Kind::Null) return;
  if (root.kind != Node::Kind::Map) {
    reporter.remember("?", root.position);
    return reporter.error("", std::string(kind_word(root.kind)) + " where a set of keys is expected",
                          "write key: value, one per line");
  }
  std::vector<std::string_view> known = keys_of<Options>();
  for (const ListKey& list : list_keys())
    known.push_back(list.key);
  for (const Node::Entry& entry : root.entries) {
    if (reporter.full()) return;
    reporter.remember(entry.key, entry.position);
    if (const Field<Options>* const field = find_field<Options>(entry.key)) {
      read_field(*field, entry.value, entry.key, config.options, reporter);
    } else if (!read_list_key(entry, config, reporter)) {
      reporter.error(entry.key, "unknown key", suggestion(entry.key, known));
    }
  }
}

}  // namespace sluice::config

#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "config/fields.h"
#include "config/reporter.h"
#include "config/yaml_tree.h"

// From a tree to records, by their rows: what the files of router and placer have in common.
namespace sluice::config {

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

// One element of a list. Records that may also be written as one word specialise it.
template <class R>
void read_item(const Node& node, const std::string& path, R& record, Reporter& reporter) {
  read_record(node, path, record, reporter);
}
template <>
void read_item(const Node& node, const std::string& path, Server& server, Reporter& reporter);

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

// The top level: options of O, and what `read_list_key(entry)` knows; it gives false for a key it does not.
template <class O, class ReadListKey>
void read_top(const Node& root, O& options, std::span<const ListKey> lists, Reporter& reporter,
              const ReadListKey& read_list_key) {
  if (root.kind == Node::Kind::Null) return;
  if (root.kind != Node::Kind::Map) {
    reporter.remember("?", root.position);
    return reporter.error("", std::string(kind_word(root.kind)) + " where a set of keys is expected",
                          "write key: value, one per line");
  }
  std::vector<std::string_view> known = keys_of<O>();
  for (const ListKey& list : lists)
    known.push_back(list.key);
  for (const Node::Entry& entry : root.entries) {
    if (reporter.full()) return;
    reporter.remember(entry.key, entry.position);
    if (const Field<O>* const field = find_field<O>(entry.key)) {
      read_field(*field, entry.value, entry.key, options, reporter);
    } else if (!read_list_key(entry)) {
      reporter.error(entry.key, "unknown key", suggestion(entry.key, known));
    }
  }
}

}  // namespace sluice::config

#include "config/diff.h"

#include <algorithm>
#include <iterator>

namespace sluice::config {
namespace {

template <class R>
std::string joined(const std::vector<R>& records) {
  std::string out;
  for (const R& record : records)
    out += print_record(record) + "\n";
  return out;
}

class Differ {
 public:
  void add(std::string key, std::string from, std::string to, Apply apply) {
    changes_.push_back({std::move(key), std::move(from), std::move(to), apply});
  }
  template <class R>
  void compare_list(std::string_view key, const std::vector<R>& from, const std::vector<R>& to) {
    if (joined(from) == joined(to)) return;
    const auto lists = list_keys();
    const auto row = std::find_if(lists.begin(), lists.end(), [&](const ListKey& l) { return l.key == key; });
    add(std::string(key), std::to_string(from.size()) + " entries", std::to_string(to.size()) + " entries",
        row->apply);
  }
  template <class T>
  void compare_contents(const std::string& key, const T& from, const T& to) {
    const bool noted =
        std::any_of(changes_.begin(), changes_.end(), [&](const Change& c) { return c.key == key; });
    if (!noted && !(from == to)) add(key, "contents", "other contents", Apply::OnReload);
  }
  std::vector<Change> take() { return std::move(changes_); }

 private:
  std::vector<Change> changes_;
};

std::vector<Server> primaries(const Config& config) {
  return config.primary ? std::vector<Server>{*config.primary} : config.primary_candidates;
}

}  // namespace

std::vector<Change> diff(const Config& from, const Config& to) {
  Differ differ;
  for (const Field<Options>& field : fields_of<Options>()) {
    std::string before = field.print(from.options);
    std::string after = field.print(to.options);
    if (before == after) continue;
    if (field.secrecy == Secrecy::Secret) before = after = "***";
    differ.add(std::string(field.key), std::move(before), std::move(after), field.apply);
  }
  differ.compare_list("primary", primaries(from), primaries(to));
  differ.compare_list("replicas", from.replicas, to.replicas);
  differ.compare_list("databases", from.databases, to.databases);
  differ.compare_list("users", from.user_settings, to.user_settings);
  differ.compare_list("classes", from.classes, to.classes);
  differ.compare_list("rules", from.rules, to.rules);
  differ.compare_list("budgets", from.budgets, to.budgets);
  differ.compare_list("hosts", from.hosts, to.hosts);
  differ.compare_list("hba", from.hba, to.hba);
  differ.compare_list("listeners", from.listeners, to.listeners);
  differ.compare_contents("auth_file", from.users, to.users);
  differ.compare_contents("server_password_file", from.passwords.server_user, to.passwords.server_user);
  differ.compare_contents("auth_password_file", from.passwords.auth_user, to.passwords.auth_user);
  differ.compare_contents("health_check_password_file", from.passwords.health_check_user,
                          to.passwords.health_check_user);
  differ.compare_contents("patroni_password_file", from.passwords.patroni_user, to.passwords.patroni_user);
  differ.compare_contents("admin_token_file", from.passwords.admin_token, to.passwords.admin_token);
  return differ.take();
}

std::vector<Change> needing_restart(const std::vector<Change>& changes) {
  std::vector<Change> out;
  std::copy_if(changes.begin(), changes.end(), std::back_inserter(out),
               [](const Change& change) { return change.apply == Apply::Restart; });
  return out;
}

}  // namespace sluice::config

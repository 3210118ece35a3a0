#include "router/cluster_rows.h"

#include <algorithm>

#include "config/config.h"

namespace sluice::router {
namespace {

using TimePoint = std::chrono::steady_clock::time_point;

std::optional<std::chrono::milliseconds> age(std::optional<TimePoint> then, TimePoint now) {
  if (!then) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(now - *then);
}

std::string words_of(const cluster::Member& member) {
  return member.role_word + ", " + member.state;
}

admin::ClusterRow primary_row(const ClusterFacts& facts) {
  admin::ClusterRow row;
  row.source = "primary";
  if (finds_primary(*facts.file)) {
    row.name = facts.primary.primary.value_or("");
    row.up = facts.primary.primary.has_value();
    row.state = "found";
    row.problem = facts.primary.reason;
  } else {
    row.name = facts.file->primary->name;
    row.up = !facts.topology.primary_in_recovery;
    row.state = "named";
    if (!row.up) row.problem = "it is in recovery";
  }
  return row;
}

admin::ClusterRow patroni_row(const cluster::PatroniWatch::Status& status, TimePoint now) {
  admin::ClusterRow row;
  row.source = "patroni";
  row.name = status.source;
  row.up = status.answered && status.problem.empty();
  row.problem = status.problem;
  row.age = age(status.answered, now);
  row.good = static_cast<std::int64_t>(status.good);
  row.failed = static_cast<std::int64_t>(status.failed);
  return row;
}

admin::ClusterRow member_row(const cluster::Member& member) {
  admin::ClusterRow row;
  row.source = "member";
  row.name = member.name;
  row.up = member.running();
  row.state = words_of(member);
  if (member.timeline) row.timeline = *member.timeline;
  if (member.lag_bytes) row.lag_bytes = static_cast<std::int64_t>(*member.lag_bytes);
  row.tags = member.tags;
  return row;
}

admin::ClusterRow name_row(const std::string& name, const cluster::DnsWatch::Known& known, TimePoint now) {
  admin::ClusterRow row;
  row.source = "dns";
  row.name = name;
  row.up = known.answered && known.problem.empty();
  for (const std::string& address : known.addresses)
    row.state += (row.state.empty() ? "" : " ") + address;
  row.problem = known.problem;
  row.age = age(known.answered, now);
  row.good = static_cast<std::int64_t>(known.good);
  row.failed = static_cast<std::int64_t>(known.failed);
  return row;
}

}  // namespace

std::vector<admin::ClusterRow> cluster_rows(const ClusterFacts& facts, TimePoint now) {
  std::vector<admin::ClusterRow> rows;
  if (!facts.file) return rows;
  if (config::has_primary(*facts.file)) rows.push_back(primary_row(facts));
  if (!facts.file->options.patroni_urls.empty()) rows.push_back(patroni_row(facts.patroni, now));
  if (facts.topology.patroni)
    for (const cluster::Member& member : facts.topology.patroni->members)
      rows.push_back(member_row(member));
  for (const auto& [name, known] : facts.names)
    rows.push_back(name_row(name, known, now));
  return rows;
}

std::vector<admin::NameRow> name_rows(const ClusterFacts& facts, TimePoint now) {
  std::vector<admin::NameRow> rows;
  for (const auto& [name, known] : facts.names) {
    admin::NameRow& row = rows.emplace_back();
    row.name = name;
    row.ttl = std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(known.next - now).count(), 0);
    for (const std::string& address : known.addresses)
      row.addresses += (row.addresses.empty() ? "" : ",") + address;
  }
  return rows;
}

void fill_member(admin::ReplicaRow& row, const Snapshot& snapshot, const ClusterFacts& facts) {
  if (!facts.file) return;
  for (const config::Server& replica : snapshot.config->replicas)
    if (replica.name == row.name) row.weight = replica.weight;
  row.source = source_of(*facts.file, row.name);
  const cluster::Member* const member = facts.topology.member(row.name);
  if (member == nullptr) return;
  row.member = words_of(*member);
  row.tags = member->tags;
  if (!row.timeline && member->timeline) row.timeline = *member->timeline;
}

}  // namespace sluice::router

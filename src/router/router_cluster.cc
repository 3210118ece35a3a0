// How a running router finds its servers and follows them: Patroni, DNS, and who the primary is.

#include <algorithm>
#include <utility>

#include "config/config.h"
#include "router/derive.h"
#include "router/router.h"
#include "telemetry/log.h"

namespace sluice::router {
namespace {

using cluster::PrimaryFinder;
using telemetry::ClusterSource;
using telemetry::OkOrFailed;
namespace metric = telemetry::metric;

protocol::ErrorFields demoted() {
  return {"FATAL", "57P01", "the server of this session is not the primary any more", "",
          "Connect again; the router sends sessions to the new primary as soon as there is one."};
}

protocol::ErrorFields moved() {
  return {"FATAL", "57P01", "another server has become the primary", "",
          "Connect again; the router assigns the new one."};
}

std::string why_no_leader(const cluster::ClusterView& view) {
  int leaders = 0;
  for (const cluster::Member& member : view.members)
    leaders += member.role == cluster::MemberRole::Leader ? 1 : 0;
  if (leaders == 0) return "Patroni names no leader";
  return leaders == 1 ? "Patroni's leader is not running" : "Patroni names more than one leader";
}

std::vector<std::string> candidates_of(const config::Config& file, const Topology& topology) {
  std::vector<std::string> names;
  for (const config::Server& candidate : file.primary_candidates)
    names.push_back(candidate.name);
  if (!topology.patroni) return names;
  for (const cluster::Member& member : topology.patroni->members)
    names.push_back(member.name);
  return names;
}

OkOrFailed result_of(bool ok) {
  return ok ? OkOrFailed::Ok : OkOrFailed::Failed;
}

}  // namespace

void Router::find_servers() {
  configure_sources(*snapshot());
  follow_primary(*snapshot());
  monitor_->configure(monitored_servers(*snapshot(), *file_config_, topology_),
                      monitor_settings(snapshot()->options()));
  publish_cluster();
}

// Takes file_config_ in: whom to ask, and whose word counts.
void Router::configure_sources(const Materials& materials) {
  const config::Options& options = file_config_->options;
  cluster::PatroniWatch::Settings patroni;
  patroni.from = materials.patroni;
  patroni.tls = materials.patroni_tls;
  patroni.interval = options.patroni_interval;
  patroni.timeout = options.patroni_timeout;
  patroni_.configure(std::move(patroni));
  if (options.patroni_urls.empty()) topology_.patroni.reset();

  cluster::DnsWatch::Settings dns;
  dns.ttl = options.dns_max_ttl;
  dns.retry = options.dns_nxdomain_ttl;
  for (const config::Server& replica : file_config_->replicas)
    if (replica.discover == config::Discover::Dns) dns.names.push_back(replica.host);
  dns_.configure(std::move(dns));
  topology_.addresses.clear();
  for (const auto& [name, known] : dns_.known())
    topology_.addresses.emplace(name, known.addresses);

  (void)primary_finder_.set_candidates(candidates_of(*file_config_, topology_),
                                       static_cast<int>(options.health_check_fall));
  if (options.patroni_urls.empty()) {
    (void)primary_finder_.accept_any();
  } else if (!topology_.patroni) {
    (void)primary_finder_.nominate(std::nullopt, "Patroni has not answered yet");
  }
  topology_.primary = primary_finder_.status().primary;
  if (!finds_primary(*file_config_)) return;
  topology_.primary_in_recovery = false;
  monitor_->set_primary(topology_.primary.value_or(""));
}

void Router::dns_answered(bool answered, bool changed) {
  control_metrics_->count(metric::cluster_questions_total, ClusterSource::Dns, result_of(answered));
  if (!changed) return publish_cluster();
  for (const auto& [name, known] : dns_.known())
    topology_.addresses.insert_or_assign(name, known.addresses);
  topology_changed();
}

void Router::patroni_answered(const cluster::ClusterView& view) {
  control_metrics_->count(metric::cluster_questions_total, ClusterSource::Patroni, OkOrFailed::Ok);
  const bool news = topology_.patroni != view;
  topology_.patroni = view;
  const cluster::Member* const leader = view.leader();
  bool moved_on = primary_finder_.set_candidates(candidates_of(*file_config_, topology_),
                                                 static_cast<int>(file_config_->options.health_check_fall));
  moved_on |= primary_finder_.nominate(leader != nullptr ? std::optional(leader->name) : std::nullopt,
                                       why_no_leader(view));
  if (moved_on) {
    primary_found();
  } else if (news) {
    topology_changed();
  } else {
    publish_cluster();
  }
  // Its word is wanted at once, not at its next turn.
  if (leader != nullptr && primary_finder_.status().primary != leader->name)
    monitor_->probe_now(leader->name);
}

void Router::patroni_failed() {
  control_metrics_->count(metric::cluster_questions_total, ClusterSource::Patroni, OkOrFailed::Failed);
  publish_cluster();
}

// What holds is made anew; where the servers are as before, only what is said of them.
void Router::topology_changed() {
  const auto effective = effective_config(file_config_, topology_);
  const SnapshotPtr current = snapshot();
  if (same_servers(*current->config, *effective)) {
    monitor_->configure(monitored_servers(*current, *file_config_, topology_),
                        monitor_settings(current->options()));
  } else {
    log::info("servers changed", {{"replicas", effective->replicas.size()},
                                  {"primary", effective->primary ? effective->primary->name : "none"}});
    apply(effective, *current);
  }
  publish_cluster();
}

void Router::watch_primary(const cluster::ServerHealth& health, bool answered) {
  if (!finds_primary(*file_config_)) return;
  const bool changed = answered ? primary_finder_.on_answer(health.name, health.in_recovery)
                                : primary_finder_.on_silence(health.name);
  // First: whoever is about to open a session there looks at what holds once more when it is open.
  if (changed) primary_found();
  if (!last_primary_ || last_primary_->name != health.name) return;
  if (answered && health.in_recovery == true) {
    leave_primary(demoted(), telemetry::CloseReason::PrimaryMoved);
  } else if (!answered && is_unreachable(health.probed.reason) &&
             health.failures_in_row >= static_cast<int>(file_config_->options.health_check_fall)) {
    leave_primary(server_is_gone(), telemetry::CloseReason::ReplicaDown);
  }
}

// Another one, or none: what primary_finder_ says is carried out.
void Router::primary_found() {
  const PrimaryFinder::Status& status = primary_finder_.status();
  if (status.primary) {
    log::info("primary found", {{"server", *status.primary}});
  } else {
    log::warning("no primary", {{"reason", status.reason}});
  }
  if (topology_.primary != status.primary) control_metrics_->count(metric::primary_changes_total);
  topology_.primary = status.primary;
  monitor_->set_primary(status.primary.value_or(""));
  topology_changed();
}

// A new replica counts as up until it is probed; not so one that is known to take no sessions, or that may be
// the primary as well.
void Router::hold_back(const std::vector<cluster::MonitoredServer>& servers) {
  std::vector<cluster::ServerHealth> known;
  if (monitor_) known = monitor_->servers();
  for (const cluster::MonitoredServer& server : servers) {
    const auto replica = admission_->find_replica(server.name);
    if (!replica || server.role != cluster::ServerRole::Replica) continue;
    const bool is_new =
        std::none_of(known.begin(), known.end(), [&](const auto& each) { return each.name == server.name; });
    if (server.bar != cluster::DownReason::None || (is_new && server.may_be_primary))
      admission_->set_up(*replica, false);
  }
}

// A session could not reach the primary: whoever may be it is asked now.
void Router::seek_primary() {
  if (!finds_primary(*file_config_)) return;
  for (const std::string& name : candidates_of(*file_config_, topology_))
    monitor_->probe_now(name);
  patroni_.ask_now();
}

// Sessions that are on another server than the one that is the primary by `made` end. While there is none
// they stay: which server they are on decides what becomes of them.
void Router::follow_primary(const Snapshot& made) {
  const auto now = made.servers.find(kPrimary);
  if (now == made.servers.end()) return;
  if (last_primary_ && finds_primary(*file_config_) && !(last_primary_->target == now->second.target))
    leave_primary(moved(), telemetry::CloseReason::PrimaryMoved);
  last_primary_ = now->second;
}

void Router::leave_primary(protocol::ErrorFields why, telemetry::CloseReason cause) {
  log::warning("sessions on the former primary end",
               {{"server", last_primary_ ? last_primary_->name : ""}, {"reason", why.message}});
  last_primary_.reset();
  shared_->drop_servers(kPrimary);
  for (const auto& worker : shared_->workers)
    worker->end_sessions([](const Session& session) { return session.on_server(kPrimary); }, why, cause);
}

void Router::primary_is_in_recovery(bool in_recovery) {
  if (topology_.primary_in_recovery == in_recovery || finds_primary(*file_config_)) return;
  topology_.primary_in_recovery = in_recovery;
  if (in_recovery) {
    log::warning("no primary", {{"reason", "the one that the configuration names is in recovery"}});
  } else {
    log::info("primary found", {{"server", file_config_->primary ? file_config_->primary->name : ""}});
  }
  topology_changed();
  if (in_recovery && last_primary_) leave_primary(demoted(), telemetry::CloseReason::PrimaryMoved);
}

bool Router::primary_up() const {
  const SnapshotPtr current = snapshot();
  const auto primary = current->servers.find(kPrimary);
  if (primary == current->servers.end()) return false;
  if (finds_primary(*current->config)) return true;  // it is there by its own word
  const auto known = health(primary->second.name);
  return known && known->status.up;
}

void Router::publish_cluster() {
  ClusterFacts facts{file_config_, topology_, primary_finder_.status(), patroni_.status(), dns_.known()};
  const std::lock_guard lock(mutex_);
  cluster_facts_ = std::move(facts);
}

ClusterFacts Router::cluster_facts() const {
  const std::lock_guard lock(mutex_);
  return cluster_facts_;
}

void Router::sample_cluster(telemetry::Samples& samples) const {
  const ClusterFacts facts = cluster_facts();
  if (!facts.file) return;
  if (config::has_primary(*facts.file)) samples.set(metric::primary_known, primary_up() ? 1 : 0);
  if (finds_primary(*facts.file))
    samples.set(metric::replica_up, primary_up() ? 1 : 0, telemetry::ServerLabel::primary());
  const auto age = [&](ClusterSource source, std::optional<std::chrono::steady_clock::time_point> answered) {
    if (answered)
      samples.set(metric::cluster_view_age_seconds,
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - *answered).count(),
                  source);
  };
  if (!facts.file->options.patroni_urls.empty()) {
    const bool up = facts.patroni.answered && facts.patroni.problem.empty();
    samples.set(metric::cluster_source_up, up ? 1 : 0, ClusterSource::Patroni);
    age(ClusterSource::Patroni, facts.patroni.answered);
  }
  if (facts.names.empty()) return;
  bool up = true;
  auto oldest = facts.names.begin()->second.answered;
  for (const auto& [name, known] : facts.names) {
    up = up && known.answered && known.problem.empty();
    if (known.answered && (!oldest || *known.answered < *oldest)) oldest = known.answered;
  }
  samples.set(metric::cluster_source_up, up ? 1 : 0, ClusterSource::Dns);
  age(ClusterSource::Dns, oldest);
}

}  // namespace sluice::router

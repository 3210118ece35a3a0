#include <array>
#include <cmath>
#include <cstdio>

#include "admin/view_builder.h"

namespace sluice::admin {
namespace {

View replicas_view() {
  using R = ReplicaRow;
  return list_view<R>(
      "REPLICAS", "Replicas and the primary: pool, sessions, health.", Part::Replicas, &Snapshot::replicas,
      {column<&R::name>("name"),
       column<&R::host>("host"),
       column<&R::port>("port"),
       column<&R::role>("role", "replica or primary."),
       column<&R::pool>("pool", "Class that it serves now, or mixed."),
       column<&R::borrowed>("borrowed", "Whether that class has it by borrowing."),
       column<&R::up>("up", "Whether health checks find it usable."),
       column<&R::draining>("draining"),
       column<&R::sessions>("sessions", "Sessions assigned to it now, of classes that a reload removed too."),
       column<&R::loads>("loads", "The same per class of the configuration."),
       column<&R::servers_active>("sv_active", "Server connections that serve a session."),
       column<&R::servers_idle>("sv_idle", "Kept for a next session."),
       column<&R::in_recovery>("in_recovery"),
       column<&R::lag>("lag_ms", "Replay lag in milliseconds."),
       column<&R::lag_bytes>("lag_bytes"),
       column<&R::probe_last>("probe_us", "Last SELECT 1 of the health check, in microseconds."),
       column<&R::probe_median>("probe_median_us", "Median of the recent ones."),
       column<&R::age>("checked_ms_ago", "Since a check was last answered."),
       column<&R::probe_failures>("failures", "Failed checks in a row."),
       column<&R::sessions_total>("sessions_total", "Sessions ever assigned."),
       column<&R::errors_total>("errors_total", "Failed connects and lost server connections."),
       column<&R::last_error>("last_error"),
       column<&R::weight>("weight", "Its share beside the others of its pool."),
       column<&R::timeline>("timeline"),
       column<&R::source>("source", "Who told of it: file, dns or patroni."),
       column<&R::member>("member", "Patroni's words for its role and state."),
       column<&R::tags>("tags", "Its tags, by Patroni.")});
}

View classes_view() {
  using C = ClassRow;
  return list_view<C>(
      "CLASSES", "Priority classes: parameters, sessions, response times.", Part::Classes, &Snapshot::classes,
      {column<&C::name>("name"), column<&C::priority>("priority", "0 is the highest."),
       column<&C::saturation>("saturation", "Sessions per replica from which the class borrows."),
       column<&C::return_ratio>("return_ratio", "Share of saturation below which it returns a replica."),
       column<&C::floor>("floor", "Replicas it keeps when a higher class borrows."),
       column<&C::target>("target", "Replicas it should have."),
       column<&C::max_sessions>("max_sessions", "0: no limit."),
       column<&C::weight>("weight",
                          "For the policy proportional: as configured, or as weight_target holds it now."),
       column<&C::replicas>("replicas", "Live replicas in its pool now."),
       column<&C::borrowed>("borrowed", "Of these, held by borrowing."), column<&C::sessions>("sessions"),
       column<&C::waiting>("waiting", "Sessions that wait for a replica."),
       column<&C::outcomes>("outcomes", "Decisions by outcome since the start."),
       computed<C>("median_us", ColumnType::Int8, "Median response time, microseconds.",
                   [](const C& c) { return to_cell(c.response.median); }),
       computed<C>("p95_us", ColumnType::Int8, "95th percentile.",
                   [](const C& c) { return to_cell(c.response.p95); }),
       computed<C>("p99_us", ColumnType::Int8, "99th percentile.",
                   [](const C& c) { return to_cell(c.response.p99); })});
}

// Two digits are what a mean of hundreds of requests deserves.
Cell decimal(std::optional<double> value) {
  if (!value) return {};
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", *value);
  return std::string(text.data());
}

View budgets_view() {
  using B = BudgetRow;
  return list_view<B>(
      "BUDGETS", "Shares of the slots, and who used how much of them.", Part::Budgets, &Snapshot::budgets,
      {column<&B::name>("name"), column<&B::mode>("mode", "off, warn or enforce."),
       column<&B::active_share>("active_share", "Of the slots, at a moment; 0: no limit."),
       column<&B::busy_share>("busy_share", "Of their time, over budget_window; 0: no limit."),
       column<&B::active>("active", "Slots that its sessions or transactions have now."),
       column<&B::waiting>("waiting", "Those that wait for one."),
       computed<B>("busy", ColumnType::Text, "Slots that it had on average over budget_window.",
                   [](const B& b) { return decimal(b.busy); }),
       column<&B::refused>("refused", "Since the start, with mode enforce."),
       column<&B::would_be_refused>("would_be_refused", "Since the start, with mode warn.")});
}

View hosts_view() {
  using H = HostRow;
  return list_view<H>(
      "HOSTS", "Compute hosts that clients come from.", Part::Hosts, &Snapshot::hosts,
      {column<&H::name>("name"), column<&H::networks>("networks"), column<&H::sessions>("sessions"),
       column<&H::rtt>("rtt_us", "Round trip to its clients, microseconds: median over their sockets."),
       column<&H::rtt_min>("rtt_min_us", "Shortest round trip."),
       column<&H::rtt_deviation>("rtt_deviation_us", "Mean deviation, delayed acknowledgements included."),
       column<&H::rtt_samples>("rtt_samples", "Sockets read so far."),
       column<&H::age>("measured_ms_ago", "Age of these."),
       column<&H::calls>("calls", "Queries of its sessions, since the start."),
       column<&H::errors>("errors", "Errors that servers sent to them."),
       computed<H>("median_us", ColumnType::Int8, "Median response time of these queries, microseconds.",
                   [](const H& h) { return to_cell(h.response.median); }),
       computed<H>("p95_us", ColumnType::Int8, "95th percentile.",
                   [](const H& h) { return to_cell(h.response.p95); })});
}

View rtt_view() {
  using R = RttRow;
  return list_view<R>(
      "RTT", "What one SELECT 1 costs from each compute host on each server.", Part::Rtt, &Snapshot::rtt,
      {column<&R::host>("host"), column<&R::server>("server"),
       column<&R::rtt>("rtt_us", "Both legs together, microseconds. NULL: not known."),
       column<&R::client_leg>("client_leg_us", "Between the host's clients and the router."),
       column<&R::server_leg>("server_leg_us", "Between the router and the server: median of SELECT 1."),
       column<&R::source>("source", "measured, or calibrated."),
       column<&R::age>("measured_ms_ago", "Age of the older leg."),
       column<&R::samples>("samples", "Of the leg with fewer.")});
}

Cell whole(std::optional<double> value) {
  return value ? Cell(static_cast<std::int64_t>(std::llround(*value))) : Cell();
}

View routes_view() {
  using R = RouteRow;
  return list_view<R>(
      "ROUTES", "Routes that queries name in their sqlcommenter comments.", Part::Routes, &Snapshot::routes,
      {column<&R::name>("name"), column<&R::priority_class>("class", "Of most of its calls."),
       column<&R::host>("host", "Compute host of most of its calls."),
       column<&R::requests>("requests", "Traces of it, seen to their end."),
       computed<R>(
           "n_serial_mean", ColumnType::Text,
           "N_serial: the longest chain of a request's calls, one after another; recent requests count most.",
           [](const R& r) { return decimal(r.n_serial_mean); }),
       computed<R>("n_serial_median", ColumnType::Int8, "Median of N_serial.",
                   [](const R& r) { return whole(r.n_serial_median); }),
       computed<R>("n_serial_p90", ColumnType::Int8, "90th percentile.",
                   [](const R& r) { return whole(r.n_serial_p90); }),
       computed<R>("untraced", ColumnType::Text, "Share of its calls that belong to no known trace.",
                   [](const R& r) { return decimal(r.untraced_share); }),
       column<&R::usable>("usable",
                          "Whether N_serial is to be relied on: requests seen, and untraced at most 0.10."),
       column<&R::calls>("calls", "Queries, and Syncs with their batches."),
       column<&R::errors>("errors", "Of these, with an error."),
       column<&R::response_median>("median_us", "Median response time of a call, microseconds."),
       column<&R::response_p95>("p95_us", "95th percentile."),
       column<&R::age>("seen_ms_ago", "Since its last call.")});
}

View decisions_view() {
  using D = DecisionRow;
  return list_view<D>(
      "DECISIONS", "The last thousand assignments with their reasons, oldest first.", Part::Decisions,
      &Snapshot::decisions,
      {column<&D::number>("number"), column<&D::time>("time"),
       column<&D::client>("client", "id in SHOW CLIENTS."), column<&D::user>("user"),
       column<&D::database>("database"), column<&D::priority_class>("class"),
       column<&D::host>("host", "Compute host."), column<&D::replica>("replica", "NULL when refused."),
       column<&D::outcome>(
           "outcome",
           "own, borrowed_mixed, borrowed_lower, borrowed_higher, fallback, fallback_any, refused."),
       column<&D::reason>("reason", "The outcome in words, with what the policy saw of the class's pool."),
       column<&D::wait>("wait_us", "Time until the decision, microseconds."),
       computed<D>(
           "changes", ColumnType::Text, "Replicas that changed pools by it: returns, then the borrowing.",
           [](const D& d) {
             FieldsList records;
             for (const RoleChangeRow& c : d.changes)
               records.push_back({{"replica", c.replica}, {"from", c.from}, {"to", c.to}, {"kind", c.kind}});
             return Cell(std::move(records));
           })});
}

View role_changes_view() {
  using E = RoleChangeEvent;
  return list_view<E>(
      "ROLE_CHANGES", "Replicas that changed pools within the last hour, oldest first.", Part::RoleChanges,
      &Snapshot::role_changes,
      {column<&E::number>("number"), column<&E::time>("time"),
       computed<E>("replica", ColumnType::Text, {}, [](const E& e) { return to_cell(e.change.replica); }),
       computed<E>("from", ColumnType::Text, "Pool that it was in.",
                   [](const E& e) { return to_cell(e.change.from); }),
       computed<E>("to", ColumnType::Text, "Pool that it came to.",
                   [](const E& e) { return to_cell(e.change.to); }),
       computed<E>("kind", ColumnType::Text, "borrow, or return.",
                   [](const E& e) { return to_cell(e.change.kind); }),
       column<&E::priority_class>("class", "Of the session that was assigned then.")});
}

}  // namespace

std::vector<View> priority_views() {
  std::vector<View> views;
  views.push_back(replicas_view());
  views.push_back(classes_view());
  views.push_back(budgets_view());
  views.push_back(hosts_view());
  views.push_back(rtt_view());
  views.push_back(routes_view());
  views.push_back(decisions_view());
  views.push_back(role_changes_view());
  return views;
}

}  // namespace sluice::admin

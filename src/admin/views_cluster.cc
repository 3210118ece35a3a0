#include "admin/view_builder.h"

namespace sluice::admin {
namespace {

View cluster_view() {
  using C = ClusterRow;
  return list_view<C>(
      "CLUSTER", "Who tells where the servers are, and who the primary is.", Part::Cluster,
      &Snapshot::cluster,
      {column<&C::source>("source", "primary, patroni, dns, or member for each that Patroni tells of."),
       column<&C::name>("name", "The server, the address asked, the name looked up, or the member."),
       column<&C::up>("up", "Whether there is one, or the last question was answered, or the member runs."),
       column<&C::state>("state", "What is known: the member's role and state, the addresses of a name."),
       column<&C::problem>("problem", "Why not. What was known before is kept."),
       column<&C::timeline>("timeline"), column<&C::lag_bytes>("lag_bytes", "By Patroni."),
       column<&C::tags>("tags", "Of the member."),
       column<&C::age>("answered_ms_ago", "Since the last answer."),
       column<&C::good>("answers", "Since the start."), column<&C::failed>("failures", "Since the start.")});
}

}  // namespace

std::vector<View> cluster_views() {
  std::vector<View> views;
  views.push_back(cluster_view());
  return views;
}

}  // namespace sluice::admin

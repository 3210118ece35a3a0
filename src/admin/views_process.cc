#include "admin/view_builder.h"

namespace sluice::admin {
namespace {

View memory_view() {
  using M = MemoryRow;
  return list_view<M>("MEM", "What the process keeps in memory.", Part::Memory, &Snapshot::memory,
                      {column<&M::name>("name"), column<&M::size>("size", "Bytes of one."),
                       column<&M::used>("used", "How many are in use."),
                       column<&M::free>("free", "How many are kept for later."),
                       computed<M>("memtotal", ColumnType::Int8, "Bytes of all.",
                                   [](const M& r) { return Cell(r.size * (r.used + r.free)); })});
}

View names_view() {
  using N = NameRow;
  return list_view<N>("DNS_HOSTS",
                      "Names that are looked up again and again for replicas (discover: dns); others are the "
                      "operating system's business.",
                      Part::Cluster, &Snapshot::names,
                      {column<&N::name>("hostname"), column<&N::ttl>("ttl", "Seconds until the next lookup."),
                       column<&N::addresses>("addrs", "Those of the last lookup that was answered.")});
}

// A view of PgBouncer's whose things Sluice has none of: its columns, never a row.
View empty_view(std::string_view name, std::string_view help, std::vector<Column> columns) {
  View view{name, help, std::nullopt, std::move(columns), {}};
  view.rows = [](const Snapshot&, const ViewContext&) { return std::vector<Row>(); };
  return view;
}

}  // namespace

std::vector<View> process_views() {
  constexpr ColumnType kText = ColumnType::Text, kInt8 = ColumnType::Int8;
  std::vector<View> views;
  views.push_back(memory_view());
  views.push_back(names_view());
  views.push_back(empty_view("DNS_ZONES", "Always empty: zones are not asked for.",
                             {{"zonename", kText, {}}, {"serial", kInt8, {}}, {"count", kInt8, {}}}));
  views.push_back(empty_view(
      "PEERS", "Always empty: all threads of one process answer for each other's cancel keys.",
      {{"peer_id", kInt8, {}}, {"host", kText, {}}, {"port", kInt8, {}}, {"pool_size", kInt8, {}}}));
  views.push_back(empty_view("PEER_POOLS", "Always empty, as PEERS.",
                             {{"peer_id", kInt8, {}},
                              {"cl_active_cancel_req", kInt8, {}},
                              {"cl_waiting_cancel_req", kInt8, {}},
                              {"sv_active_cancel", kInt8, {}},
                              {"sv_login", kInt8, {}}}));
  return views;
}

}  // namespace sluice::admin

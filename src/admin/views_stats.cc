#include "admin/view_builder.h"

namespace sluice::admin {
namespace {

struct Counter {
  std::string_view name;     // in STATS_TOTALS and STATS_AVERAGES
  std::string_view total;    // in STATS
  std::string_view average;  // in STATS
  std::string_view help;
  std::int64_t StatsCounters::*field;
};

using S = StatsCounters;
constexpr Counter kCounters[] = {
    {"server_assignment_count", "total_server_assignment_count", "avg_server_assignment_count",
     "Sessions given a server connection.", &S::server_assignment_count},
    {"xact_count", "total_xact_count", "avg_xact_count", "Transactions.", &S::xact_count},
    {"query_count", "total_query_count", "avg_query_count", "Queries.", &S::query_count},
    {"bytes_received", "total_received", "avg_recv", "Bytes read from clients.", &S::bytes_received},
    {"bytes_sent", "total_sent", "avg_sent", "Bytes written to clients.", &S::bytes_sent},
    {"xact_time", "total_xact_time", "avg_xact_time", "Microseconds in transactions.", &S::xact_time_us},
    {"query_time", "total_query_time", "avg_query_time", "Microseconds in queries.", &S::query_time_us},
    {"wait_time", "total_wait_time", "avg_wait_time",
     "Microseconds that clients waited for a server connection.", &S::wait_time_us},
    {"client_parse_count", "total_client_parse_count", "avg_client_parse_count",
     "Parse messages of clients, in transaction mode; 0 in session mode, which does not count them.",
     &S::client_parse_count},
    {"server_parse_count", "total_server_parse_count", "avg_server_parse_count",
     "Parse messages to servers, in transaction mode.", &S::server_parse_count},
    {"bind_count", "total_bind_count", "avg_bind_count", "Bind messages, in transaction mode.",
     &S::bind_count},
    {"client_login_count", "total_client_login_count", "avg_client_login_count", "Logins of clients.",
     &S::client_login_count},
};

ColumnOf<StatsRow> counter_column(std::string_view name, std::string_view help,
                                  StatsCounters StatsRow::*which, std::int64_t StatsCounters::*field) {
  return computed<StatsRow>(name, ColumnType::Int8, help,
                            [which, field](const StatsRow& row) { return Cell((row.*which).*field); });
}

View stats_view() {
  std::vector<ColumnOf<StatsRow>> columns{column<&StatsRow::database>("database")};
  for (const Counter& c : kCounters)
    columns.push_back(counter_column(c.total, c.help, &StatsRow::total, c.field));
  for (const Counter& c : kCounters)
    columns.push_back(counter_column(c.average, {}, &StatsRow::average, c.field));
  // What PgBouncer before 1.8 had in place of total_query_count: Debian's exporter reads it.
  columns.push_back(counter_column("total_requests", "The same as total_query_count, for old exporters.",
                                   &StatsRow::total, &StatsCounters::query_count));
  return list_view<StatsRow>("STATS", "Totals and averages per database.", Part::Stats, &Snapshot::stats,
                             std::move(columns));
}

View single_view(std::string_view name, std::string_view help, StatsCounters StatsRow::*which) {
  std::vector<ColumnOf<StatsRow>> columns{column<&StatsRow::database>("database")};
  for (const Counter& c : kCounters)
    columns.push_back(counter_column(c.name, c.help, which, c.field));
  return list_view<StatsRow>(name, help, Part::Stats, &Snapshot::stats, std::move(columns));
}

View totals_view() {
  View view{"TOTALS", "The same, summed over the databases.", Part::Stats, {}, {}};
  view.columns = {{"name", ColumnType::Text, {}}, {"value", ColumnType::Int8, {}}};
  view.rows = [](const Snapshot& snapshot, const ViewContext&) {
    std::vector<Row> rows;
    for (const auto which : {&StatsRow::total, &StatsRow::average}) {
      for (const Counter& c : kCounters) {
        std::int64_t sum = 0;
        for (const StatsRow& row : snapshot.stats)
          sum += (row.*which).*c.field;
        rows.push_back({std::string(which == &StatsRow::total ? c.total : c.average), sum});
      }
    }
    return rows;
  };
  return view;
}

}  // namespace

std::vector<View> stats_views() {
  std::vector<View> views;
  views.push_back(stats_view());
  views.push_back(single_view("STATS_TOTALS", "Counters per database since the start.", &StatsRow::total));
  views.push_back(single_view("STATS_AVERAGES",
                              "The same per second; xact_time and query_time per transaction and per query.",
                              &StatsRow::average));
  views.push_back(totals_view());
  return views;
}

}  // namespace sluice::admin

#include "admin/view_builder.h"

namespace sluice::admin {
namespace {

View pools_view() {
  return list_view<PoolRow>(
      "POOLS", "Sessions and server connections per database and user.", Part::Pools, &Snapshot::pools,
      {column<&PoolRow::database>("database"), column<&PoolRow::user>("user"),
       column<&PoolRow::cl_active>("cl_active", "Sessions that have a server connection."),
       column<&PoolRow::cl_waiting>("cl_waiting", "Sessions that wait for a replica or a server connection."),
       column<&PoolRow::cl_active_cancel_req>("cl_active_cancel_req",
                                              "CancelRequests forwarded, not yet done."),
       column<&PoolRow::cl_waiting_cancel_req>("cl_waiting_cancel_req", "CancelRequests not yet forwarded."),
       column<&PoolRow::sv_active>("sv_active", "Server connections that serve a session."),
       column<&PoolRow::sv_active_cancel>("sv_active_cancel", "Connections that carry a CancelRequest."),
       column<&PoolRow::sv_being_canceled>("sv_being_canceled", "Held back until a CancelRequest has ended."),
       column<&PoolRow::sv_idle>("sv_idle", "Reset and kept for a next session."),
       column<&PoolRow::sv_used>("sv_used"), column<&PoolRow::sv_tested>("sv_tested", "Being reset."),
       column<&PoolRow::sv_login>("sv_login", "Being opened."),
       computed<PoolRow>("maxwait", ColumnType::Int8, "Seconds that the oldest waiting session has waited.",
                         [](const PoolRow& r) { return Cell(whole_seconds(r.maxwait)); }),
       computed<PoolRow>("maxwait_us", ColumnType::Int8, "Its microseconds.",
                         [](const PoolRow& r) { return Cell(rest_micros(r.maxwait)); }),
       column<&PoolRow::pool_mode>("pool_mode"), fixed<PoolRow>("load_balance_hosts", Cell{})});
}

View databases_view() {
  using Db = DatabaseRow;
  return list_view<Db>(
      "DATABASES", "Databases that clients may ask for.", Part::Databases, &Snapshot::databases,
      {column<&Db::name>("name", "As clients call it; * is any other."), column<&Db::host>("host"),
       column<&Db::port>("port"), column<&Db::database>("database", "Its name on the server."),
       fixed<Db>("force_user", Cell{}), fixed<Db>("pool_size", std::int64_t{0}),
       fixed<Db>("min_pool_size", std::int64_t{0}), fixed<Db>("reserve_pool_size", std::int64_t{0}),
       fixed<Db>("server_lifetime", Cell{}), column<&Db::pool_mode>("pool_mode"),
       fixed<Db>("load_balance_hosts", Cell{}),
       column<&Db::max_connections>("max_connections", "In use at a time; 0: no limit."),
       column<&Db::current_connections>("current_connections", "Server connections."),
       column<&Db::max_client_connections>("max_client_connections", "0: no limit."),
       column<&Db::current_client_connections>("current_client_connections"),
       computed<Db>("paused", ColumnType::Int8, "1: PAUSE or KILL named it, or all.",
                    [](const Db& r) { return Cell(std::int64_t{r.paused}); }),
       computed<Db>("disabled", ColumnType::Int8, "1: DISABLE named it.",
                    [](const Db& r) { return Cell(std::int64_t{r.disabled}); }),
       column<&Db::target>("target", "replicas or primary."), fixed<Db>("reserve_pool", std::int64_t{0})});
}

View users_view() {
  using U = UserRow;
  return list_view<U>("USERS", "Users known to the router.", Part::Users, &Snapshot::users,
                      {column<&U::name>("name"), fixed<U>("pool_size", Cell{}),
                       fixed<U>("reserve_pool_size", Cell{}), fixed<U>("pool_mode", Cell{}),
                       column<&U::max_connections>("max_user_connections", "In use at a time; 0: no limit."),
                       column<&U::current_connections>("current_connections", "Server connections."),
                       column<&U::max_client_connections>("max_user_client_connections", "0: no limit."),
                       column<&U::current_client_connections>("current_client_connections")});
}

View lists_view() {
  View view{"LISTS", "How many there are of each thing.", Part::Lists, {}, {}};
  view.columns = {{"list", ColumnType::Text, {}}, {"items", ColumnType::Int8, {}}};
  view.rows = [](const Snapshot& snapshot, const ViewContext&) {
    const ListsRow& l = snapshot.lists;
    const std::pair<std::string_view, std::int64_t> items[] = {{"databases", l.databases},
                                                               {"users", l.users},
                                                               {"peers", 0},
                                                               {"pools", l.pools},
                                                               {"peer_pools", 0},
                                                               {"free_clients", 0},
                                                               {"used_clients", l.used_clients},
                                                               {"login_clients", l.login_clients},
                                                               {"free_servers", l.free_servers},
                                                               {"used_servers", l.used_servers},
                                                               {"dns_names", l.names},
                                                               {"dns_zones", 0},
                                                               {"dns_queries", 0},
                                                               {"dns_pending", 0},
                                                               {"replicas", l.replicas},
                                                               {"replicas_up", l.replicas_up},
                                                               {"classes", l.classes},
                                                               {"hosts", l.hosts}};
    std::vector<Row> rows;
    for (const auto& [name, count] : items)
      rows.push_back({std::string(name), count});
    return rows;
  };
  return view;
}

View config_view() {
  using C = ConfigRow;
  return list_view<C>(
      "CONFIG", "Options, their values and defaults; secrets are hidden.", Part::Config, &Snapshot::config,
      {column<&C::key>("key"), column<&C::value>("value"), column<&C::default_value>("default"),
       column<&C::changeable>("changeable", "Whether RELOAD applies a change.")});
}

View state_view() {
  View view{"STATE", "Whether the router takes new sessions.", Part::State, {}, {}};
  view.columns = {{"key", ColumnType::Text, {}}, {"value", ColumnType::Text, {}}};
  view.rows = [](const Snapshot& snapshot, const ViewContext&) {
    const StateRow& s = snapshot.state;
    const std::string no = "no";
    return std::vector<Row>{{std::string("active"), !s.shutting_down && !s.paused},
                            {std::string("paused"), s.paused},
                            {std::string("suspended"), no},
                            {std::string("ready"), s.ready},
                            {std::string("reason"), s.reason},
                            {std::string("shutting_down"), s.shutting_down},
                            {std::string("started"), time_text(s.started)},
                            {std::string("config_loaded"), time_text(s.config_loaded)}};
  };
  return view;
}

}  // namespace

std::vector<View> pgbouncer_views() {
  std::vector<View> views;
  views.push_back(pools_view());
  views.push_back(databases_view());
  views.push_back(users_view());
  views.push_back(lists_view());
  views.push_back(config_view());
  views.push_back(state_view());
  return views;
}

}  // namespace sluice::admin

#include <algorithm>
#include <iterator>

#include "admin/view_builder.h"

namespace sluice::admin {
namespace {

constexpr char kClient = 'C';
constexpr char kServer = 'S';

char other_kind(char kind) {
  return kind == kClient ? kServer : kClient;
}

// PgBouncer prints addresses of its own memory here. Ours is made from the id: it serves to join the two
// views.
std::string pointer_text(char kind, std::uint64_t id) {
  if (id == 0) return {};
  return kind + std::to_string(id);
}

// A connection with what it is: 'C' or 'S'.
struct Socket {
  const ConnectionRow& row;
  char kind;
};

struct SocketColumn {
  Column column;
  std::function<Cell(const Socket&)> get;
};

template <auto Member>
SocketColumn member(std::string_view name, std::string_view help = {}) {
  using Field = typename MemberRecord<Member>::Field;
  return {{name, ColumnTypeOf<Field>::value, help}, [](const Socket& s) { return to_cell(s.row.*Member); }};
}

SocketColumn number(std::string_view name, std::string_view help, std::function<Cell(const Socket&)> get) {
  return {{name, ColumnType::Int8, help}, std::move(get)};
}

SocketColumn text(std::string_view name, std::string_view help, std::function<Cell(const Socket&)> get) {
  return {{name, ColumnType::Text, help}, std::move(get)};
}

std::vector<SocketColumn> common_columns(bool whole_state) {
  using R = ConnectionRow;
  return {
      text("type", "C: client, S: server connection.",
           [](const Socket& s) { return Cell(std::string(1, s.kind)); }),
      member<&R::user>("user"),
      member<&R::database>("database"),
      text("replication", "none or logical.",
           [](const Socket& s) { return Cell(std::string(s.row.replication ? "logical" : "none")); }),
      text("state", {},
           [whole_state](const Socket& s) {
             const std::string_view prefix = !whole_state ? "" : s.kind == kClient ? "cl_" : "sv_";
             return Cell(std::string(prefix) + s.row.state);
           }),
      member<&R::addr>("addr"),
      member<&R::port>("port"),
      member<&R::local_addr>("local_addr"),
      member<&R::local_port>("local_port"),
      member<&R::connect_time>("connect_time"),
      member<&R::request_time>("request_time"),
      number("wait", "Seconds it has waited.",
             [](const Socket& s) { return Cell(whole_seconds(s.row.wait)); }),
      number("wait_us", "Its microseconds.", [](const Socket& s) { return Cell(rest_micros(s.row.wait)); }),
      number("close_needed", "1: closed as soon as it is free.",
             [](const Socket& s) { return Cell(std::int64_t{s.row.close_needed}); }),
      text("ptr", "Name of this connection for link.",
           [](const Socket& s) { return Cell(pointer_text(s.kind, s.row.id)); }),
      text("link", "ptr of the other side.",
           [](const Socket& s) { return Cell(pointer_text(other_kind(s.kind), s.row.link)); }),
      member<&R::remote_pid>("remote_pid", "Process id of the server's backend."),
      member<&R::tls>("tls"),
      member<&R::application_name>("application_name", "As given at the login; a SET is not followed."),
      member<&R::prepared_statements>("prepared_statements", "In transaction mode; 0 in session mode."),
      member<&R::id>("id", "For KILL_CLIENT."),
  };
}

std::vector<SocketColumn> own_columns() {
  using R = ConnectionRow;
  return {member<&R::priority_class>("class", "Priority class."),
          member<&R::host>("host", "Compute host it came from."),
          member<&R::replica>("replica", "Replica it is assigned to."),
          member<&R::pinned>("pinned", "Why it stays on its server between transactions."),
          member<&R::channels>("channels", "What it listens to in transaction mode, without being pinned.")};
}

// Positions in PgBouncer's buffers. A session here holds one only while bytes pass through.
std::vector<SocketColumn> buffer_columns() {
  std::vector<SocketColumn> columns;
  for (const std::string_view name :
       {"recv_pos", "pkt_pos", "pkt_remain", "send_pos", "send_remain", "pkt_avail", "send_avail"})
    columns.push_back(number(name, "Always 0: kept for PgBouncer's tools.",
                             [](const Socket&) { return Cell(std::int64_t{0}); }));
  return columns;
}

// What PgBouncer hands to its successor. Ours takes over listening sockets alone, and secrets are never
// shown.
std::vector<SocketColumn> descriptor_columns() {
  using R = ConnectionRow;
  std::vector<SocketColumn> columns{
      member<&R::fd>("fd", "Number of its descriptor in the router."),
      text("task", "client or server.",
           [](const Socket& s) { return Cell(std::string(s.kind == kClient ? "client" : "server")); }),
      member<&R::user>("user"),
      member<&R::database>("database"),
      member<&R::addr>("addr"),
      member<&R::port>("port"),
      number("cancel", "Never shown: it is a secret.", [](const Socket&) { return Cell{}; }),
      number("link", "Descriptor of the other side; not told.", [](const Socket&) { return Cell{}; })};
  for (const std::string_view name : {"client_encoding", "std_strings", "datestyle", "timezone", "password",
                                      "scram_client_key", "scram_server_key"})
    columns.push_back(text(name, "Never shown.", [](const Socket&) { return Cell{}; }));
  return columns;
}

enum class Show { All, Busy };

View socket_view(std::string_view name, std::string_view help, Part part, std::string_view kinds,
                 std::vector<SocketColumn> columns, Show show = Show::All) {
  View view{name, help, part, {}, {}};
  for (const SocketColumn& c : columns)
    view.columns.push_back(c.column);
  view.rows = [kinds, show, columns = std::move(columns)](const Snapshot& snapshot, const ViewContext&) {
    std::vector<Row> rows;
    for (const char kind : kinds) {
      for (const ConnectionRow& connection : kind == kClient ? snapshot.clients : snapshot.servers) {
        if (show == Show::Busy && !connection.busy) continue;
        Row& row = rows.emplace_back();
        row.reserve(columns.size());
        for (const SocketColumn& c : columns)
          row.push_back(c.get({connection, kind}));
      }
    }
    return rows;
  };
  return view;
}

std::vector<SocketColumn> joined(std::vector<SocketColumn> first, std::vector<SocketColumn> second) {
  std::move(second.begin(), second.end(), std::back_inserter(first));
  return first;
}

View listeners_view() {
  using L = ListenerRow;
  return list_view<L>(
      "LISTENERS", "Server connections that listen for clients in transaction mode.", Part::Listeners,
      &Snapshot::listeners,
      {column<&L::database>("database", "Its name on the server."),
       column<&L::encoding>("encoding", "client_encoding; empty: the server's own."),
       column<&L::user>("user", "Who it logged in as."),
       column<&L::remote_pid>("remote_pid", "Process id of its backend; 0 while it is not connected."),
       column<&L::channels>("channels", "Channels that clients listen to."),
       column<&L::notifications>("notifications", "Received, each once."),
       column<&L::reconnects>("reconnects", "Times that it was lost.")});
}

}  // namespace

std::vector<View> connection_views() {
  const auto plain = joined(common_columns(false), own_columns());
  const auto sockets = joined(joined(common_columns(true), buffer_columns()), own_columns());
  std::vector<View> views;
  views.push_back(socket_view("CLIENTS", "Clients, one row each.", Part::Clients, "C", plain));
  views.push_back(socket_view("SERVERS", "Server connections, one row each.", Part::Servers, "S", plain));
  views.push_back(
      socket_view("SOCKETS", "Clients and server connections together.", Part::Sockets, "CS", sockets));
  views.push_back(socket_view("ACTIVE_SOCKETS", "Those of them that are at work or wait.", Part::Sockets,
                              "CS", sockets, Show::Busy));
  views.push_back(listeners_view());
  views.push_back(socket_view("FDS", "Descriptors of clients and server connections.", Part::Sockets, "CS",
                              descriptor_columns()));
  return views;
}

}  // namespace sluice::admin

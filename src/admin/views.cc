#include "admin/views.h"

#include <algorithm>
#include <iterator>

#include "admin/text.h"
#include "admin/view_builder.h"

namespace sluice::admin {
namespace {

constexpr CommandHelp kCommands[] = {
    {"DRAIN replica", "Assign no new sessions to a replica; those it has go on until they end."},
    {"UNDRAIN replica", "Assign sessions to it again."},
    {"PAUSE [database]",
     "Give the sessions of a database, or of all, no server any more; answered when none of them has one. "
     "New "
     "sessions wait, for query_wait_timeout at most."},
    {"RESUME [database]", "End a PAUSE or KILL, and the wait of whoever waits for it."},
    {"DISABLE database", "Let in no new sessions of a database; those it has go on until they end."},
    {"ENABLE database", "Let them in again."},
    {"RECONNECT [database]", "Close server connections: idle ones now, the others as soon as they are free."},
    {"WAIT_CLOSE [database]",
     "Answered when no server connection is left that is to be closed, after RECONNECT, RELOAD or DRAIN."},
    {"KILL [database]", "End all sessions of a database, or of all, and pause it."},
    {"KILL_CLIENT id", "End one session, by its id in SHOW CLIENTS."},
    {"SET option = value",
     "Change one option that RELOAD could change, until the next RELOAD. `DEFAULT` is its default."},
    {"RELOAD", "Read the configuration again, all or nothing."},
    {"SHUTDOWN", "Stop at once: every session ends."},
    {"SHUTDOWN WAIT_FOR_SERVERS",
     "Take no new sessions, end each one that is between two transactions, then stop; after drain_timeout in "
     "any "
     "case."},
    {"SHUTDOWN WAIT_FOR_CLIENTS",
     "Take no new sessions, stop when the last one has ended; after drain_timeout in any case."},
};

View help_view() {
  View view{"HELP", "This list.", std::nullopt, {}, {}};
  view.columns = {{"command", ColumnType::Text, {}}, {"description", ColumnType::Text, {}}};
  view.rows = [](const Snapshot&, const ViewContext&) {
    std::vector<Row> rows;
    for (const View& v : all_views())
      rows.push_back({"SHOW " + std::string(v.name), std::string(v.help)});
    for (const CommandHelp& c : kCommands)
      rows.push_back({std::string(c.syntax), std::string(c.help)});
    return rows;
  };
  return view;
}

View version_view() {
  View view{"VERSION", "Version of Sluice.", std::nullopt, {}, {}};
  view.columns = {{"version", ColumnType::Text, {}}};
  view.rows = [](const Snapshot&, const ViewContext& context) {
    return std::vector<Row>{{"Sluice " + context.version}};
  };
  return view;
}

std::vector<View> make_views() {
  std::vector<View> views;
  views.push_back(help_view());
  views.push_back(version_view());
  for (auto family : {priority_views(), size_views(), cluster_views(), pgbouncer_views(), connection_views(),
                      stats_views(), process_views()})
    std::move(family.begin(), family.end(), std::back_inserter(views));
  return views;
}

constexpr std::string_view kReferenceHead = R"(# The console

<!-- Generated from the table of views in src/admin. Change it there; a test compares. -->

Connect with any PostgreSQL client to the database `sluice` (or `pgbouncer`, for tools that insist on it):

    psql -h 127.0.0.1 -p 6432 -U admin sluice

Users in `admin_users` may do everything; users in `stats_users` may only look. Commands end with a semicolon or with the
message, keywords and names of views may be written in any case, names of replicas and databases exactly as configured
(in double quotes where they hold other characters than letters, digits, `_`, `-` and `.`). The simple and the extended
query protocol both work, so every driver does. What drivers send on their own (`SET`, `BEGIN`, `SELECT 1`,
`SELECT version()`, `SHOW server_version`, `RESET ALL`, `DISCARD ALL`) is answered and has no effect; a command is done
when it is answered, and `ROLLBACK` does not undo it.

Where PgBouncer has the view, its columns come first, in its order, so that its exporters and dashboards work unchanged;
ours follow. Numbers are `int8`, all else is `text`; an unknown value is NULL.

## Commands

| command | what it does |
| --- | --- |
)";

}  // namespace

std::span<const View> all_views() {
  static const std::vector<View> views = make_views();  // immutable once made
  return views;
}

const View* find_view(std::string_view name) {
  const auto views = all_views();
  const auto found =
      std::find_if(views.begin(), views.end(), [&](const View& v) { return same_word(v.name, name); });
  return found == views.end() ? nullptr : &*found;
}

std::span<const CommandHelp> all_commands() {
  return kCommands;
}

std::string console_reference() {
  std::string out(kReferenceHead);
  const auto append_all = [&out](std::initializer_list<std::string_view> pieces) {
    for (const std::string_view piece : pieces)
      out.append(piece);
  };
  for (const CommandHelp& c : kCommands)
    append_all({"| `", c.syntax, "` | ", c.help, " |\n"});
  out += "\n## Views\n";
  for (const View& view : all_views()) {
    append_all({"\n### SHOW ", view.name, "\n\n", view.help,
                "\n\n| column | type | meaning |\n| --- | --- | --- |\n"});
    for (const Column& c : view.columns)
      append_all({"| ", c.name, " | ", c.type == ColumnType::Int8 ? "int8" : "text", " | ", c.help, " |\n"});
  }
  return out;
}

}  // namespace sluice::admin

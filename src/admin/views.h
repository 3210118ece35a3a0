#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admin/router_view.h"
#include "admin/table.h"

namespace sluice::admin {

// What a view may need beside the snapshot.
struct ViewContext {
  WallTime now{};
  std::string version;  // of Sluice
};

// One SHOW command. The table of views is the only place that names them and their columns: the console, SHOW
// HELP, the HTTP interface and docs/reference/console.md all read it.
struct View {
  std::string_view name;  // upper case, as in SHOW POOLS
  std::string_view help;
  std::optional<Part> part;  // what to gather; none for views that need nothing of the router
  std::vector<Column> columns;
  std::function<std::vector<Row>(const Snapshot&, const ViewContext&)> rows;  // each row as wide as columns
};

// In the order of SHOW HELP.
std::span<const View> all_views();
const View* find_view(std::string_view name);  // any case; nullptr when there is none

// One command of the console that changes something.
struct CommandHelp {
  std::string_view syntax;
  std::string_view help;
};
std::span<const CommandHelp> all_commands();

// docs/reference/console.md, whole.
std::string console_reference();

}  // namespace sluice::admin

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "admin/console.h"
#include "admin/sql_tokens.h"
#include "admin/table.h"
#include "admin/views.h"

// What a console command means, worked out from its text alone.
namespace sluice::admin {

// What SELECT and SHOW of a setting know about the session.
struct SessionFacts {
  std::string user, database, application_name;
  std::string version;  // of Sluice
  Privilege privilege = Privilege::Stats;
};

struct ShowView {
  const View* view = nullptr;
};

// A row known at once: SELECT 1, SELECT version(), SHOW server_version.
struct ConstantRow {
  std::vector<std::pair<std::string, ColumnType>> columns;
  Row row;
  std::string tag;  // of CommandComplete
};

// What drivers send and what has nothing to do here: SET, RESET, DISCARD, ...
struct Acknowledgement {
  std::string tag;
};

enum class TransactionCommand { Begin, Commit, Rollback };

enum class CommandKind {
  Drain,
  Undrain,
  Pause,
  Resume,
  Disable,
  Enable,
  Reconnect,
  WaitClose,
  Kill,
  KillClient,
  Set,
  Reload,
  Shutdown,
};
struct RouterCommand {
  CommandKind kind = CommandKind::Reload;
  std::string_view tag;             // "DRAIN", also for messages
  std::optional<std::string> name;  // replica, database or option
  std::string value;                // of the option
  std::uint64_t id = 0;             // client
  ShutdownMode mode = ShutdownMode::Immediate;
};

using Statement = std::variant<ShowView, ConstantRow, Acknowledgement, TransactionCommand, RouterCommand>;

// All statements of a text, or the first thing that is wrong with any: then none is to be executed. Empty for
// an empty text. Errors: those of split_statements, 42601, 42704 (no such view, with the nearest name),
// 0A000.
std::variant<std::vector<Statement>, SqlError> parse_script(std::string_view text, const SessionFacts& facts);

// What a client is told by ParameterStatus when it has logged in, in order.
std::vector<std::pair<std::string, std::string>> reported_settings(const SessionFacts& facts);

}  // namespace sluice::admin

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "admin/answers.h"
#include "admin/statement.h"

namespace sluice::admin {

// A statement that is being answered, or was, with the format of its answer: a portal, in the manual's word.
struct Portal {
  std::shared_ptr<const Statement> statement;  // none: the empty query
  Formats formats;
  enum class Stage { New, Started, Rows, Ended };
  Stage stage = Stage::New;
  std::vector<Row> rows;
  std::size_t rows_sent = 0;
  std::string tag;
};

// What a statement gives: known without executing it. Empty: no rows, ever.
std::vector<ResultColumn> result_columns(const Statement& statement);

// 42501 when these privileges do not allow the statement.
std::optional<SqlError> check_privilege(const Statement& statement, Privilege privilege);

// Answer of the router to a view or a command.
using RouterAnswer = std::variant<Snapshot, CommandResult>;
// Asks the router what the statement needs: `done` is called now or later. False when it needs nothing of the
// router.
bool ask_router(RouterView& router, const Statement& statement, std::function<void(RouterAnswer)> done);

}  // namespace sluice::admin

#include "admin/execution.h"

namespace sluice::admin {

std::vector<ResultColumn> result_columns(const Statement& statement) {
  std::vector<ResultColumn> columns;
  if (const auto* show = std::get_if<ShowView>(&statement)) {
    for (const Column& c : show->view->columns)
      columns.push_back({c.name, c.type});
  } else if (const auto* constant = std::get_if<ConstantRow>(&statement)) {
    for (const auto& [name, type] : constant->columns)
      columns.push_back({name, type});
  }
  return columns;
}

std::optional<SqlError> check_privilege(const Statement& statement, Privilege privilege) {
  const auto* command = std::get_if<RouterCommand>(&statement);
  if (command == nullptr || privilege == Privilege::Admin) return std::nullopt;
  return SqlError{"42501",
                  "permission denied for " + std::string(command->tag),
                  {},
                  "Only users in admin_users may do this; users in stats_users may use SHOW."};
}

namespace {

void run_command(RouterView& router, const RouterCommand& command, RouterView::CommandDone done) {
  switch (command.kind) {
    case CommandKind::Drain:
      return router.set_draining(*command.name, Draining::On, std::move(done));
    case CommandKind::Undrain:
      return router.set_draining(*command.name, Draining::Off, std::move(done));
    case CommandKind::Pause:
      return router.pause(command.name, std::move(done));
    case CommandKind::Resume:
      return router.resume(command.name, std::move(done));
    case CommandKind::Disable:
      return router.set_availability(*command.name, Availability::Disabled, std::move(done));
    case CommandKind::Enable:
      return router.set_availability(*command.name, Availability::Enabled, std::move(done));
    case CommandKind::Reconnect:
      return router.reconnect(command.name, std::move(done));
    case CommandKind::WaitClose:
      return router.wait_close(command.name, std::move(done));
    case CommandKind::Set:
      return router.set_option(*command.name, command.value, std::move(done));
    case CommandKind::Kill:
      return router.kill_database(command.name, std::move(done));
    case CommandKind::KillClient:
      return router.kill_client(command.id, std::move(done));
    case CommandKind::Reload:
      return router.reload(std::move(done));
    case CommandKind::Shutdown:
      return router.shutdown(command.mode, std::move(done));
  }
}

}  // namespace

bool ask_router(RouterView& router, const Statement& statement, std::function<void(RouterAnswer)> done) {
  if (const auto* show = std::get_if<ShowView>(&statement)) {
    if (!show->view->part) return false;
    router.gather(*show->view->part, [done = std::move(done)](Snapshot s) { done(std::move(s)); });
    return true;
  }
  if (const auto* command = std::get_if<RouterCommand>(&statement)) {
    run_command(router, *command, [done = std::move(done)](CommandResult r) { done(std::move(r)); });
    return true;
  }
  return false;
}

}  // namespace sluice::admin

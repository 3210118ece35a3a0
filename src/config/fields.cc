#include "config/fields.h"

#include "config/field_rows.h"

namespace sluice::config {
namespace {

struct OptionFields {
  using Record = Options;
  static const std::vector<Field<Options>>& rows() {
    static const std::vector<Field<Options>> table = [] {
      std::vector<Field<Options>> fields;
      std::string_view group;
#define GROUP SLUICE_OPTION_GROUP
#define X SLUICE_OPTION_ROW
#include "config/options.def"
#undef X
#undef GROUP
      return fields;
    }();
    return table;
  }
};

#define F SLUICE_RECORD_ROW

}  // namespace

template <>
std::span<const Field<Options>> fields_of<Options>() {
  return OptionFields::rows();
}
template <>
std::span<const Field<Listener>> fields_of<Listener>() {
  using Record = Listener;
  static const Field<Listener> table[] = {
#include "config/tables/listener.def"
  };
  return table;
}
template <>
std::span<const Field<Server>> fields_of<Server>() {
  using Record = Server;
  static const Field<Server> table[] = {
#include "config/tables/server.def"
  };
  return table;
}
template <>
std::span<const Field<PriorityClass>> fields_of<PriorityClass>() {
  using Record = PriorityClass;
  static const Field<PriorityClass> table[] = {
#include "config/tables/priority_class.def"
  };
  return table;
}
template <>
std::span<const Field<ClassRule>> fields_of<ClassRule>() {
  using Record = ClassRule;
  static const Field<ClassRule> table[] = {
#include "config/tables/class_rule.def"
  };
  return table;
}
template <>
std::span<const Field<Budget>> fields_of<Budget>() {
  using Record = Budget;
  static const Field<Budget> table[] = {
#include "config/tables/budget.def"
  };
  return table;
}
template <>
std::span<const Field<OriginHost>> fields_of<OriginHost>() {
  using Record = OriginHost;
  static const Field<OriginHost> table[] = {
#include "config/tables/origin_host.def"
  };
  return table;
}
template <>
std::span<const Field<Database>> fields_of<Database>() {
  using Record = Database;
  static const Field<Database> table[] = {
#include "config/tables/database.def"
  };
  return table;
}
template <>
std::span<const Field<UserSettings>> fields_of<UserSettings>() {
  using Record = UserSettings;
  static const Field<UserSettings> table[] = {
#include "config/tables/user.def"
  };
  return table;
}
template <>
std::span<const Field<HbaRule>> fields_of<HbaRule>() {
  using Record = HbaRule;
  static const Field<HbaRule> table[] = {
#include "config/tables/hba_rule.def"
  };
  return table;
}

#undef F

std::span<const ListKey> list_keys() {
  static constexpr ListKey kKeys[] = {
      {"primary", Apply::OnReload,
       "The server that takes writes: host:port, or the keys below. A list of servers: the one of them "
       "that is not in recovery."},
      {"replicas", Apply::OnReload,
       "Servers that sessions are assigned to: host:port, or the keys below. Ties go to the earlier."},
      {"databases", Apply::OnReload,
       "Databases that clients may connect to. Without this list: any, on the replicas."},
      {"users", Apply::OnReload,
       "What holds for some users alone: the first entry that names the user. Who may log in is for "
       "auth_file "
       "and hba to say."},
      {"classes", Apply::OnReload,
       "Priority classes, highest first. Without this list: premium and freemium."},
      {"rules", Apply::OnReload,
       "Which class a session is in: the first rule whose keys all match, else default_class."},
      {"budgets", Apply::OnReload,
       "Shares of the slots (max_active): the first entry whose keys all match a session or transaction."},
      {"hosts", Apply::OnReload,
       "Compute hosts by the networks of their clients: the longest matching prefix, the first of equals."},
      {"hba", Apply::OnReload,
       "How clients authenticate: the first rule whose keys all match; no match is refused. Without this "
       "list: auth_type."},
      {"listeners", Apply::Restart,
       "Addresses to accept clients on, besides listen_addr and listen_port where these are given."},
  };
  return kKeys;
}

}  // namespace sluice::config

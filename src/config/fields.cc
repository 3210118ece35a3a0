#include "config/fields.h"

#include "config/kind_text.h"

namespace sluice::config {
namespace {

std::string bare(std::chrono::seconds value) {
  return std::to_string(value.count());
}
std::string bare(std::chrono::milliseconds value) {
  return std::to_string(value.count());
}
std::string bare(std::uint32_t value) {
  return std::to_string(value);
}
std::string bare(std::uint16_t permissions) {
  return KindText<kind::FileMode>::print(permissions);
}
std::string bare(std::uint64_t value) {
  return std::to_string(value);
}
std::string bare(bool value) {
  return value ? "1" : "0";
}
std::string bare(const std::string& value) {
  return value;
}
std::string bare(Ratio value) {
  return value.to_string();
}
std::string bare(const std::vector<std::string>& value) {
  std::string out;
  for (const std::string& text : value)
    out += (out.empty() ? "" : ",") + text;
  return out;
}
std::string bare(const Networks& value) {
  std::vector<std::string> texts;
  for (const Network& network : value)
    texts.push_back(to_string(network));
  return bare(texts);
}
template <class E>
requires std::is_enum_v<E> std::string bare(E value) {
  return std::string(word_of(value));
}

#define HANDLE(kind_, member)                                                           \
  [](const Limits& limits) { return KindText<kind::kind_>::expects(limits); },          \
      [](Record& record, const Node& node, const Limits& limits) {                      \
        return KindText<kind::kind_>::read(node, limits, record.member);                \
      },                                                                                \
      [](const Record& record) { return KindText<kind::kind_>::print(record.member); }, \
      [](const Record& record) { return bare(record.member); }

struct OptionFields {
  using Record = Options;
  static const std::vector<Field<Options>>& rows() {
    static const std::vector<Field<Options>> table = [] {
      std::vector<Field<Options>> fields;
      std::string_view group;
#define GROUP(title) group = title;
#define X(kind_, name, default_, min, max, apply, secrecy, help) \
  fields.push_back({group,                                       \
                    #name,                                       \
                    {min, max},                                  \
                    Apply::apply,                                \
                    Secrecy::secrecy,                            \
                    Presence::Optional,                          \
                    help,                                        \
                    HANDLE(kind_, name)});
#include "config/options.def"
#undef X
#undef GROUP
      return fields;
    }();
    return table;
  }
};

#define F(kind_, member, key, default_, min, max, presence, help) \
  Field<Record>{"",                                               \
                key,                                              \
                {min, max},                                       \
                Apply::OnReload,                                  \
                Secrecy::Public,                                  \
                Presence::presence,                               \
                help,                                             \
                HANDLE(kind_, member)},

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
std::span<const Field<HbaRule>> fields_of<HbaRule>() {
  using Record = HbaRule;
  static const Field<HbaRule> table[] = {
#include "config/tables/hba_rule.def"
  };
  return table;
}

std::span<const ListKey> list_keys() {
  static constexpr ListKey kKeys[] = {
      {"primary", Apply::OnReload, "The server that takes writes: host:port, or the keys below."},
      {"replicas", Apply::OnReload,
       "Servers that sessions are assigned to: host:port, or the keys below. Ties go to the earlier."},
      {"databases", Apply::OnReload,
       "Databases that clients may connect to. Without this list: any, on the replicas."},
      {"classes", Apply::OnReload,
       "Priority classes, highest first. Without this list: premium and freemium."},
      {"rules", Apply::OnReload,
       "Which class a session is in: the first rule whose keys all match, else default_class."},
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

template <class R>
std::string print_record(const R& record) {
  static const R defaults{};
  std::string out = "{";
  for (const Field<R>& field : fields_of<R>()) {
    const std::string text = field.print(record);
    if (field.presence == Presence::Optional && text == field.print(defaults)) continue;
    out += (out.size() > 1 ? ", " : "") + std::string(field.key) + ": " + text;
  }
  return out + "}";
}
template std::string print_record(const Listener&);
template std::string print_record(const Server&);
template std::string print_record(const PriorityClass&);
template std::string print_record(const ClassRule&);
template std::string print_record(const OriginHost&);
template std::string print_record(const Database&);
template std::string print_record(const HbaRule&);

}  // namespace sluice::config

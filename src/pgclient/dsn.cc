#include "pgclient/dsn.h"

#include <memory>
#include <string_view>

#include <libpq-fe.h>

#include "base/text.h"

namespace sluice::pgclient {
namespace {

struct Free {
  void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};

// Null: not a keyword that counts here.
std::string* field_of(ConnectParams& params, std::string_view keyword) {
  if (keyword == "host") return &params.host;
  if (keyword == "hostaddr") return &params.hostaddr;
  if (keyword == "user") return &params.user;
  if (keyword == "dbname") return &params.database;
  if (keyword == "password") return &params.password;
  if (keyword == "sslmode") return &params.sslmode;
  if (keyword == "sslrootcert") return &params.ssl_ca_file;
  if (keyword == "sslcert") return &params.ssl_cert_file;
  if (keyword == "sslkey") return &params.ssl_key_file;
  if (keyword == "application_name") return &params.application_name;
  if (keyword == "options") return &params.options;
  return nullptr;
}

// What changes nothing that a caller could notice: timeouts are the caller's own.
bool may_be_ignored(std::string_view keyword) {
  return keyword == "connect_timeout" || keyword == "fallback_application_name" ||
         keyword == "client_encoding" || keyword.starts_with("keepalives") || keyword == "tcp_user_timeout";
}

}  // namespace

std::variant<ConnectParams, std::string> parse_dsn(const std::string& dsn) {
  // libpq's own message repeats the string, and with it a password.
  const std::unique_ptr<PQconninfoOption, Free> options(PQconninfoParse(dsn.c_str(), nullptr));
  if (options == nullptr)
    return "this is no connection string: it is postgresql://user:password@host:port/database, or words such "
           "as "
           "host=... port=... user=... dbname=...";
  ConnectParams params;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr || *option->val == '\0') continue;
    const std::string_view keyword(option->keyword), value(option->val);
    if (keyword == "port") {
      params.port = to_number<std::uint16_t>(value).value_or(0);
      if (params.port == 0) return "the connection string's port is not one number from 1 to 65535";
    } else if (std::string* const field = field_of(params, keyword)) {
      *field = value;
    } else if (!may_be_ignored(keyword)) {
      return "the connection string's " + std::string(keyword) + " is not known here";
    }
  }
  if (params.host.find(',') != params.host.npos) return "the connection string names several hosts; give one";
  if (params.user.empty()) return "the connection string names no user";
  if (params.host.empty()) params.host = params.hostaddr.empty() ? "127.0.0.1" : params.hostaddr;
  if (params.database.empty()) params.database = params.user;
  return params;
}

}  // namespace sluice::pgclient

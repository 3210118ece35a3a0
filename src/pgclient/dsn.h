#pragma once

#include <string>
#include <variant>

#include "pgclient/client.h"

namespace sluice::pgclient {

// A connection string as libpq reads it, "postgresql://..." or "host=... dbname=...": PostgreSQL manual,
// "Connection Strings". Known are host, hostaddr, port, user, dbname, password, sslmode, sslrootcert,
// sslcert, sslkey, application_name and options; one host. Timeouts, keepalives and the encoding are read and
// not used. Without a host it is 127.0.0.1, without a database the user's. Else a sentence that says what is
// wrong, and never what the string holds.
std::variant<ConnectParams, std::string> parse_dsn(const std::string& dsn);

}  // namespace sluice::pgclient

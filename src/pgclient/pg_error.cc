#include <string>
#include <utility>

#include "pgclient/pg_result.h"

namespace sluice::pgclient {
namespace {

class PgCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "pgclient"; }
  std::string message(int value) const override {
    switch (static_cast<PgErrc>(value)) {
      case PgErrc::ConnectFailed:
        return "could not connect to the server";
      case PgErrc::LoginFailed:
        return "the server refused the login";
      case PgErrc::QueryFailed:
        return "the query failed";
      case PgErrc::ConnectionLost:
        return "the connection to the server was lost";
      case PgErrc::ResultTooLarge:
        return "the result is larger than allowed";
      case PgErrc::UnexpectedResult:
        return "the result does not have the expected columns";
      case PgErrc::PoolBusy:
        return "no connection became free in time";
    }
    return "unknown error";
  }
};

}  // namespace

std::error_code make_error_code(PgErrc e) noexcept {
  static const PgCategory category;
  return {static_cast<int>(e), category};
}

PgError failure(std::error_code code, std::string message, std::string sqlstate) {
  if (message.empty()) message = code.message();
  return {Error(code, Side::Server, Retry::Yes), std::move(sqlstate), std::move(message)};
}

}  // namespace sluice::pgclient

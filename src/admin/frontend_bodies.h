#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "admin/answers.h"
#include "base/bytes.h"

// Bodies of the frontend messages that a console session understands. Views point into the body.
// Source: PostgreSQL manual, "Message Formats".
namespace sluice::admin {

struct ParseMessage {
  std::string_view statement, query;
};
struct BindMessage {
  std::string_view portal, statement;
  std::size_t parameter_count = 0;
  std::vector<Format> result_formats;
};
struct ExecuteMessage {
  std::string_view portal;
  std::uint32_t rows_max = 0;  // 0: all
};
struct NamedMessage {  // Describe, Close
  char kind = 0;       // 'S' or 'P'
  std::string_view name;
};

// 08P01 for what does not have the layout of the message, bytes left over included.
std::variant<std::string_view, SqlError> read_query(ByteView body);
std::variant<ParseMessage, SqlError> read_parse(ByteView body);
std::variant<BindMessage, SqlError> read_bind(ByteView body);  // also 22023 for an unknown format
std::variant<ExecuteMessage, SqlError> read_execute(ByteView body);
std::variant<NamedMessage, SqlError> read_named(ByteView body);

}  // namespace sluice::admin

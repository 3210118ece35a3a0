#include "admin/frontend_bodies.h"

#include <string>

namespace sluice::admin {
namespace {

SqlError malformed(std::string_view message) {
  return {"08P01", "invalid " + std::string(message) + " message", {}, {}};
}

}  // namespace

std::variant<std::string_view, SqlError> read_query(ByteView body) {
  ByteReader reader(body);
  const auto text = reader.cstring();
  if (!text || reader.remaining() != 0) return malformed("Query");
  return *text;
}

std::variant<ParseMessage, SqlError> read_parse(ByteView body) {
  ByteReader reader(body);
  const auto statement = reader.cstring();
  const auto query = reader.cstring();
  const auto types = reader.u16();
  if (!statement || !query || !types || reader.remaining() != std::size_t{*types} * 4)
    return malformed("Parse");
  return ParseMessage{*statement, *query};
}

std::variant<BindMessage, SqlError> read_bind(ByteView body) {
  ByteReader reader(body);
  BindMessage bind;
  const auto portal = reader.cstring();
  const auto statement = reader.cstring();
  const auto parameter_formats = reader.u16();
  if (!portal || !statement || !parameter_formats || !reader.take(std::size_t{*parameter_formats} * 2))
    return malformed("Bind");
  const auto parameters = reader.u16();
  if (!parameters) return malformed("Bind");
  for (std::size_t i = 0; i < *parameters; ++i) {
    const auto length = reader.i32();
    if (!length || *length < -1) return malformed("Bind");
    if (*length > 0 && !reader.take(static_cast<std::size_t>(*length))) return malformed("Bind");
  }
  const auto formats = reader.u16();
  if (!formats || reader.remaining() != std::size_t{*formats} * 2) return malformed("Bind");
  while (const auto code = reader.u16()) {
    if (*code > 1) return SqlError{"22023", "unsupported format code: " + std::to_string(*code), {}, {}};
    bind.result_formats.push_back(static_cast<Format>(*code));
  }
  bind.portal = *portal;
  bind.statement = *statement;
  bind.parameter_count = *parameters;
  return bind;
}

std::variant<ExecuteMessage, SqlError> read_execute(ByteView body) {
  ByteReader reader(body);
  const auto portal = reader.cstring();
  const auto rows_max = reader.i32();
  if (!portal || !rows_max || reader.remaining() != 0) return malformed("Execute");
  return ExecuteMessage{*portal, *rows_max > 0 ? static_cast<std::uint32_t>(*rows_max) : 0};
}

std::variant<NamedMessage, SqlError> read_named(ByteView body) {
  ByteReader reader(body);
  const auto kind = reader.u8();
  const auto name = reader.cstring();
  if (!name || reader.remaining() != 0 || (*kind != 'S' && *kind != 'P'))
    return malformed("Describe or Close");
  return NamedMessage{static_cast<char>(*kind), *name};
}

}  // namespace sluice::admin

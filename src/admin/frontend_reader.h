#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "admin/answers.h"
#include "base/bytes.h"

// Frontend messages of a console session. Views point into the reader's buffer and die at its next append()
// or next().
namespace sluice::admin {

struct FrontendMessage {
  char type = 0;
  ByteView body;
};

// Cuts the bytes of a client into messages. A message longer than the limit, or with an impossible length,
// gives an error; the reader is then dead and gives the same again.
class FrontendReader {
 public:
  explicit FrontendReader(std::size_t body_bytes_max) : body_bytes_max_(body_bytes_max) {}

  void append(ByteView bytes);
  // nullopt: more bytes are needed. Errors: 08P01, 54000.
  std::variant<std::optional<FrontendMessage>, SqlError> next();

 private:
  std::size_t body_bytes_max_;
  Bytes buffer_;
  std::size_t at_ = 0;  // buffer_[0, at_) has been given out
};

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

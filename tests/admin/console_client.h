#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admin/console.h"
#include "base/bytes.h"
#include "tests/admin/fake_router_view.h"

namespace sluice::admin::testing {

// Frontend messages, written out by hand so that the tests do not share code with what they test.
inline Bytes message(char type, std::string_view body) {
  Bytes out;
  ByteWriter writer(out);
  writer.u8(static_cast<std::uint8_t>(type));
  writer.u32(static_cast<std::uint32_t>(body.size() + 4));
  writer.text(body);
  return out;
}
inline std::string zero(std::string_view text) {
  return std::string(text) + '\0';
}
inline std::string int16(unsigned value) {
  return {static_cast<char>(value >> 8), static_cast<char>(value & 0xFF)};
}
inline std::string int32(unsigned value) {
  return int16(value >> 16) + int16(value & 0xFFFF);
}
inline Bytes operator+(Bytes left, const Bytes& right) {
  append(left, right);
  return left;
}
inline Bytes query(std::string_view sql) {
  return message('Q', zero(sql));
}
inline Bytes parse(std::string_view name, std::string_view sql) {
  return message('P', zero(name) + zero(sql) + int16(0));
}
inline Bytes bind_portal(std::string_view portal, std::string_view statement,
                         const std::vector<unsigned>& formats = {}) {
  std::string body =
      zero(portal) + zero(statement) + int16(0) + int16(0) + int16(static_cast<unsigned>(formats.size()));
  for (const unsigned f : formats)
    body += int16(f);
  return message('B', body);
}
inline Bytes describe(char kind, std::string_view name) {
  return message('D', kind + zero(name));
}
inline Bytes execute(std::string_view portal, unsigned rows_max = 0) {
  return message('E', zero(portal) + int32(rows_max));
}
inline Bytes sync() {
  return message('S', "");
}

struct Answer {
  char type = 0;
  std::string body;

  // Field of an ErrorResponse or NoticeResponse.
  std::string field(char code) const {
    ByteReader reader(as_bytes(body));
    while (const auto c = reader.u8()) {
      const auto value = reader.cstring();
      if (*c == 0 || !value) break;
      if (static_cast<char>(*c) == code) return std::string(*value);
    }
    return {};
  }
  // Values of a DataRow; "NULL" for none.
  std::vector<std::string> values() const {
    ByteReader reader(as_bytes(body));
    std::vector<std::string> out;
    for (unsigned count = reader.u16().value_or(0); count > 0; --count) {
      const auto length = reader.i32().value_or(-1);
      if (length < 0) {
        out.emplace_back("NULL");
      } else {
        out.emplace_back(as_text(*reader.take(static_cast<std::size_t>(length))));
      }
    }
    return out;
  }
  // "name:oid" of a RowDescription.
  std::vector<std::string> columns() const {
    ByteReader reader(as_bytes(body));
    std::vector<std::string> out;
    for (unsigned count = reader.u16().value_or(0); count > 0; --count) {
      const std::string name(*reader.cstring());
      reader.take(6);
      out.push_back(name + ":" + std::to_string(*reader.u32()));
      reader.take(8);
    }
    return out;
  }
};

inline std::vector<Answer> split_answers(ByteView bytes) {
  ByteReader reader(bytes);
  std::vector<Answer> answers;
  while (const auto type = reader.u8()) {
    const auto length = reader.u32();
    const auto body = reader.take(*length - 4);
    answers.push_back({static_cast<char>(*type), std::string(as_text(*body))});
  }
  return answers;
}
inline std::string types(const std::vector<Answer>& answers) {
  std::string out;
  for (const Answer& a : answers)
    out += a.type;
  return out;
}

// A client of one console session, past its start-up.
class ConsoleClient {
 public:
  explicit ConsoleClient(Privilege privilege = Privilege::Admin, std::size_t output_bytes_max = 65536)
      : session(router, settings(privilege, output_bytes_max), [this] { ++wakes; }) {
    session.start();
    greeting = split_answers(session.take_output());
  }

  Bytes raw(const Bytes& bytes) {
    session.feed(bytes);
    return drain();
  }
  Bytes drain() {
    Bytes out;
    for (Bytes piece = session.take_output(); !piece.empty(); piece = session.take_output())
      append(out, piece);
    return out;
  }
  std::vector<Answer> say(const Bytes& bytes) { return split_answers(raw(bytes)); }
  std::vector<Answer> ask(std::string_view sql) { return say(query(sql)); }

  FakeRouterView router;
  int wakes = 0;
  ConsoleSession session;
  std::vector<Answer> greeting;

 private:
  static ConsoleSession::Settings settings(Privilege privilege, std::size_t output_bytes_max) {
    ConsoleSession::Settings s;
    s.user = "operator";
    s.database = "sluice";
    s.privilege = privilege;
    s.output_bytes_max = output_bytes_max;
    return s;
  }
};

}  // namespace sluice::admin::testing

#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pooling/session_translator.h"
#include "tests/pooling/pg_model.h"
#include "tests/pooling/pooled_client.h"
#include "tests/pooling/stream_builder.h"

namespace sluice::pooling::test {

// A backend's stream in words: types, with what tells messages apart.
inline std::string words(ByteView bytes) {
  std::string out;
  ByteReader in(bytes);
  while (const auto type = in.u8()) {
    const ByteView body = *in.take(*in.u32() - 4);
    if (!out.empty()) out += ' ';
    out += static_cast<char>(*type);
    if (*type == 'E') {
      const std::string_view text = as_text(body);
      const std::size_t code = text.find(std::string_view("\0C", 2)) + 2;
      out += text.substr(code, 5);
      const std::size_t message = text.find(std::string_view("\0M", 2)) + 2;
      out += '(' + std::string(text.substr(message, text.find('\0', message) - message)) + ')';
    } else if (*type == 'C' || *type == 'D' || *type == 'Z' || *type == 'T') {
      out += '(' + std::string(as_text(body).substr(0, as_text(body).find('\0'))) + ')';
    }
  }
  return out;
}

// Two servers, two clients, and for each client a server of its own that says what is right.
struct World {
  explicit World(std::size_t statements_max = 200, TranslatorOptions o = {})
      : options(o),
        one(database, settings, statements_max),
        two(database, settings, statements_max),
        a(1, statements, settings, tracked, options),
        b(2, statements, settings, tracked, options),
        direct_a(database),
        direct_b(database) {}

  // `stream` of client A on `server` gives what PostgreSQL gives.
  void expect_as_direct(const Stream& stream, PooledServer& server, PooledClient& client, PgModel& direct) {
    const std::size_t before = client.received().size();
    client.run(stream.bytes(), server);
    direct.consume(stream.bytes());
    const Bytes right = direct.take();
    EXPECT_EQ(words(ByteView(client.received()).subspan(before)), words(right));
  }
  void a_on(PooledServer& server, const Stream& stream) { expect_as_direct(stream, server, a, direct_a); }
  void b_on(PooledServer& server, const Stream& stream) { expect_as_direct(stream, server, b, direct_b); }
  std::string a_gets(PooledServer& server, const Stream& stream) {
    const std::size_t before = a.received().size();
    a.run(stream.bytes(), server);
    return words(ByteView(a.received()).subspan(before));
  }
  std::string b_gets(PooledServer& server, const Stream& stream) {
    const std::size_t before = b.received().size();
    b.run(stream.bytes(), server);
    return words(ByteView(b.received()).subspan(before));
  }

  Database database;
  TranslatorOptions options;
  StatementStore statements{0, 1 << 20};
  SettingsStore settings;
  TrackedSettings tracked{std::vector<std::string>{"search_path"}};
  PooledServer one, two;
  PooledClient a, b;
  PgModel direct_a, direct_b;
};

}  // namespace sluice::pooling::test

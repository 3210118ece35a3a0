#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "protocol/frontend_messages.h"
#include "protocol/message_writer.h"

namespace sluice::pooling::test {

// A client's stream, one call a message, with the letters of the cases that it is written after.
class Stream {
 public:
  Stream& parse(std::string_view name, std::string_view sql, std::uint16_t parameters = 0) {
    protocol::MessageWriter message(bytes_, 'P');
    message.string(name);
    message.string(sql);
    message.body().u16(parameters);
    for (std::uint16_t i = 0; i < parameters; ++i)
      message.body().u32(23);
    return *this;
  }
  Stream& bind(std::string_view portal, std::string_view name, std::uint16_t parameters = 0,
               std::size_t value_bytes = 1) {
    protocol::MessageWriter message(bytes_, 'B');
    message.string(portal);
    message.string(name);
    message.body().u16(0);
    message.body().u16(parameters);
    for (std::uint16_t i = 0; i < parameters; ++i) {
      message.body().u32(static_cast<std::uint32_t>(value_bytes));
      message.body().text(std::string(value_bytes, '7'));
    }
    message.body().u16(0);
    return *this;
  }
  Stream& describe(char kind, std::string_view name) {
    protocol::append_describe(bytes_, kind, name);
    return *this;
  }
  Stream& execute(std::string_view portal = "") {
    protocol::append_execute(bytes_, portal, 0);
    return *this;
  }
  Stream& close(char kind, std::string_view name) {
    protocol::append_close(bytes_, kind, name);
    return *this;
  }
  Stream& flush() {
    protocol::append_flush(bytes_);
    return *this;
  }
  Stream& flush_with_body() {
    protocol::MessageWriter(bytes_, 'H').string("body");
    return *this;
  }
  Stream& sync() {
    protocol::append_sync(bytes_);
    return *this;
  }
  Stream& query(std::string_view sql) {
    protocol::append_query(bytes_, sql);
    return *this;
  }
  Stream& copy_data() {
    protocol::append_copy_data(bytes_, as_bytes("row"));
    return *this;
  }
  Stream& copy_done() {
    protocol::append_copy_done(bytes_);
    return *this;
  }
  Stream& copy_fail() {
    protocol::append_copy_fail(bytes_, "no");
    return *this;
  }
  const Bytes& bytes() const { return bytes_; }
  Bytes take() { return std::exchange(bytes_, {}); }

 private:
  Bytes bytes_;
};

}  // namespace sluice::pooling::test

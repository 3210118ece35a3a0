#pragma once

#include <deque>
#include <map>
#include <string>

#include "admin/console.h"
#include "admin/execution.h"
#include "admin/frontend_bodies.h"
#include "protocol/frame_decoder.h"

namespace sluice::admin {

// The machine behind ConsoleSession. pump() does one thing after another until it must wait: for the router
// (execution_ awaits its answer), for the shell (output_ is full) or for the client (no whole message is
// there).
class ConsoleSession::Impl : public std::enable_shared_from_this<ConsoleSession::Impl> {
 public:
  Impl(RouterView& view, Settings settings, std::function<void()> wake);

  void start();
  void feed(ByteView bytes);
  bool wants_input() const { return !closed_ && !execution_ && !simple_ && !full(); }
  bool closed() const { return closed_; }
  Bytes take_output();

 private:
  struct Execution {
    Portal* portal = nullptr;  // simple_portal_ or one of portals_
    std::uint32_t rows_max = 0;
    std::size_t rows_sent = 0;  // by this Execute
    std::uint64_t ticket = 0;   // of the question to the router, so that an answer finds its question
    std::optional<RouterAnswer> answer;
  };
  struct SimpleQuery {  // a Query whose statements are not all answered
    std::deque<Statement> statements;
    Portal portal;
  };
  struct Prepared {
    std::shared_ptr<const Statement> statement;  // none: the empty query
    std::size_t source_bytes = 0;
  };

  void pump();
  bool step();  // false: must wait
  bool full() const { return output_.size() >= settings_.output_bytes_max; }

  // console_messages.cc: one function per frontend message
  bool take_message();
  void on_message(const protocol::Frame& message);
  void on_query(ByteView body);
  void on_parse(ByteView body);
  void on_bind(ByteView body);
  void on_describe(ByteView body);
  void on_execute(ByteView body);
  void on_close(ByteView body);
  void on_sync();
  void describe(const Statement* statement, const Formats& formats);

  // console.cc: answering
  void run(Portal& portal, std::uint32_t rows_max);
  bool advance();
  void begin_statement();
  void accept_answer(RouterAnswer answer);
  void on_router_answer(std::uint64_t ticket, RouterAnswer answer);
  void change_transaction(TransactionCommand command);
  void send_rows();
  void complete();
  void fail(const SqlError& error);  // ERROR: ends the current statement
  void die(const SqlError& error);   // FATAL: ends the session
  SessionFacts facts() const;

  RouterView& view_;
  Settings settings_;
  std::function<void()> wake_;
  protocol::FrameDecoder decoder_;
  Bytes output_;
  std::map<std::string, Prepared, std::less<>> statements_;
  std::map<std::string, Portal, std::less<>> portals_;
  std::optional<SimpleQuery> simple_;
  std::optional<Execution> execution_;
  std::uint64_t tickets_ = 0;
  char transaction_status_ = 'I';
  bool skipping_to_sync_ = false;
  bool pumping_ = false;
  bool closed_ = false;
};

}  // namespace sluice::admin

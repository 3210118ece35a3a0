#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "admin/router_view.h"
#include "base/bytes.h"

namespace sluice::admin {

enum class Privilege {
  Stats,  // stats_users: SHOW and what drivers say for themselves
  Admin,  // admin_users: everything
};

// One session of the admin console: what a client says after its authentication goes in, what it gets to read
// comes out. Speaks the simple and the extended query protocol, answers in text or, where a driver asks, in
// binary.
//
// The shell:  session.start(); then in a loop: write take_output() until it gives nothing; stop when
// closed(); read and
//             feed() while wants_input(); sleep otherwise, until `wake` is called or the socket is writable.
// Shape:      a message has at most input_bytes_max bytes after its header (longer ones: FATAL 54000,
// closed). At most
//             about output_bytes_max of encoded answers wait for take_output(): rows beyond stay unencoded.
// Order:      answers come in the order of the messages, also when the router answers later: until then the
// messages
//             behind wait, wants_input() is false, and the shell reads no more.
// Errors:     none to the caller: whatever a client sends becomes an ErrorResponse, or closes this session.
// Thread:     that of its RouterView, which must outlive it. `wake` is called when output appeared without a
// call from
//             the shell; never from inside one, and never after the session is destroyed.
class ConsoleSession {
 public:
  struct Settings {
    std::string user;      // shown as current_user
    std::string database;  // "sluice" or "pgbouncer"
    std::string application_name;
    Privilege privilege = Privilege::Stats;
    std::size_t input_bytes_max = std::size_t{1} << 20;
    std::size_t output_bytes_max = std::size_t{64} << 10;
  };

  ConsoleSession(RouterView& view, Settings settings, std::function<void()> wake);
  ~ConsoleSession();
  ConsoleSession(const ConsoleSession&) = delete;
  ConsoleSession& operator=(const ConsoleSession&) = delete;

  // Behind AuthenticationOk: ParameterStatus for each setting drivers read, and ReadyForQuery. There is no
  // BackendKeyData: nothing here can be cancelled. Called once, before feed().
  void start();

  // Takes bytes of the client. Any piece of any message will do. After closed() they are ignored.
  void feed(ByteView bytes);

  bool wants_input() const;
  bool closed() const;  // write what take_output() gives, then close
  // What to write now; empty when there is nothing. Encodes more rows as earlier ones are taken away.
  Bytes take_output();

  class Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace sluice::admin

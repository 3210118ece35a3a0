#pragma once

#include <memory>

struct pg_cancel;  // libpq's PGcancel

namespace sluice::pgclient {

// A request to give up what one connection asks: CancelRequest of the PostgreSQL manual, "Canceling Requests
// in Progress". It takes effect or not; the connection's own answer tells.
class Cancel {
 public:
  // Takes what PQgetCancel() gave, which may be null.
  explicit Cancel(pg_cancel* request) noexcept : request_(request) {}

  // Opens a connection for it, which libpq 15 does without TLS, and waits until the server has closed that
  // again: it blocks, and knows no timeout. False: it was not delivered.
  bool send() noexcept;

 private:
  struct Free {
    void operator()(pg_cancel* request) const noexcept;
  };
  std::unique_ptr<pg_cancel, Free> request_;
};

// Sends such requests one after the other from a thread of its own, which begins with the first one.
class CancelSender {
 public:
  CancelSender() = default;
  CancelSender(const CancelSender&) = delete;
  CancelSender& operator=(const CancelSender&) = delete;
  // Drops what has not been begun. A thread that still waits for a server is left to itself.
  ~CancelSender();

  void send(Cancel cancel);  // returns at once

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace sluice::pgclient

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pooling/client_names.h"
#include "pooling/pin_reason.h"
#include "pooling/server_statements.h"
#include "pooling/sql_facts.h"
#include "pooling/statement.h"
#include "pooling/transaction_steps.h"

namespace sluice::pooling {

// A message sent to the server, as far as the router has to do with its answer.
enum class RequestKind : std::uint8_t {
  // Extended messages: one completion each. Those that pass have a detail only where a statement has several
  // names, and it tells which of them was used.
  Plain,          // passes
  Replayable,     // passes; the first message of a batch that can be sent again
  UnnamedParse,   // passes; failing, the client has no unnamed statement
  InjectedParse,  // ParseComplete is dropped
  InjectedClose,  // CloseComplete is dropped
  NamedParse,     // passes
  SharedParse,    // a Close stands for it: CloseComplete becomes ParseComplete
  NamedClose,     // a Close stands for it: passes
  GuardParse,     // under a name in use: the error is to name the client's
  RefusedParse,   // a text with an error in it stands for it: the error becomes the refusal
  Execute,        // with a step that changes names or what is listened to
  // With ReadyForQuery.
  Query,
  RefusedQuery,
  Function,
  InjectedSync,  // its ReadyForQuery is dropped
  Sync,
  // Ends a COPY, ignored outside one.
  CopyEnd,
};

inline bool extended(RequestKind kind) noexcept {
  return kind < RequestKind::Query;
}
inline bool ends_with_ready(RequestKind kind) noexcept {
  return kind >= RequestKind::Query && kind <= RequestKind::Sync;
}

// Why a request was not carried out.
enum class Refusal : std::uint8_t {
  Pin,                 // it would have bound the session to its server
  Listens,             // too many LISTENs in one transaction
  Steps,               // too many commands in one text that end a transaction or a part of one
  PrepareTransaction,  // of a transaction that has executed LISTEN
};

// What the answer to a request, or its absence, brings about.
struct RequestDetail {
  std::string name;                                // the client's name for a statement
  StatementPtr statement;                          // nullptr: the unnamed one, or the guard
  bool guard = false;                              // it is about the guard
  bool described = false;                          // as it was in the name's entry
  bool was_stale = false;                          // of a statement closed on the server
  Refusal refusal = Refusal::Pin;                  // of a RefusedParse or RefusedQuery
  PinReason reason{};                              // of Refusal::Pin
  std::vector<SqlStep> steps;                      // of an Execute or Query
  std::size_t next_step = 0;                       // whose tag is to come
  bool truncated = false;                          // of a Query: there is more in it than was looked at
  std::uint32_t completions = 0;                   // of a Query
  std::vector<TransactionStep> transaction;        // of an Execute or Query, while LISTENs are pending
  std::size_t next_transaction = 0;                // the first whose tag may be to come
  bool commits = false;                            // or may do so, for all that is known; likewise
  std::unique_ptr<ClientNames> names;              // before a step that forgot all of them
  std::vector<ServerStatements::Entry> on_server;  // likewise, most recently used first
};

// The requests that the server has not answered, oldest first; runs of plain ones are one entry.
// Rules:  as protocol::OutstandingQueue and SessionTracker, whose judgement of COPY it repeats.
// Shape:  grows with requests in flight that are not plain, Syncs among them; gives memory back when empty.
class RequestQueue {
 public:
  using Detail = std::unique_ptr<RequestDetail>;
  struct Entry {
    RequestKind kind;
    std::uint32_t count;
    Detail detail;
  };

  bool empty() const noexcept { return first_ == entries_.size(); }
  Entry& front() noexcept { return entries_[first_]; }
  const Entry& front() const noexcept { return entries_[first_]; }
  const Entry& back() const noexcept { return entries_.back(); }
  void push(RequestKind kind, Detail detail = nullptr);
  // Answers one of the front; CopyEnds behind it go, too.
  Detail pop();

  // A ReadyForQuery is on its way.
  bool owes_ready() const noexcept { return ready_count_ > 0; }
  std::size_t ready_count() const noexcept { return ready_count_; }
  // A request that changes names or statements is not answered, and belongs to an earlier batch than what is
  // sent next.
  bool earlier_special() const noexcept { return special_count_ > 0 && ready_since_special_; }
  std::size_t special_count() const noexcept { return special_count_; }

  bool contains(RequestKind kind) const noexcept;
  // One of them listens, or ends that.
  bool contains_listen() const noexcept;
  // One of them has RequestDetail::commits.
  bool contains_commit() const noexcept { return commit_count_ > 0; }
  // Behind the front comes at most plain ones and then one Sync, the last entry.
  bool only_plain_behind_front() const noexcept;

  // Takes out all up to the first Sync, which stays: what an error in the extended protocol makes the server
  // skip. `skipped` gets them in order.
  void skip_to_sync(std::vector<Entry>& skipped);
  // The front's COPY FROM STDIN begins: Syncs sent into it are dropped by the server. True when the COPY's
  // end has been sent, too.
  bool on_copy_in(std::uint32_t& syncs_dropped);
  void clear() noexcept;

  bool check_invariant() const noexcept;

 private:
  void remove(std::size_t index);
  void drop_copy_ends() noexcept;
  void count(const Entry& entry, int sign) noexcept;
  static bool special(const Entry& entry) noexcept;

  std::vector<Entry> entries_;
  std::size_t first_ = 0;
  std::size_t ready_count_ = 0;
  std::size_t special_count_ = 0;
  std::size_t commit_count_ = 0;
  bool ready_since_special_ = false;
};

}  // namespace sluice::pooling

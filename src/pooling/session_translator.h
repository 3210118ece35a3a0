#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "pooling/client_names.h"
#include "pooling/pending_listens.h"
#include "pooling/pieces.h"
#include "pooling/pin_reason.h"
#include "pooling/request_queue.h"
#include "pooling/server_statements.h"
#include "pooling/settings.h"
#include "pooling/sql_facts.h"
#include "pooling/stand_in.h"
#include "pooling/statement.h"
#include "pooling/transaction_steps.h"
#include "protocol/header_walker.h"

namespace sluice::pooling {

struct TranslatorOptions {
  enum class OnPin : std::uint8_t { Pin, Refuse };

  // What would pin the session is carried out, or refused with 0A000 (in its place among the answers).
  OnPin on_pin = OnPin::Pin;
  // A Parse up to this size is kept and follows the client. A larger one streams through under the client's
  // own name: a named one pins the session, an unnamed one keeps the server until a Bind has used it.
  std::size_t statement_bytes_max = 256 * 1024;
  // Of one client; a Parse beyond either is treated as a large one.
  std::size_t client_statements_max = 10'000;
  std::size_t client_statement_bytes_max = 16 * 1024 * 1024;
  // Of a batch that may be sent again after a plan went stale.
  std::size_t replay_bytes_max = 16 * 1024;
  // LISTEN of a Query or Parse of its own never reaches a server (which gets an UNLISTEN of nothing in its
  // place): take_listens() tells the router. Else, and among other statements, it pins; where the servers are
  // standbys, which refuse it, not before one has taken it.
  bool own_listener = true;
};

// What was done, for PgBouncer's columns of the same names.
struct TranslatorCounts {
  std::uint64_t client_parses = 0;
  std::uint64_t server_parses = 0;
  std::uint64_t binds = 0;
};

// One client session's view of its statements over whatever server it has. Stands between the client's bytes
// and the server's, both ways, and changes no more than it must:
//   Parse, named    the statement gets the router's name. Where the server has it already, a Close of a name
//   that
//                   nobody uses stands for the Parse, and its CloseComplete becomes the ParseComplete: so
//                   each message the client sent has exactly one of its own on the wire, in its place, and
//                   pipelines, Flush and what the server skips after an error need no second bookkeeping.
//   Bind, Describe  of a known name get the router's; a Parse goes ahead of them where the server lacks the
//                   statement (its ParseComplete is dropped), and a Close of the least recently used one.
//   Close           of a known name: the client's name is gone; the server keeps the statement.
//   unnamed         is the server's own; the last Parse's text is kept and parsed again on another server.
//   Parse of a name in use: PostgreSQL's own error (42P05, or that of the text), nothing changes.
//   DEALLOCATE x    of a protocol-level name, alone in its Query or unnamed Parse, works; DEALLOCATE ALL and
//                   DISCARD ALL empty the client's names and the server's.
// Errors: what an error made the server skip was not done; names are put back as PostgreSQL leaves them. The
//         router's names in the message of an error are replaced by the client's.
// Stale plans ("cached plan must not change result type", or a statement that is gone from the server behind
// our
//         back): outside a transaction block, when the client has had no answer of the batch and nothing
//         follows it, and the client does not rely on a row description that it got earlier, the server is
//         made to forget the statement and the batch is sent again. Otherwise the error is the client's, and
//         the server's next use of the statement prepares it anew.
// Holding: whether a name exists may depend on an answer of an earlier batch that is still on its way. Then
//         on_client() stops before the message (held()) until that answer has come; a steady pipeline of
//         Binds never does.
// Server-side state seen in SQL: pins(), take_listens(), and ClientSettings is told of SET and RESET.
// COPY:   a Sync sent behind the command of a COPY FROM STDIN that fails may have been dropped by it, or not:
//         the server's next answers tell, or those to settle_doubt().
// Bounds: TranslatorOptions; a Bind's or Describe's names of more than kHeadBytesMax bytes pass unchanged (no
// such
//         statement exists). Bodies stream through.
// Cost:   a walk over the headers. A Query, and a batch of unnamed or prepared statements, allocates nothing
// once
//         buffers have their size; a Parse's text is copied (unnamed) and read by classify().
// Thread: one. Order: on_client() and on_server() in the order in which bytes go to and come from the server.
class SessionTranslator {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kHeadBytesMax = 4096;
  static constexpr std::size_t kErrorBytesMax = 8192;  // larger ErrorResponses pass unread

  // All outlive the translator. `session`: not 0, different for each session of the thread.
  SessionTranslator(std::uint64_t session, StatementStore& store, const TranslatorOptions& options,
                    ClientSettings& settings);
  SessionTranslator(const SessionTranslator&) = delete;
  SessionTranslator& operator=(const SessionTranslator&) = delete;

  // Gives the client a server, which outlives the time until detach(). It is idle (ReadyForQuery with status
  // I) and in step with the client's settings. detach(): only while not busy(), or when the server is to be
  // closed or reset (then its ServerStatements::forget_all()).
  void attach(ServerStatements& statements, ServerSettings& settings);
  void detach();
  bool attached() const noexcept { return server_ != nullptr; }

  // Client's bytes, cut anywhere. What is to be sent to the server is appended to `out`, as spans of `bytes`
  // where they need no change. Returns how many bytes were taken: fewer than given only when held(); give the
  // rest again, also when it is empty, once held() is false. While attached. Observer: on_piece(char type,
  // ByteView piece, bool complete, TimePoint now), as SessionTracker's, of what the
  //           client sent. (SessionTracker itself is fed with `out`, as what the server really gets, and
  //           needs no observer of pieces.) Terminate and what is malformed pass through for the tracker to
  //           judge.
  template <class Observer>
  std::size_t on_client(ByteView bytes, TimePoint now, Observer& observer, Pieces& out) {
    const std::size_t given_bytes = bytes.size();
    resume(out);
    while (!held_ && !bytes.empty()) {
      const Taken taken = take(bytes, out);
      if (taken.type != 0) observer.on_piece(taken.type, taken.piece, taken.complete, now);
    }
    return given_bytes - bytes.size();
  }
  // Waits for an answer of the server before it takes more of the client's bytes.
  bool held() const noexcept { return held_ && !may_go_on(); }

  // Server's bytes, cut anywhere; all are taken. What is for the client is appended to `to_client`; what the
  // server is to be sent because of them (only to recover from a stale plan) to `to_server`.
  void on_server(ByteView bytes, Pieces& to_client, Pieces& to_server);

  // Asks what tells whether Syncs that a failed COPY may have left are still to be answered: what comes
  // before the answer is the client's, the answer itself is dropped. While not busy().
  void settle_doubt(Pieces& to_server);

  // Something is owed by the server or by us, or one side is within a message.
  bool busy() const noexcept;
  // An unnamed statement over the limit waits for its Bind: the server is the only one that has it.
  bool keeps_server() const noexcept { return large_unnamed_; }
  PinReasons pins() const noexcept { return pins_; }
  // Of reasons that only the caller knows.
  void pin(PinReason reason) noexcept { pins_.add(reason); }
  // After the caller ran DISCARD ALL on the client's server, or gave it another.
  void unpin() noexcept { pins_ = {}; }
  // Changes since the last call, in order.
  bool has_listens() const noexcept { return !listens_.empty(); }
  std::vector<ListenChange> take_listens() { return std::exchange(listens_, {}); }
  // Channels of LISTENs that have been sent since the last call, within transactions that may go on: what
  // these notify is the session's as well, so the channels have to be listened to before they are committed.
  // No more of the client's is taken until listens_ready(), or until an error tells that it comes to nothing.
  bool has_begun_listens() const noexcept { return !begun_.empty(); }
  std::vector<std::string> take_begun_listens() { return std::exchange(begun_, {}); }
  bool awaits_listens() const noexcept { return listening_ != Listening::No; }
  void listens_ready() noexcept { listening_ = Listening::No; }
  // Since the last call: the transactions with LISTENs that have begun are over, and take_listens() had what
  // was committed.
  bool take_listens_over() noexcept { return std::exchange(listens_over_, false); }
  // A transaction with a LISTEN may have been committed by now, as far as the server's answers tell.
  bool commit_in_flight() const noexcept;
  // Whether to look for NOTIFY in what the client runs; and whether it ran one that could be seen, since the
  // last call.
  void watch_notify(bool on) noexcept { watches_notify_ = on; }
  bool take_notified() noexcept { return std::exchange(notified_, false); }
  // Where, in what the last on_server() gave for the client, its last ReadyForQuery outside of a transaction
  // begins. Only while NOTIFY is looked for.
  std::optional<std::size_t> ready_at() const noexcept { return ready_at_; }
  TranslatorCounts take_counts() noexcept { return std::exchange(counts_, {}); }
  // Named statements of the client, for SHOW CLIENTS.
  std::size_t statement_count() const noexcept { return names_.size(); }

  // Where the transaction that `bytes` begin asks to run, as far as they tell: of the first Query, Parse or
  // Bind (of a known statement) in them. Takes nothing; the client has no server and nothing is half read.
  Target target_of(ByteView bytes) const;
  // The text of that Query, Parse or Bind, as far as it is there; nothing where it is not known. Lives as
  // long as `bytes` and until the client's next message.
  std::optional<std::string_view> first_sql(ByteView bytes) const;

  bool check_invariant() const noexcept;

 private:
  static constexpr std::size_t kListensMax = 1000;  // of one transaction; more are refused
  static constexpr std::size_t kPortalsMax =
      64;  // with steps; more of them run without their effect on names

  // What take() ate: a piece of a message's body; type 0: nothing for an observer.
  struct Taken {
    char type = 0;
    ByteView piece{};
    bool complete = false;
  };
  // A client's message as far as it is at hand: with all of its body, or the part that has its names.
  struct Message {
    char type;
    std::uint32_t body_bytes;  // as its header says
    ByteView body;             // what is at hand of it
    const std::byte* start;    // header and body stand in the input from here; nullptr: they were collected
    bool whole() const noexcept { return body.size() == body_bytes; }
  };
  // Where the bytes of the client's message that is being read go.
  enum class Body : std::uint8_t { Forward, Collect, Drop };
  // Whether the batch since the last Sync can be sent again. Unspoilt: nothing but Parse and Close in it so
  // far.
  enum class Replay : std::uint8_t { Unspoilt, Recording, Recorded, Spoilt };
  enum class Recovery : std::uint8_t { None, AwaitsReady };
  // Whether the transaction of a LISTEN has, for sure, nothing else in it that notifies.
  enum class Listening : std::uint8_t { No, Alone, WithOthers };
  struct Portal {
    std::string name;
    SqlStep step;                                  // or Other, and then
    std::optional<TransactionStep> transaction{};  // or nothing, for sure
    bool acts() const noexcept { return step.action != SqlAction::Other || transaction; }
  };
  struct Unnamed {
    bool present = false;
    Bytes body{};  // as Statement::body(), of what was sent
    SqlFacts facts{};
  };

  // translate_client.cc: the client's bytes, message by message.
  template <class OfText, class OfKnown>
  auto of_first(ByteView bytes, OfText of_text, OfKnown of_known) const
      -> decltype(of_text(std::string_view()));
  void resume(Pieces& out);
  Taken take(ByteView& bytes, Pieces& out);
  Taken take_body(ByteView& bytes, Pieces& out);
  bool at_hand(char type, std::uint32_t body_bytes, ByteView body) const noexcept;
  void process_head(Pieces& out);
  bool process(const Message& message, Pieces& out);
  bool may_go_on() const noexcept;
  void push(RequestKind kind, RequestQueue::Detail detail = nullptr);
  void push_plain(RequestQueue::Detail detail = nullptr);
  void push_use(RequestKind kind, std::string_view name, const Statement& statement);
  void push_unnamed_parse();
  void send(const Message& message, Pieces& out);
  void send_renamed(const Message& message, std::string_view old_name, std::string_view name, Pieces& out);
  void send_parse(std::string_view name, ByteView body, Pieces& out);
  void send_close(std::string_view name, Pieces& out);

  // translate_statements.cc: false when the message is to be held.
  bool on_parse(const Message& message, Pieces& out);
  bool on_named_parse(const Message& message, std::string_view name, ByteView body, Pieces& out);
  bool on_unnamed_parse(const Message& message, ByteView body, Pieces& out);
  bool on_large_parse(const Message& message, std::string_view name, PinReason reason, Pieces& out);
  bool on_bind(const Message& message, Pieces& out);
  bool on_describe(const Message& message, Pieces& out);
  bool on_close(const Message& message, Pieces& out);
  bool on_execute(const Message& message, Pieces& out);
  bool on_execute_of_interest(const Message& message, const Portal& portal, Pieces& out);
  bool send_foreign(const Message& message, std::string_view name, Pieces& out);
  bool provide(const StatementPtr& statement, StandInFor use, Pieces& out);
  bool provide_unnamed(StandInFor use, Pieces& out);
  std::optional<Bytes> stand_in_for(ByteView body, StandInFor use) const;
  void provide_guard(Pieces& out);
  void remove_guard(Pieces& out);
  void make_room(const StatementPtr& statement, Pieces& out);
  void unnamed_gone() noexcept;
  void claim_unnamed() noexcept;
  void disown_unnamed() noexcept;
  std::uint32_t scope();

  // translate_sql.cc: what texts do to the session.
  bool on_query(const Message& message, Pieces& out);
  bool on_query_of_interest(const Message& message, std::string_view sql, const SqlFacts& facts, Pieces& out);
  std::optional<PinReason> refusal(const SqlFacts& facts) const;
  struct Refused {
    Refusal refusal;
    PinReason reason{};  // of Refusal::Pin
  };
  bool refuse_query(const Message& message, Refused why, std::string_view instead, Pieces& out);
  void refuse(RequestKind kind, Refused why, std::string_view instead, Pieces& out);
  void begin_listen(const SqlStep& step, Listening listening);
  bool surely_failed() const noexcept { return status_ == 'E' && !executed_; }
  std::string_view replacement(const SqlFacts& facts) const;
  void apply(const SqlFacts& facts, bool replaced);
  void add_portal(std::string_view name, const SqlFacts& facts, bool replaced);
  void watch_portal(std::string_view name, ByteView body);
  void drop_portal(std::string_view name);
  void forget_all_names();
  void begin_step(const SqlStep& step, RequestDetail& detail, Pieces& out);
  void on_tag(std::string_view tag, RequestDetail* detail, bool begun);
  static const TransactionStep* step_of(std::string_view tag, RequestDetail* detail);
  void on_transaction_tag(std::string_view tag, RequestDetail* detail);
  void on_listen_tag(std::string_view tag, RequestDetail& detail);
  void after_discard_all();
  void undo(RequestQueue::Entry& entry);
  bool count_listens(const SqlFacts& facts);
  void note_notify(std::string_view sql) noexcept;
  void settle_listens(char status);

  // translate_server.cc: the server's bytes.
  void on_streamed(char type);
  void note_completion(char type) noexcept;
  void note_error() noexcept;
  void on_backend_message(ByteView message, Pieces& to_client, Pieces& to_server);
  void on_completion(ByteView message, Pieces& to_client);
  void on_error(ByteView message, Pieces& to_client, Pieces& to_server);
  void fail_batch();
  void on_ready(ByteView message, Pieces& to_client, Pieces& to_server);
  void give(ByteView message, Pieces& to_client);
  void give_parameters(Pieces& to_client);
  Bytes in_clients_words(ByteView error, std::string_view used);

  // stale_plan.cc
  bool begin_recording(const Statement& statement, bool relied_on);
  void record(ByteView bytes);
  bool recover(ByteView error, Pieces& to_server);
  void forget_stale(ByteView error);
  void send_again(Pieces& to_server);

  const std::uint64_t session_;
  StatementStore& store_;
  const TranslatorOptions& options_;
  ClientSettings& settings_;
  ServerStatements* server_ = nullptr;
  ServerSettings* server_settings_ = nullptr;

  protocol::HeaderWalker frontend_;
  Bytes head_;  // of a message that came in pieces and cannot be sent on yet
  Body body_ = Body::Forward;
  bool held_ = false;
  bool head_waits_ = false;    // head_ has all that is wanted, and is held
  bool raw_frontend_ = false;  // Terminate, or what the server is to judge: nothing is looked at any more
  bool skipping_ = false;      // the server skips what comes up to a Sync that the client has not sent
  bool copy_in_ = false;       // the server reads COPY data
  bool executed_ = false;      // the batch has an Execute: what it may have ended is not known yet
  // As SessionTracker: Syncs that a COPY dropped; those that one which failed may have left for the server to
  // answer; whether the front request has had an answer since the last ReadyForQuery.
  std::uint32_t swallowed_syncs_ = 0;
  std::uint32_t doubtful_syncs_ = 0;
  bool answered_ = false;

  ClientNames names_;
  Unnamed unnamed_;
  bool unnamed_replaced_ = false;      // its text is one of ours, for its step's sake
  bool unnamed_on_server_ = false;     // the server's unnamed statement, or its lack of one, is the client's
  std::uint64_t unnamed_version_ = 0;  // counts its changes
  bool large_unnamed_ = false;
  std::vector<Portal> portals_;          // those whose statement has a step that acts when it is executed
  ClientNames::Entry* bound_ = nullptr;  // what the last Bind was of
  RequestQueue requests_;
  SettingSetPtr scope_of_;  // the settings that scope_ was made for
  std::uint32_t scope_ = 0;

  Replay replay_state_ = Replay::Unspoilt;
  Recovery recovery_ = Recovery::None;
  bool replay_relied_on_ = false;  // on a description of an earlier batch
  bool replay_describes_ = false;
  const Statement* replay_statement_ = nullptr;  // among the server's while something is recorded
  StatementPtr recovering_;
  Bytes replay_error_;

  protocol::HeaderWalker backend_;
  Bytes backend_head_;  // of a message that came in pieces and is to be looked at
  bool backend_kept_ = false;
  Bytes parameters_;  // a ParameterDescription that may have to be forgotten
  bool raw_backend_ = false;
  char status_ = 'I';
  bool failed_ = false;  // an error since the last ReadyForQuery

  PinReasons pins_;
  PendingListens pending_listens_;
  std::size_t listens_sent_ = 0;    // LISTENs and UNLISTENs since there was none pending
  std::vector<std::string> begun_;  // channels that the caller is to listen to already
  Listening listening_ = Listening::No;
  bool listens_begun_ = false;     // since the last transaction was over
  bool listens_in_doubt_ = false;  // something else of their batch may have ended the block before them
  bool listens_over_ = false;
  bool watches_notify_ = false;
  bool notified_ = false;
  std::optional<std::size_t> ready_at_;
  bool watches_transaction_ = false;  // a LISTEN was sent, or may be: how the transaction ends is of interest
  std::vector<ListenChange> listens_;
  TranslatorCounts counts_;
};

}  // namespace sluice::pooling

// The client's bytes, message by message: what is at hand of one, whether it has to wait, where its body
// goes.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/byte_set.h"
#include "pooling/router_names.h"
#include "pooling/session_translator.h"
#include "pooling/sql_classifier.h"
#include "protocol/frontend_messages.h"

namespace sluice::pooling {
namespace {

using protocol::HeaderWalker;

bool type_valid(char type) noexcept {
  constexpr ByteSet kTypes("PBDECHSQFdcf");
  return kTypes.has(type);
}

std::size_t zero_count(ByteView bytes, std::size_t wanted) noexcept {
  std::size_t count = 0;
  ByteReader in(bytes);
  while (count < wanted && in.cstring())
    ++count;
  return count;
}

constexpr std::size_t kKeptBytes = 8 * 1024;  // of a buffer that once had to be larger

void empty(Bytes& buffer) {
  buffer.clear();
  if (buffer.capacity() > kKeptBytes) Bytes().swap(buffer);
}

}  // namespace

SessionTranslator::SessionTranslator(std::uint64_t session, StatementStore& store,
                                     const TranslatorOptions& options, ClientSettings& settings)
    : session_(session), store_(store), options_(options), settings_(settings) {
  SLUICE_ASSERT(session != 0);
}

void SessionTranslator::attach(ServerStatements& statements, ServerSettings& settings) {
  SLUICE_ASSERT(server_ == nullptr);
  server_ = &statements;
  server_settings_ = &settings;
  unnamed_on_server_ =
      statements.unnamed_owner_ == session_ && statements.unnamed_version_ == unnamed_version_;
}

void SessionTranslator::detach() {
  server_ = nullptr;
  server_settings_ = nullptr;
  requests_.clear();
  portals_.clear();
  pending_listens_.rollback();
  listens_sent_ = 0;
  begun_.clear();
  listening_ = Listening::No;
  watches_transaction_ = notified_ = listens_begun_ = listens_in_doubt_ = false;
  bound_ = nullptr;
  replay_statement_ = nullptr;
  recovering_ = nullptr;
  replay_state_ = Replay::Unspoilt;
  recovery_ = Recovery::None;
  backend_ = HeaderWalker();
  parameters_.clear();
  backend_kept_ = raw_backend_ = skipping_ = copy_in_ = executed_ = failed_ = large_unnamed_ = false;
  answered_ = false;
  swallowed_syncs_ = doubtful_syncs_ = 0;
  status_ = 'I';
  if (unnamed_.body.capacity() > kKeptBytes && unnamed_.body.size() < kKeptBytes)
    unnamed_.body.shrink_to_fit();
}

bool SessionTranslator::busy() const noexcept {
  return !requests_.empty() || recovery_ != Recovery::None || held_ || skipping_ ||
         !frontend_.at_boundary() || !backend_.at_boundary();
}

bool SessionTranslator::may_go_on() const noexcept {
  return recovery_ == Recovery::None && !awaits_listens() && (!requests_.owes_ready() || copy_in_);
}

// Is enough of the message here to say what becomes of it?
bool SessionTranslator::at_hand(char type, std::uint32_t body_bytes, ByteView body) const noexcept {
  if (body.size() == body_bytes) return true;
  const bool head_full = body.size() >= kHeadBytesMax;
  switch (type) {
    case 'P':
      return body_bytes > options_.statement_bytes_max && (head_full || zero_count(body, 1) == 1);
    case 'Q':
      return body_bytes > options_.statement_bytes_max && head_full;
    case 'B':
      return head_full || zero_count(body, 2) == 2;
    case 'D':
    case 'C':
      return head_full || (!body.empty() && zero_count(body.subspan(1), 1) == 1);
    case 'E':
      return portals_.empty() || head_full || zero_count(body, 1) == 1;
    default:
      return true;
  }
}

void SessionTranslator::resume(Pieces& out) {
  SLUICE_ASSERT(server_ != nullptr);
  if (!held_ || !may_go_on()) return;
  held_ = false;
  if (head_waits_) process_head(out);
}

void SessionTranslator::process_head(Pieces& out) {
  body_ = Body::Forward;
  held_ = head_waits_ = !process(Message{frontend_.type(), frontend_.body_bytes(), head_, nullptr}, out);
  if (!held_) empty(head_);
}

SessionTranslator::Taken SessionTranslator::take(ByteView& bytes, Pieces& out) {
  if (raw_frontend_ || (frontend_.at_boundary() && bytes.front() == std::byte{'X'})) {
    raw_frontend_ = true;
    out.pass(std::exchange(bytes, {}));
    return {};
  }
  if (frontend_.in_body()) return take_body(bytes, out);

  const HeaderWalker before = frontend_;
  const ByteView given = bytes;
  const bool in_one_piece = frontend_.at_boundary() && bytes.size() >= HeaderWalker::kHeaderBytes;
  if (!frontend_.take_header(bytes)) return {};
  const char type = frontend_.type();
  if (!frontend_.length_valid() || !type_valid(type)) {
    raw_frontend_ = true;
    append(out.own(), frontend_.header());
    out.own_done();
    return {};
  }
  const ByteView body = bytes.first(std::min<std::size_t>(bytes.size(), frontend_.body_bytes()));
  if (at_hand(type, frontend_.body_bytes(), body)) {
    body_ = Body::Forward;
    if (!process(Message{type, frontend_.body_bytes(), body, in_one_piece ? given.data() : nullptr}, out)) {
      frontend_ = before;
      bytes = given;
      held_ = true;
      return {};
    }
  } else {
    body_ = Body::Collect;
    head_.assign(body.begin(), body.end());
  }
  const ByteView piece = frontend_.take_body(bytes);
  return {type, piece, !frontend_.in_body()};
}

SessionTranslator::Taken SessionTranslator::take_body(ByteView& bytes, Pieces& out) {
  const ByteView piece = frontend_.take_body(bytes);
  const Taken taken{frontend_.type(), piece, !frontend_.in_body()};
  switch (body_) {
    case Body::Forward:
      out.pass(piece);
      record(piece);
      break;
    case Body::Collect:
      append(head_, piece);
      if (at_hand(frontend_.type(), frontend_.body_bytes(), head_)) process_head(out);
      break;
    case Body::Drop:
      break;
  }
  return taken;
}

bool SessionTranslator::process(const Message& message, Pieces& out) {
  if (recovery_ != Recovery::None) return false;
  const char type = message.type;
  if (awaits_listens()) {
    if (type != 'S' || listening_ != Listening::Alone) return false;
    listens_ready();  // what is committed by it notifies nobody
  }
  if (skipping_ && type != 'S') {
    send(message, out);
    return true;
  }
  if (type == 'd' || type == 'H') {
    send(message, out);
    if (type == 'H' && message.body_bytes > 0 && !copy_in_) push_plain();  // refused as an extended message
    return true;
  }
  if (copy_in_) {
    // Sync is dropped by the COPY; what is no part of one ends the session, for the server to say.
    if (type == 'S') ++swallowed_syncs_;
    if (type == 'c' || type == 'f') copy_in_ = false;
    send(message, out);
    return true;
  }
  if (replay_state_ == Replay::Recorded) replay_state_ = Replay::Unspoilt;
  switch (type) {
    case 'P':
      return on_parse(message, out);
    case 'B':
      return on_bind(message, out);
    case 'D':
      return on_describe(message, out);
    case 'C':
      return on_close(message, out);
    case 'E':
      return on_execute(message, out);
    case 'Q':
      return on_query(message, out);
    case 'S':
      send(message, out);
      push(RequestKind::Sync);
      skipping_ = executed_ = false;
      replay_state_ = replay_state_ == Replay::Recording ? Replay::Recorded : Replay::Unspoilt;
      return true;
    case 'F':
      send(message, out);
      push(RequestKind::Function);
      replay_state_ = Replay::Unspoilt;
      return true;
    default:  // CopyDone, CopyFail
      send(message, out);
      if (!requests_.empty()) push(RequestKind::CopyEnd);
      return true;
  }
}

void SessionTranslator::push(RequestKind kind, RequestQueue::Detail detail) {
  // What changes names is not sent a second time.
  if (detail && replay_state_ == Replay::Recording) replay_state_ = Replay::Spoilt;
  requests_.push(kind, std::move(detail));
}

// A message that is carried out anew only with all of its batch.
void SessionTranslator::push_plain(RequestQueue::Detail detail) {
  if (replay_state_ == Replay::Unspoilt) replay_state_ = Replay::Spoilt;
  requests_.push(RequestKind::Plain, std::move(detail));
}

// Of a Bind or Describe.
void SessionTranslator::push_use(RequestKind kind, std::string_view name, const Statement& statement) {
  if (kind == RequestKind::Plain && replay_state_ == Replay::Unspoilt) replay_state_ = Replay::Spoilt;
  RequestQueue::Detail detail;
  if (names_.ambiguous(statement)) {
    detail = std::make_unique<RequestDetail>();
    detail->name = name;
  }
  requests_.push(kind, std::move(detail));
}

void SessionTranslator::push_unnamed_parse() {
  if (replay_state_ == Replay::Recording) replay_state_ = Replay::Spoilt;
  requests_.push(RequestKind::UnnamedParse);
}

void SessionTranslator::send(const Message& message, Pieces& out) {
  if (message.start != nullptr) {
    const ByteView all(message.start, HeaderWalker::kHeaderBytes + message.body.size());
    out.pass(all);
    record(all);
    return;
  }
  const std::size_t begin = out.own().size();
  append(out.own(), frontend_.header());
  append(out.own(), message.body);
  record(ByteView(out.own()).subspan(begin));
  out.own_done();
}

// `old_name` views into the message's body.
void SessionTranslator::send_renamed(const Message& message, std::string_view old_name, std::string_view name,
                                     Pieces& out) {
  const auto name_at = static_cast<std::size_t>(as_bytes(old_name).data() - message.body.data());
  const ByteView rest = message.body.subspan(name_at + old_name.size());
  const std::size_t begin = out.own().size();
  ByteWriter own(out.own());
  own.u8(static_cast<std::uint8_t>(message.type));
  own.u32(static_cast<std::uint32_t>(4 + message.body_bytes - old_name.size() + name.size()));
  own.bytes(message.body.first(name_at));
  own.text(name);
  if (message.start == nullptr) own.bytes(rest);
  record(ByteView(out.own()).subspan(begin));
  out.own_done();
  if (message.start != nullptr) {
    out.pass(rest);
    record(rest);
  }
}

void SessionTranslator::send_parse(std::string_view name, ByteView body, Pieces& out) {
  ++counts_.server_parses;
  ByteWriter own(out.own());
  own.u8('P');
  own.u32(static_cast<std::uint32_t>(4 + name.size() + 1 + body.size()));
  own.cstring(name);
  own.bytes(body);
  out.own_done();
}

void SessionTranslator::send_close(std::string_view name, Pieces& out) {
  ByteWriter own(out.own());
  own.u8('C');
  own.u32(static_cast<std::uint32_t>(4 + 1 + name.size() + 1));
  own.u8('S');
  own.cstring(name);
  out.own_done();
}

// A Close of nobody's statement, as it does nothing and no time limit is for it.
void SessionTranslator::settle_doubt(Pieces& to_server) {
  SLUICE_ASSERT(server_ != nullptr && !busy());
  send_close(kNobodyName, to_server);
  push(RequestKind::InjectedClose);
  protocol::append_sync(to_server.own());
  to_server.own_done();
  push(RequestKind::InjectedSync);
}

// What of_text(text) says of the first Query or Parse, or of_known(facts, text) of the first Bind.
template <class OfText, class OfKnown>
auto SessionTranslator::of_first(ByteView bytes, OfText of_text, OfKnown of_known) const
    -> decltype(of_text(std::string_view())) {
  ByteReader in(bytes);
  while (const auto type = in.u8()) {
    const auto length = in.u32();
    if (!length || *length < 4) return {};
    const ByteView body = in.rest().first(std::min<std::size_t>(in.remaining(), *length - 4));
    ByteReader content(body);
    if (*type == 'Q') return of_text(as_text(body).substr(0, as_text(body).find('\0')));
    if (*type == 'P') {
      if (!content.cstring()) return {};
      const std::string_view text = as_text(content.rest());
      return of_text(text.substr(0, text.find('\0')));
    }
    if (*type == 'B') {
      content.cstring();
      const auto name = content.cstring();
      if (!name) return {};
      if (name->empty()) {
        const std::string_view text = as_text(unnamed_.body);
        return unnamed_.present ? of_known(unnamed_.facts, text.substr(0, text.find('\0')))
                                : decltype(of_text(text)){};
      }
      const ClientNames::Entry* entry = names_.find(*name);
      if (entry == nullptr) return {};
      return of_known(entry->statement->facts(), entry->statement->sql());
    }
    if (!in.take(*length - 4)) return {};
  }
  return {};
}

Target SessionTranslator::target_of(ByteView bytes) const {
  return of_first(
      bytes, [](std::string_view text) { return pooling::target_of(text); },
      [](const SqlFacts& facts, std::string_view) { return facts.target; });
}

std::optional<std::string_view> SessionTranslator::first_sql(ByteView bytes) const {
  return of_first(
      bytes, [](std::string_view text) { return std::optional(text); },
      [](const SqlFacts&, std::string_view text) { return std::optional(text); });
}

bool SessionTranslator::check_invariant() const noexcept {
  return frontend_.check_invariant() && backend_.check_invariant() && requests_.check_invariant() &&
         (!head_waits_ || held_) && (recovery_ == Recovery::None || requests_.owes_ready()) &&
         pending_listens_.size() <= kListensMax && begun_.size() <= kListensMax &&
         portals_.size() <= kPortalsMax;
}

}  // namespace sluice::pooling

// The server's bytes: what of them is the client's, and what its answers mean for names.
#include <algorithm>
#include <string>
#include <utility>

#include "base/byte_set.h"
#include "pooling/router_names.h"
#include "pooling/session_translator.h"
#include "protocol/backend_messages.h"
#include "protocol/error_response.h"

namespace sluice::pooling {
namespace {

using protocol::HeaderWalker;

// Messages that are looked at as a whole.
bool watched(char type) noexcept {
  constexpr ByteSet kTypes("123nsICEZSGtA");
  return kTypes.has(type);
}

bool completes(char type) noexcept {
  constexpr ByteSet kTypes("123nTCIsV");
  return kTypes.has(type);
}

ByteView body_of(ByteView message) noexcept {
  return message.subspan(HeaderWalker::kHeaderBytes);
}

std::string_view tag_of(ByteView message) noexcept {
  const std::string_view text = as_text(body_of(message));
  return text.substr(0, text.find('\0'));
}

constexpr std::string_view kParseComplete("1\0\0\0\4", 5);

protocol::ErrorFields would_pin(PinReason reason) {
  const std::string what(name(reason));
  return {"ERROR", "0A000", "this would bind the session to one server (" + what + ")",
          "The pool runs transactions on changing servers and is configured to refuse what cannot follow.",
          "Use a database or user with pool_mode session, or let such sessions be pinned."};
}

Bytes words_of(Refusal refusal, PinReason reason) {
  protocol::ErrorFields fields;
  switch (refusal) {
    case Refusal::Pin:
      fields = would_pin(reason);
      break;
    case Refusal::Listens:
      fields = {"ERROR", "54000", "too many LISTEN and UNLISTEN in one transaction", "",
                "Commit a thousand of them at a time."};
      break;
    case Refusal::Steps:
      fields = {"ERROR", "54000", "too many savepoints and ends of transactions in one Query",
                "A LISTEN of this transaction counts when it is committed.",
                "Say no more than " + std::to_string(kTransactionStepsMax) + " at a time."};
      break;
    case Refusal::PrepareTransaction:  // PostgreSQL's words
      fields = {"ERROR", "0A000",
                "cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY", "", ""};
      break;
  }
  Bytes out;
  protocol::append_error_response(out, fields);
  return out;
}

}  // namespace

void SessionTranslator::give(ByteView message, Pieces& to_client) {
  if (message.data() != backend_head_.data()) return to_client.pass(message);
  append(to_client.own(), message);
  to_client.own_done();
}

void SessionTranslator::give_parameters(Pieces& to_client) {
  if (parameters_.empty()) return;
  append(to_client.own(), parameters_);
  to_client.own_done();
  parameters_.clear();
}

void SessionTranslator::on_server(ByteView bytes, Pieces& to_client, Pieces& to_server) {
  ready_at_.reset();
  while (!bytes.empty()) {
    if (raw_backend_) return to_client.pass(bytes);
    if (backend_.in_body()) {
      const ByteView piece = backend_.take_body(bytes);
      if (backend_kept_)
        append(backend_head_, piece);
      else
        to_client.pass(piece);
      if (backend_.in_body()) return;
      backend_kept_ ? on_backend_message(backend_head_, to_client, to_server) : on_streamed(backend_.type());
      continue;
    }
    const bool in_one_piece = backend_.at_boundary() && bytes.size() >= HeaderWalker::kHeaderBytes;
    const std::byte* start = bytes.data();
    if (!backend_.take_header(bytes)) return;
    raw_backend_ = !backend_.length_valid();
    const std::uint32_t body_bytes = backend_.body_bytes();
    const bool all_here = body_bytes <= bytes.size();
    backend_kept_ = !raw_backend_ && watched(backend_.type()) && body_bytes <= kErrorBytesMax;
    if (backend_kept_ && in_one_piece && all_here) {
      backend_.take_body(bytes);
      on_backend_message(ByteView(start, HeaderWalker::kHeaderBytes + body_bytes), to_client, to_server);
      continue;
    }
    const ByteView piece = backend_.take_body(bytes);
    if (backend_kept_) {
      backend_head_.clear();
      append(backend_head_, backend_.header());
      append(backend_head_, piece);
      if (!backend_.in_body()) on_backend_message(backend_head_, to_client, to_server);
      continue;
    }
    give_parameters(to_client);
    if (in_one_piece) {
      to_client.pass(ByteView(start, HeaderWalker::kHeaderBytes + piece.size()));
    } else {
      append(to_client.own(), backend_.header());
      to_client.own_done();
      to_client.pass(piece);
    }
    if (!raw_backend_ && !backend_.in_body()) on_streamed(backend_.type());
  }
}

// The server is past what was in doubt, as it answers in order.
void SessionTranslator::note_completion(char type) noexcept {
  doubtful_syncs_ = 0;
  answered_ = true;
  if (type != 'C' && type != 'I' && type != 's' && type != 'V') return;
  copy_in_ = false;
  swallowed_syncs_ = 0;
}

void SessionTranslator::note_error() noexcept {
  failed_ = answered_ = true;
  copy_in_ = false;
  listening_ = Listening::No;  // the LISTEN was the last that was sent: it fails with this, or is skipped
  doubtful_syncs_ += std::exchange(swallowed_syncs_, 0);
}

// The end of a message that went by unread.
void SessionTranslator::on_streamed(char type) {
  if (requests_.empty()) return;
  if (type == 'E') {
    note_error();
    if (extended(requests_.front().kind)) fail_batch();
  } else if (completes(type)) {
    note_completion(type);
    if (extended(requests_.front().kind)) requests_.pop();
  }
}

void SessionTranslator::on_backend_message(ByteView message, Pieces& to_client, Pieces& to_server) {
  const char type = std::to_integer<char>(message[0]);
  if (type != 'E') give_parameters(to_client);
  switch (type) {
    case 't':
      // A stale plan shows only behind it: it waits for what follows.
      if (requests_.empty() || requests_.front().kind != RequestKind::Replayable)
        return give(message, to_client);
      parameters_.assign(message.begin(), message.end());
      return;
    case 'E':
      return on_error(message, to_client, to_server);
    case 'Z':
      return on_ready(message, to_client, to_server);
    case 'S': {
      ByteReader in(body_of(message));
      const auto setting = in.cstring();
      const auto value = in.cstring();
      if (setting && value) settings_.on_report(*server_settings_, *setting, *value);
      return give(message, to_client);
    }
    case 'A':  // of a channel that no session of this server has asked for by any statement that was seen
      if (!pins_.empty()) give(message, to_client);
      return;
    case 'G':
      if (!requests_.empty() && requests_.front().kind != RequestKind::Sync) {
        answered_ = true;
        doubtful_syncs_ = swallowed_syncs_ = 0;
        copy_in_ = !requests_.on_copy_in(swallowed_syncs_);
      }
      return give(message, to_client);
    default:
      return on_completion(message, to_client);
  }
}

void SessionTranslator::on_completion(ByteView message, Pieces& to_client) {
  const char type = std::to_integer<char>(message[0]);
  if (requests_.empty()) return give(message, to_client);
  const RequestKind kind = requests_.front().kind;
  RequestQueue::Detail popped;
  if (extended(kind)) popped = requests_.pop();
  note_completion(type);
  switch (kind) {
    case RequestKind::InjectedParse:
    case RequestKind::InjectedClose:
      return;
    case RequestKind::SharedParse:
      append(to_client.own(), as_bytes(kParseComplete));
      return to_client.own_done();
    default:
      break;
  }
  if (type == 'C') {
    RequestDetail* detail = kind == RequestKind::Query ? requests_.front().detail.get() : popped.get();
    const std::string_view tag = tag_of(message);
    const bool listen = tag == "UNLISTEN" && detail != nullptr && detail->steps.size() == 1 &&
                        detail->steps[0].action == SqlAction::Listen;
    on_tag(tag, detail, kind == RequestKind::Execute);
    if (listen) {
      protocol::append_command_complete(to_client.own(), "LISTEN");
      return to_client.own_done();
    }
  }
  give(message, to_client);
}

void SessionTranslator::on_error(ByteView message, Pieces& to_client, Pieces& to_server) {
  if (requests_.empty()) {
    failed_ = true;
    return give(message, to_client);
  }
  if (recover(message, to_server)) {
    parameters_.clear();
    return;
  }
  give_parameters(to_client);
  note_error();
  forget_stale(message);
  const RequestKind kind = requests_.front().kind;
  const RequestDetail* detail = requests_.front().detail.get();
  const Refusal refusal = detail != nullptr ? detail->refusal : Refusal();
  const PinReason reason = detail != nullptr ? detail->reason : PinReason();
  const std::string used = detail != nullptr ? detail->name : std::string();
  // First the names as they are after the error, then its words.
  if (extended(kind)) fail_batch();
  if (kind == RequestKind::RefusedParse || kind == RequestKind::RefusedQuery) {
    append(to_client.own(), words_of(refusal, reason));
    to_client.own_done();
  } else if (as_text(message).find(kNamePrefix) != std::string_view::npos) {
    append(to_client.own(), in_clients_words(message, used));
    to_client.own_done();
  } else {
    give(message, to_client);
  }
}

// The server skips to the next Sync: what it has not answered was not done.
void SessionTranslator::fail_batch() {
  std::vector<RequestQueue::Entry> skipped;
  requests_.skip_to_sync(skipped);
  if (requests_.empty()) skipping_ = true;
  bound_ = nullptr;
  for (auto entry = skipped.rbegin(); entry != skipped.rend(); ++entry)
    undo(*entry);
}

void SessionTranslator::on_ready(ByteView message, Pieces& to_client, Pieces& to_server) {
  if (message.size() != HeaderWalker::kHeaderBytes + 1) return give(message, to_client);
  const char status = std::to_integer<char>(message.back());
  const bool in_doubt = requests_.empty() || extended(requests_.front().kind) ||
                        (requests_.front().kind != RequestKind::Sync && !answered_ && doubtful_syncs_ > 0);
  const bool of_ours = !in_doubt && requests_.front().kind == RequestKind::InjectedSync;
  if (!in_doubt) {
    requests_.pop();
  } else if (doubtful_syncs_ > 0) {
    --doubtful_syncs_;
    skipping_ = false;
  }
  copy_in_ = answered_ = false;
  swallowed_syncs_ = 0;
  if (of_ours) {
    failed_ = false;
    return;
  }
  if (recovery_ == Recovery::AwaitsReady) {
    recovery_ = Recovery::None;
    if (status == 'I') return send_again(to_server);
    append(to_client.own(), replay_error_);
    to_client.own_done();
    failed_ = true;
  }
  settle_listens(status);
  if (watches_notify_ && status == 'I') ready_at_ = to_client.bytes();
  status_ = status;
  failed_ = false;
  if (status == 'I' && requests_.empty()) portals_.clear();
  give(message, to_client);
}

// The router's names are replaced by the client's, field by field; a message that has none stays as it is.
// `used`: the name in the request that failed, where it is on record.
Bytes SessionTranslator::in_clients_words(ByteView error, std::string_view used) {
  Bytes body;
  ByteReader in(body_of(error));
  while (const auto field = in.u8()) {
    if (*field == 0) break;
    const auto text = in.cstring();
    if (!text) break;
    body.push_back(static_cast<std::byte>(*field));
    std::string_view rest = *text;
    for (std::size_t at = rest.find(kNamePrefix); at != std::string_view::npos; at = rest.find(kNamePrefix)) {
      append(body, as_bytes(rest.substr(0, at)));
      rest.remove_prefix(at);
      const std::size_t end = std::min(rest.find('"'), rest.size());
      const std::string_view ours = rest.substr(0, end);
      std::string_view theirs = ours;
      if (ours == kGuardName && !used.empty()) theirs = used;
      names_.for_each([&](std::string_view known, const ClientNames::Entry& entry) {
        if (entry.statement->name() == ours && (theirs != used || used.empty())) theirs = known;
      });
      if (ours.starts_with(kForeignPrefix)) theirs = ours.substr(kForeignPrefix.size());
      append(body, as_bytes(theirs));
      rest.remove_prefix(end);
    }
    append(body, as_bytes(rest));
    body.push_back(std::byte{0});
  }
  body.push_back(std::byte{0});
  Bytes out;
  protocol::append_message(out, 'E', body);
  return out;
}

}  // namespace sluice::pooling

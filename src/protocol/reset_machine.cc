#include "protocol/reset_machine.h"

#include "protocol/frontend_messages.h"

namespace sluice::protocol {

ResetMachine::ResetMachine(char status, std::string reset_query, std::uint32_t doubtful_syncs)
    : reset_query_(std::move(reset_query)),
      doubtful_syncs_(doubtful_syncs),
      state_(status == 'I' ? State::Reset : State::Rollback) {
  if (state_ == State::Rollback)
    send("ROLLBACK");
  else if (reset_query_.empty() && doubtful_syncs_ == 0)
    state_ = State::Done;
  else
    send(reset_query_);
}

void ResetMachine::send(const std::string& sql) {
  completed_ = false;
  append_query(output_, sql);
}

Bytes ResetMachine::take_output() {
  return std::exchange(output_, {});
}

ResetMachine::Want ResetMachine::step() {
  while (state_ == State::Rollback || state_ == State::Reset) {
    const auto frame = decoder_.next();
    if (!frame) {
      fail(Failure::Kind::Malformed);
      break;
    }
    if (!*frame) return Want::Read;
    on_frame(**frame);
  }
  if (state_ == State::Done && !decoder_.unread().empty()) fail(Failure::Kind::TrailingBytes);
  return state_ == State::Done ? Want::Done : Want::Failed;
}

void ResetMachine::on_frame(const Frame& frame) {
  switch (frame.type) {
    case 'C':  // CommandComplete
    case 'I':  // EmptyQueryResponse
      completed_ = true;
      doubtful_syncs_ = 0;  // answers come in order
      return;
    case 'E':
      return fail(Failure::Kind::ServerError, parse_error_fields(frame.body));
    case 'S': {  // ParameterStatus
      ByteReader in(frame.body);
      const auto name = in.cstring();
      const auto value = in.cstring();
      if (!name || !value || parameters_.size() == kParametersMax) return fail(Failure::Kind::Malformed);
      parameters_.emplace_back(*name, *value);
      return;
    }
    case 'N':  // NoticeResponse
    case 'A':  // NotificationResponse, of a channel the session listened on
    case 'T':  // RowDescription and DataRow: a configured query may be a SELECT
    case 'D':
      return;
    case 'Z':
      return on_ready(frame.body);
    default:
      return fail(Failure::Kind::UnexpectedMessage);
  }
}

void ResetMachine::on_ready(ByteView body) {
  if (!completed_ && doubtful_syncs_ > 0) {
    --doubtful_syncs_;
    return;
  }
  if (!completed_) return fail(Failure::Kind::NoCommandComplete);
  if (body.size() != 1 || body[0] != std::byte{'I'}) return fail(Failure::Kind::NotIdle);
  if (state_ == State::Rollback && !reset_query_.empty()) {
    // What is here already cannot be the reset's answer.
    if (!decoder_.unread().empty()) return fail(Failure::Kind::TrailingBytes);
    // Only now: a reset query sent ahead would run even when ROLLBACK went wrong.
    state_ = State::Reset;
    send(reset_query_);
    return;
  }
  state_ = State::Done;
}

void ResetMachine::fail(Failure::Kind kind, ErrorFields error) {
  state_ = State::Failed;
  failure_ = Failure{kind, std::move(error)};
}

}  // namespace sluice::protocol

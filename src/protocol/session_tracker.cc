#include "protocol/session_tracker.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice::protocol {
namespace {

enum class FrontendKind : std::uint8_t {
  Invalid,
  Unanswered,
  Flush,
  Extended,
  Execute,
  Query,
  Function,
  Sync,
  CopyEnd
};

constexpr std::array<FrontendKind, 256> frontend_kinds() {
  std::array<FrontendKind, 256> kinds{};
  kinds['d'] = FrontendKind::Unanswered;
  kinds['H'] = FrontendKind::Flush;
  kinds['P'] = kinds['B'] = kinds['D'] = kinds['C'] = FrontendKind::Extended;
  kinds['E'] = FrontendKind::Execute;
  kinds['Q'] = FrontendKind::Query;
  kinds['F'] = FrontendKind::Function;
  kinds['S'] = FrontendKind::Sync;
  kinds['c'] = kinds['f'] = FrontendKind::CopyEnd;
  return kinds;
}
constexpr std::array<FrontendKind, 256> kFrontendKinds = frontend_kinds();

FrontendKind frontend_kind(char type) noexcept {
  return kFrontendKinds[static_cast<std::uint8_t>(type)];
}

}  // namespace

bool SessionTracker::frontend_type_valid(char type) noexcept {
  return frontend_kind(type) != FrontendKind::Invalid;
}

void SessionTracker::on_frontend_message(char type, std::uint32_t body_bytes, TimePoint now) {
  switch (frontend_kind(type)) {
    case FrontendKind::Invalid:
    case FrontendKind::Unanswered:
      return;
    case FrontendKind::Flush:
      if (body_bytes > 0 && copy_ != Copy::In) on_request(Request::Extended, now);
      return;
    case FrontendKind::Extended:
      return on_request(Request::Extended, now);
    case FrontendKind::Execute:
      on_request(Request::Extended, now);
      if (!working_) work_start_ = now;
      working_ = !outstanding_.empty();
      return;
    case FrontendKind::Query:
      return on_request(Request::Query, now);
    case FrontendKind::Function:
      return on_request(Request::Function, now);
    case FrontendKind::Sync:
      if (copy_ == Copy::In) {
        ++swallowed_syncs_;
        return;
      }
      return on_request(Request::Sync, now);
    case FrontendKind::CopyEnd:
      if (copy_ == Copy::In)
        copy_ = Copy::InEnded;
      else if (!outstanding_.empty())
        outstanding_.push(Request::CopyEnd);
      return;
  }
}

void SessionTracker::end_pause(TimePoint now) noexcept {
  const TimePoint since = *std::exchange(paused_since_, std::nullopt);
  for (TimePoint* const start : {&work_start_, &owed_since_})
    *start += now - std::max(since, *start);
}

void SessionTracker::on_request(Request request, TimePoint now) {
  // In a COPY the server ends the session over any of these; if the COPY failed before, they are for the main
  // loop.
  if (copy_ == Copy::In) copy_ = Copy::InEnded;
  if (batch_ == Batch::Skipping && request != Request::Sync) {
    if (doubtful_syncs_ > 0) lost_track_ = true;
    return;
  }
  if (outstanding_.empty()) {
    owed_since_ = now;
    if (!working_) work_start_ = now;
    if (batch_ == Batch::Closed && status_ == 'I') transaction_start_ = now;
  }
  if (request == Request::Query || request == Request::Function) {
    if (!working_) work_start_ = now;
    working_ = true;
  }
  batch_ = request == Request::Extended ? Batch::Open : Batch::Closed;
  outstanding_.push(request);
}

SessionTracker::Effect SessionTracker::on_backend_message(char type) {
  switch (type) {
    case '1':  // ParseComplete
    case '2':  // BindComplete
    case '3':  // CloseComplete
    case 'n':  // NoData
    case 'T':  // RowDescription
    case 'C':  // CommandComplete
    case 'I':  // EmptyQueryResponse
    case 's':  // PortalSuspended
    case 'V':  // FunctionCallResponse
      return on_completion(type);
    case 'G':  // CopyInResponse
      on_copy_in();
      return {};
    case 'W':  // CopyBothResponse
      if (outstanding_.empty()) return {};
      copy_ = Copy::Both;
      doubtful_syncs_ += std::exchange(swallowed_syncs_, 0);  // of a COPY that no proper server leaves so
      answered_ = true;
      return {};
    default:  // rows, COPY data, asynchronous messages
      return {};
  }
}

SessionTracker::Effect SessionTracker::on_completion(char type) {
  if (outstanding_.empty()) return {};
  const Request request = outstanding_.front();
  if (request == Request::Sync || request == Request::CopyEnd) return {};
  doubtful_syncs_ = 0;  // answers come in order: the server is past whatever was in doubt
  answered_ = true;
  Effect effect;
  if (type == 'C' || type == 'I' || type == 's' || type == 'V') {
    if (copy_ != Copy::Both) effect.sample = SampleKind::Completed;
    copy_ = Copy::None;
    swallowed_syncs_ = 0;
  }
  if (request == Request::Extended) pop();
  return effect;
}

SessionTracker::Effect SessionTracker::on_error(const ErrorClass& error) {
  fatal_seen_ = fatal_seen_ || error.fatal;
  if (outstanding_.empty()) return {};
  Effect effect;
  if (!failed_) effect.sample = SampleKind::Failed;
  failed_ = true;
  answered_ = true;
  const bool doubtful = swallowed_syncs_ > 0;
  doubtful_syncs_ += std::exchange(swallowed_syncs_, 0);
  copy_ = Copy::None;
  if (outstanding_.front() == Request::Extended) {
    // The server skips only up to a Sync that the COPY has not read, and runs what stands behind it.
    const bool skipped_more = skip_to_sync();
    lost_track_ = lost_track_ || (doubtful && skipped_more);
  }
  return effect;
}

SessionTracker::Effect SessionTracker::on_ready(char status) {
  if (status != 'I' && status != 'T' && status != 'E') {
    backend_malformed_ = true;
    return {};
  }
  Effect effect;
  const bool extended = !outstanding_.empty() && outstanding_.front() == Request::Extended;
  const bool nothing_done = !outstanding_.empty() && outstanding_.front() != Request::Sync && !answered_;
  if (outstanding_.empty() || extended || (nothing_done && doubtful_syncs_ > 0)) {
    on_ready_in_doubt();
  } else {
    effect.transaction_ended = status == 'I';
    pop();
  }
  status_ = status;
  copy_ = Copy::None;
  swallowed_syncs_ = 0;
  answered_ = false;
  failed_ = false;
  return effect;
}

// A ReadyForQuery that no request on record has asked for: of a Sync in doubt, or after an error that hit the
// server between two messages.
void SessionTracker::on_ready_in_doubt() {
  if (doubtful_syncs_ > 0) {
    --doubtful_syncs_;
    if (batch_ == Batch::Skipping) batch_ = Batch::Closed;
  } else if (owes_answer()) {
    lost_track_ = true;
  }
}

// The server reads COPY data from here on: what the client sent behind the command in the belief of speaking
// to the main loop goes to the COPY, up to the CopyDone or CopyFail or the first message that a COPY does not
// take.
void SessionTracker::on_copy_in() {
  if (outstanding_.empty() || outstanding_.front() == Request::Sync) return;
  answered_ = true;
  doubtful_syncs_ = 0;
  swallowed_syncs_ = 0;
  copy_ = Copy::In;
  const bool was_extended = outstanding_.front() == Request::Extended;
  if (outstanding_.front_count() > 1) {
    copy_ = Copy::InEnded;
    return;
  }
  std::size_t erased_count = 0;
  for (std::size_t i = 1; i < outstanding_.run_count() && copy_ == Copy::In; ++i) {
    const OutstandingQueue::Run& run = outstanding_.run(i);
    switch (run.request) {
      case Request::Sync:
        swallowed_syncs_ += run.count;
        ++erased_count;
        break;
      case Request::CopyEnd:
        if (run.count == 1)
          ++erased_count;
        else
          outstanding_.shorten(i);
        copy_ = Copy::InEnded;
        break;
      case Request::Extended:
      case Request::Query:
      case Request::Function:
        copy_ = Copy::InEnded;
        break;
    }
  }
  outstanding_.erase_behind_front(erased_count);
  // The batch is as open as its last unswallowed message leaves it.
  batch_ = was_extended ? Batch::Open : Batch::Closed;
  for (std::size_t i = 1; i < outstanding_.run_count(); ++i) {
    const Request request = outstanding_.run(i).request;
    if (request != Request::CopyEnd) batch_ = request == Request::Extended ? Batch::Open : Batch::Closed;
  }
}

// Whether it was more than the request that failed.
bool SessionTracker::skip_to_sync() {
  bool more = outstanding_.front_count() > 1;
  outstanding_.pop_run();
  while (!outstanding_.empty() && outstanding_.front() != Request::Sync) {
    more = more || outstanding_.front() != Request::CopyEnd;
    outstanding_.pop_run();
  }
  if (outstanding_.empty()) batch_ = Batch::Skipping;
  after_pop();
  return more;
}

void SessionTracker::after_pop() {
  while (!outstanding_.empty() && outstanding_.front() == Request::CopyEnd)
    outstanding_.pop_run();
  if (outstanding_.empty()) working_ = false;
}

bool SessionTracker::ready_for_reset() const noexcept {
  return !owes_answer() && !lost_track_ && copy_ == Copy::None && frontend_.at_boundary() &&
         backend_.at_boundary() && frontend_end_ != FrontendEnd::Malformed && !backend_malformed_ &&
         !fatal_seen_;
}

bool SessionTracker::check_invariant() const noexcept {
  const bool front_ok = outstanding_.empty() || outstanding_.front() != Request::CopyEnd;
  const bool skipping_ok = batch_ != Batch::Skipping || outstanding_.empty();
  const bool working_ok = !working_ || !outstanding_.empty();
  const bool swallowed_ok = swallowed_syncs_ == 0 || copy_ == Copy::In || copy_ == Copy::InEnded;
  return front_ok && skipping_ok && working_ok && swallowed_ok && frontend_.check_invariant() &&
         backend_.check_invariant() && outstanding_.check_invariant();
}

}  // namespace sluice::protocol

#include "trace/session_calls.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace sluice::trace {
namespace {

constexpr std::size_t kHeadBytesMax = 2 * StatementCapture::kNameBytesMax + 2;

std::uint64_t key_of(std::string_view name) noexcept {
  return std::hash<std::string_view>{}(name.substr(0, StatementCapture::kNameBytesMax));
}

// The text up to the first zero byte, which it takes off the front with it; all of it without one.
std::string_view take_text(std::string_view& rest) noexcept {
  const std::size_t end = std::min(rest.find('\0'), rest.size());
  const std::string_view text = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return text;
}

}  // namespace

void SessionCalls::on_statement(char type, ByteView piece, bool complete) {
  if (complete && !capture_) [[likely]] {
    std::string_view rest = as_text(piece);
    const std::string_view name = type == 'P' ? take_text(rest) : std::string_view();
    const std::string_view text = take_text(rest);
    return on_text(type, name, text, text);
  }
  if (!capture_) capture_ = std::make_unique<StatementCapture>(type);
  capture_->add(as_text(piece));
  if (!complete) return;
  on_text(type, capture_->name(), capture_->front(), capture_->back());
  capture_.reset();
}

void SessionCalls::on_text(char type, std::string_view name, std::string_view front, std::string_view back) {
  Place place;
  if (begins_with_comment(front) || ends_with_comment(back)) [[unlikely]] {
    RouteNames::Named named = names_.read(front, back, hint_);
    place = {std::move(named.route), named.trace};
    if (place.route || place.trace) {
      if (!state_) state_ = std::make_unique<State>();
      if (!place.route && place.trace == state_->last.trace) place.route = state_->last.route;
    }
  }
  if (!state_) [[likely]]
    return;
  auto& statements = state_->statements;
  if (type == 'P' && place.route) {
    const std::uint64_t key = key_of(name);
    if (statements.size() >= kStatementsMax && !statements.contains(key))
      statements.erase(statements.begin());
    statements.insert_or_assign(key, place);
  } else if (!statements.empty()) {
    statements.erase(key_of(name));  // a Query ends the unnamed statement
  }
  if (!place.route) return;
  if (place.trace) {
    if (state_->last.route != place.route) state_->last.route = place.route;
    state_->last.trace = place.trace;
    state_->last_at = call_begin_;
  }
  Place& own = state_->open.own;
  if (!own.route || (place.trace && !own.trace)) own = std::move(place);
}

void SessionCalls::on_name(char type, ByteView piece, bool complete) {
  std::string_view body = as_text(piece);
  std::string& head = state_->head;
  if (!complete || !head.empty()) {
    head.append(body.substr(0, kHeadBytesMax - std::min(head.size(), kHeadBytesMax)));
    if (!complete) return;
    body = head;
  }
  if (type == 'B') {
    take_text(body);  // the portal
    on_bind(take_text(body));
  } else if (body.starts_with('S')) {
    body.remove_prefix(1);
    state_->statements.erase(key_of(take_text(body)));
  }
  head.clear();
}

void SessionCalls::on_bind(std::string_view statement) {
  Pending& open = state_->open;
  if (open.binds) return;
  const auto found = state_->statements.find(key_of(statement));
  if (found == state_->statements.end()) return;
  open.bound = found->second;
  open.binds = true;
  open.fresh = state_->last.trace == open.bound.trace && call_begin_ - state_->last_at <= memory_;
}

void SessionCalls::queue_call() {
  Pending& open = state_->open;
  if (pending_count() < kPendingMax) {
    open.number = sent_;
    open.begin = call_begin_;
    state_->pending.push_back(std::move(open));
  }
  open = Pending();
}

void SessionCalls::settle(char status, TimePoint now) {
  State& state = *state_;
  if (pending_count() > 0 && state.pending[state.next].number == answered_) {
    place_call(state.pending[state.next], status_ != 'I' || status != 'I', now);
    // Mostly that was the only one.
    if (++state.next == state.pending.size()) forget_answered();
    if (state.next == kPendingMax) forget_answered();
  }
  if (status != 'I') return;
  state.block = Place();
  held_count_ = 0;
}

void SessionCalls::place_call(const Pending& call, bool in_block, TimePoint now) {
  const Place& block = state_->block;
  if (call.own.route && call.own.trace) return report_in(call.own, in_block, call.begin, now);
  const bool in_trace = in_block && block.trace;
  if (call.own.route) return report(in_trace ? block : call.own, call.begin, now);
  if (call.binds && call.bound.trace) {
    if (in_trace ? block.trace == call.bound.trace : call.fresh)
      return report_in(in_trace ? block : call.bound, in_block, call.begin, now);
    return report({in_trace ? block.route : call.bound.route, TraceId()}, call.begin, now);
  }
  if (in_trace) return report(block, call.begin, now);
  if (call.binds) return report(call.bound, call.begin, now);
  if (in_block) hold(call.begin, now);
}

// A call of a known request: the block that it stands in is the request's, too.
void SessionCalls::report_in(const Place& place, bool in_block, TimePoint begin, TimePoint end) {
  if (in_block) {
    state_->block = place;
    for (std::size_t i = 0; i < held_count_; ++i) {
      Call call;
      call.trace = place.trace;
      call.begin = held_[i].begin;
      call.end = held_[i].end;
      call.response = call.end - call.begin;
      sink_.finished(call, place.route);
    }
    held_count_ = 0;
  }
  report(place, begin, end);
}

void SessionCalls::report(const Place& place, TimePoint begin, TimePoint end) {
  Call call;
  call.trace = place.trace;
  call.begin = begin;
  call.end = end;
  call.response = end - std::max(begin, std::min(ready_at_, end));
  call.failed = failed_;
  sink_.finished(call, place.route);
}

void SessionCalls::hold(TimePoint begin, TimePoint end) noexcept {
  if (held_count_ == kHeldMax) return;
  held_[held_count_++] = {begin, end};
}

void SessionCalls::forget_answered() {
  auto& pending = state_->pending;
  if (state_->next == pending.size()) {
    pending.clear();
  } else {
    pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(state_->next));
  }
  state_->next = 0;
}

void SessionCalls::catch_up() {
  answered_ = sent_;
  if (!state_) return;
  state_->pending.clear();
  state_->next = 0;
}

}  // namespace sluice::trace

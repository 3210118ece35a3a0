#pragma once

#include <cstdint>

namespace sluice::sizes::detail {

// Leaves out what repeats: `(?, ?, ?)` is `(?)`, and rows of these, `(?), (?)`, are one. Tokens come in and
// go on to the sink, which has word(packed, bytes), behind word_part(packed) for each 8 bytes of a longer
// one, name(sql, begin, end), symbol(c) and literal().
template <class Sink>
class ListFolder {
 public:
  explicit ListFolder(Sink& sink) noexcept : sink_(sink) {}

  // Before whatever is neither a literal nor a symbol, and at the end.
  void flush() {
    if (holds()) give_what_is_held();
    state_ = State::Other;
  }
  void literal() {
    if (state_ >= State::Row) {
      state_ = State::RowListed;
    } else if (state_ >= State::Listed) {
      state_ = State::Listed;
    } else if (state_ == State::Opened) {
      sink_.literal();
      state_ = State::Listed;
    } else {
      flush();
      if (!after_literal_) sink_.literal();
      after_literal_ = true;
    }
  }
  void symbol(char c) {
    after_literal_ = false;
    if (state_ == State::Other) {  // mostly
      sink_.symbol(c);
      if (c == '(' || c == '[') state_ = State::Opened;
      return;
    }
    if (c == ',' && next_on_comma()) return;
    if (state_ == State::ClosedComma && c == '(') {
      state_ = State::Row;
      return;
    }
    if (state_ == State::RowListed && c == ')') {
      state_ = State::Closed;
      return;
    }
    const bool closes = state_ == State::Listed && c == ')';
    flush();
    sink_.symbol(c);
    if (closes) state_ = State::Closed;
    if (c == '(' || c == '[') state_ = State::Opened;
  }
  void other() {
    after_literal_ = false;
    if (state_ != State::Other) flush();
  }

 private:
  // What has gone by, as far as it may be left out. "Row": the comma and what follows it were not passed on.
  // In this order, that ranges tell what to do: jumps by tables would cost more than the rest of it.
  enum class State : std::uint8_t {
    Other,
    Closed,          // (?)
    ClosedComma,     // (?) ,
    Opened,          // (
    Listed,          // (?
    ListedComma,     // (? ,
    Row,             // (?) , (
    RowListed,       // (?) , (?
    RowListedComma,  // (?) , (? ,
  };
  bool holds() const noexcept { return state_ >= State::ListedComma || state_ == State::ClosedComma; }
  [[gnu::noinline]] void give_what_is_held() {
    sink_.symbol(',');
    if (state_ < State::Row) return;
    sink_.symbol('(');
    if (state_ == State::Row) return;
    sink_.literal();
    if (state_ == State::RowListedComma) sink_.symbol(',');
  }
  bool next_on_comma() noexcept {
    if (state_ == State::Listed)
      state_ = State::ListedComma;
    else if (state_ == State::Closed)
      state_ = State::ClosedComma;
    else if (state_ == State::RowListed)
      state_ = State::RowListedComma;
    else
      return false;
    return true;
  }

  Sink& sink_;
  State state_ = State::Other;
  bool after_literal_ = false;  // 'a' 'b' on two lines is one literal
};

}  // namespace sluice::sizes::detail

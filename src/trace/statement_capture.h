#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "trace/comment.h"

namespace sluice::trace {

// What comments need of a Query or Parse that arrives in pieces: the statement's name, and both ends of its
// text. Holds at most about 7 KiB however long the message is.
class StatementCapture {
 public:
  // Of a name only so much is told from another.
  static constexpr std::size_t kNameBytesMax = 256;
  static constexpr std::size_t kEndBytes = kCommentBytesMax + kPaddingBytesMax + 4;

  // `type` is that of the message, 'Q' or 'P'.
  explicit StatementCapture(char type) : part_(type == 'P' ? Part::Name : Part::Text) {}

  // The next bytes of the body.
  void add(std::string_view piece);

  std::string_view name() const noexcept { return name_; }
  // The whole text, or its first and last kEndBytes at least.
  std::string_view front() const noexcept { return front_; }
  std::string_view back() const noexcept { return back_; }

 private:
  enum class Part { Name, Text, Rest };

  void add_text(std::string_view piece);

  Part part_;
  std::string name_, front_, back_;
};

}  // namespace sluice::trace

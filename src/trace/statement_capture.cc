#include "trace/statement_capture.h"

#include <algorithm>

namespace sluice::trace {

void StatementCapture::add(std::string_view piece) {
  while (part_ != Part::Rest && !piece.empty()) {
    const std::size_t end = std::min(piece.find('\0'), piece.size());
    const std::string_view part = piece.substr(0, end);
    if (part_ == Part::Name) {
      name_.append(part.substr(0, kNameBytesMax - name_.size()));
    } else {
      add_text(part);
    }
    if (end == piece.size()) return;
    piece.remove_prefix(end + 1);
    part_ = part_ == Part::Name ? Part::Text : Part::Rest;
  }
}

void StatementCapture::add_text(std::string_view piece) {
  front_.append(piece.substr(0, kEndBytes - front_.size()));
  if (piece.size() >= kEndBytes) {
    back_.assign(piece.substr(piece.size() - kEndBytes));
    return;
  }
  back_.append(piece);
  // Moved only now and then, so that small pieces cost no more than their own length.
  if (back_.size() > 2 * kEndBytes) back_.erase(0, back_.size() - kEndBytes);
}

}  // namespace sluice::trace

#pragma once

#include <cstddef>
#include <vector>

#include "base/bytes.h"

namespace sluice::pooling {

// Bytes to be sent, in order: spans of the input and bytes of the router's own.
// Lifetime: what view() gives lives until the next pass(), own() or clear(), and as long as the input given
// to
//           pass().
// Cost:     no allocation once it has reached its size: keep one per thread or session and clear() it.
class Pieces {
 public:
  bool empty() const noexcept { return pieces_.empty(); }
  std::size_t count() const noexcept { return pieces_.size(); }
  ByteView view(std::size_t index) const noexcept {
    const Piece& piece = pieces_[index];
    return piece.data != nullptr ? ByteView(piece.data, piece.size)
                                 : ByteView(own_.data() + piece.offset, piece.size);
  }
  // All of them, one after the other.
  Bytes joined() const {
    Bytes all;
    for (std::size_t i = 0; i < count(); ++i)
      append(all, view(i));
    return all;
  }
  std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (const Piece& piece : pieces_)
      sum += piece.size;
    return sum;
  }
  void clear() noexcept {
    pieces_.clear();
    own_.clear();
    own_end_ = 0;
  }

  // A span of the input; joined to the one before where they are neighbours.
  void pass(ByteView bytes) {
    if (bytes.empty()) return;
    if (!pieces_.empty()) {
      Piece& last = pieces_.back();
      if (last.data != nullptr && last.data + last.size == bytes.data()) {
        last.size += bytes.size();
        return;
      }
    }
    pieces_.push_back(Piece{bytes.data(), 0, bytes.size()});
  }
  // Where bytes of the router's own are appended to, followed by own_done().
  Bytes& own() noexcept { return own_; }
  void own_done() {
    const std::size_t end = own_end_;
    if (own_.size() == end) return;
    if (!pieces_.empty() && pieces_.back().data == nullptr)
      pieces_.back().size += own_.size() - end;
    else
      pieces_.push_back(Piece{nullptr, end, own_.size() - end});
    own_end_ = own_.size();
  }

 private:
  struct Piece {
    const std::byte* data;  // nullptr: of own_, at `offset`
    std::size_t offset;
    std::size_t size;
  };
  std::vector<Piece> pieces_;
  Bytes own_;
  std::size_t own_end_ = 0;  // of own_, as far as pieces cover it
};

}  // namespace sluice::pooling

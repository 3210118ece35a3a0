#include "pooling/session_translator.h"

#include <gtest/gtest.h>

#include "pooling/hand_back.h"

namespace sluice::pooling {
namespace {

TEST(Pieces, JoinsNeighboursAndKeepsOrder) {
  const std::string_view input = "abcdef";
  Pieces pieces;
  pieces.pass(as_bytes(input.substr(0, 2)));
  pieces.pass(as_bytes(input.substr(2, 1)));
  append(pieces.own(), as_bytes("xy"));
  pieces.own_done();
  pieces.pass(as_bytes(input.substr(4)));
  EXPECT_EQ(pieces.count(), 3u);
  EXPECT_EQ(as_text(pieces.joined()), "abcxyef");
  EXPECT_EQ(pieces.bytes(), 7u);
  pieces.clear();
  EXPECT_TRUE(pieces.empty());
}

}  // namespace
}  // namespace sluice::pooling

// The simulated server gives the answers that PostgreSQL 15 gave to the same messages, as recorded by hand.
#include "tests/protocol/backend_model.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::protocol::test {
namespace {

// Types of the answers, asynchronous ones left out. `messages`: a type each, a Query or Parse followed by its
// text in parentheses.
std::string answers(std::string_view messages) {
  BackendModel backend;
  while (!messages.empty()) {
    const char type = messages.front();
    messages.remove_prefix(1);
    std::string_view text;
    if (!messages.empty() && messages.front() == '(') {
      const std::size_t end = messages.find(')');
      text = messages.substr(1, end - 1);
      messages.remove_prefix(end + 1);
    }
    backend.consume(type, text);
  }
  std::string types;
  ByteReader in(backend.output());
  while (const auto type = in.u8()) {
    if (*type != 'S' && *type != 'N') types += static_cast<char>(*type);
    (void)in.take(*in.u32() - 4);
  }
  return types;
}

TEST(BackendModel, AnswersAsPostgreSQL15Does) {
  EXPECT_EQ(answers("P(c)BESdcS"), "12GCZ");  // the first Sync is swallowed
  EXPECT_EQ(answers("P(v)BES"), "12GEZ");     // COPY to a view: the Sync is answered
  EXPECT_EQ(answers("P(v)BESdcS"), "12GEZZ");
  EXPECT_EQ(answers("P(x)BESddc"), "12GE");  // a duplicate key
  EXPECT_EQ(answers("P(x)BESddcS"), "12GEZ");
  EXPECT_EQ(answers("P(c)BESfS"), "12GEZ");
  EXPECT_EQ(answers("P(!)BESdcS"), "EZZ");    // the COPY never began
  EXPECT_EQ(answers("P(e)BECQ(s)F"), "12E");  // all skipped, also Query and FunctionCall
  EXPECT_EQ(answers("P(e)BECQ(s)FS"), "12EZ");
  EXPECT_EQ(answers("P(s)Q(s)"), "1TDDCZ");  // a Query needs no Sync before it
  EXPECT_EQ(answers("P(!)Q(s)S"), "EZ");
  EXPECT_EQ(answers("Q(c)Sdc"), "GCZ");
  EXPECT_EQ(answers("F"), "VZ");
  EXPECT_EQ(answers("Q(c)Q(s)"), "GEE");  // ERROR, then FATAL
}

}  // namespace
}  // namespace sluice::protocol::test

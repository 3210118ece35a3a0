// Input: an SQL text. The quick answer must not contradict the lexer, and every token lies within the text.
#include <string>

#include "base/assert.h"
#include "pooling/sql_classifier.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::pooling;
  const std::string sql(reinterpret_cast<const char*>(data), size);
  for (const Backslash backslash : {Backslash::Literal, Backslash::Escape}) {
    SqlLexer lexer(sql, backslash);
    std::size_t bytes = 0;
    for (SqlToken token = lexer.next(); token.kind != SqlTokenKind::End; token = lexer.next()) {
      SLUICE_ASSERT(!token.text.empty());
      bytes += token.text.size();
      SLUICE_ASSERT(token.identifier().size() <= 63);
      if (token.kind == SqlTokenKind::String) SLUICE_ASSERT(token.string_value().size() <= token.text.size());
    }
    SLUICE_ASSERT(bytes <= sql.size());
    const SqlFacts facts = classify(sql, backslash);
    SLUICE_ASSERT(facts.steps.size() <= SqlFacts::kStepsMax);
    if (surely_ordinary(sql)) {
      const SqlFacts read = classify("; " + sql, backslash);
      SLUICE_ASSERT(read.ordinary() && read.target == Target::Unsaid && read.statement_count <= 1);
    }
  }
  (void)target_of(sql);
  return 0;
}

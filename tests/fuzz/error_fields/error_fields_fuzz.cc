// Input: an ErrorResponse body. The whole-body parser and the scanner fed in pieces must agree.
#include "base/assert.h"
#include "protocol/error_response.h"
#include "protocol/error_scanner.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  using namespace sluice::protocol;
  fuzz::Input input(data, size);
  const std::size_t piece_bytes = input.byte() + 1u;
  const ByteView body = input.rest();
  const ErrorFields fields = parse_error_fields(body);
  ErrorScanner pieces;
  for (std::size_t at = 0; at < body.size(); at += piece_bytes)
    pieces.feed(body.subspan(at, std::min(piece_bytes, body.size() - at)));
  ErrorScanner whole;
  whole.feed(body);
  const ErrorClass error = pieces.finish();
  const ErrorClass expected = whole.finish();
  SLUICE_ASSERT(error.sqlstate == expected.sqlstate && error.fatal == expected.fatal);

  Bytes written;
  append_error_response(written, fields);
  SLUICE_ASSERT(parse_error_fields(ByteView(written).subspan(5)) == fields);
  return 0;
}

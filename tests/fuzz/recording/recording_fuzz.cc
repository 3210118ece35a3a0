#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "base/assert.h"
#include "recording/trace_reader.h"
#include "recording/trace_writer.h"

namespace {

using namespace sluice;
using namespace sluice::recording;

// What was read can be written, and reads back the same.
void round_trip(const std::vector<Record>& records) {
  TraceWriter writer;
  writer.begin_file(0);
  for (const Record& record : records)
    writer.add(record);
  writer.flush();
  const Bytes bytes = writer.take();
  std::istringstream in{std::string(as_text(bytes))};
  TraceReader reader(in);
  for (const Record& record : records)
    SLUICE_ASSERT(reader.next() == record);
  SLUICE_ASSERT(!reader.next() && !reader.damage());
}

}  // namespace

// What begins like a trace is one; anything else is the records of a block, which no checksum protects from a
// fuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<Record> records;
  if (text.starts_with("SLUIC")) {
    std::istringstream in(text);
    TraceReader reader(in);
    while (auto record = reader.next())
      records.push_back(std::move(*record));
  } else {
    RecordDecoder decoder(as_bytes(text), Offset(0));
    while (auto record = decoder.next())
      records.push_back(std::move(*record));
  }
  round_trip(records);
  return 0;
}

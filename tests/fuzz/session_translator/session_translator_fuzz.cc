// Input: records of one byte (high bit: from the server; the rest: length) and that many bytes of that side's
// stream. Two translators, one fed whole records and one fed byte by byte, must give the same bytes to both
// sides. Of a record of the server's the first takes a message at a time: what of the client's waits for an
// answer is looked at between two reads, and a server that answers ahead of its questions would tell reads
// apart.
#include "base/assert.h"
#include "pooling/session_translator.h"
#include "protocol/header_walker.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using namespace sluice;
using namespace sluice::pooling;

struct Side {
  StatementStore store{0, 4096};
  SettingsStore settings_store;
  TrackedSettings tracked{std::vector<std::string>{"search_path"}};
  TranslatorOptions options;
  ClientSettings settings{settings_store, tracked, {}};
  ServerStatements statements{2};
  ServerSettings server_settings{settings_store};
  SessionTranslator translator{1, store, options, settings};
  Bytes to_server;
  Bytes to_client;
  Bytes held;

  Side() { translator.attach(statements, server_settings); }

  void on_piece(char, ByteView, bool, SessionTranslator::TimePoint) {}
  void client(ByteView bytes) {
    append(held, bytes);
    Pieces out;
    const std::size_t taken = translator.on_client(held, {}, *this, out);
    SLUICE_ASSERT(taken == held.size() || translator.held());
    append(to_server, out.joined());  // views into held, for one
    held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(taken));
    SLUICE_ASSERT(translator.check_invariant());
  }
  void server(ByteView bytes) {
    Pieces out;
    Pieces back;
    translator.on_server(bytes, out, back);
    append(to_client, out.joined());
    append(to_server, back.joined());
    SLUICE_ASSERT(translator.check_invariant());
    client({});
  }
  void feed(bool from_server, ByteView bytes) { from_server ? server(bytes) : client(bytes); }
};

// Where the server's messages end.
class Messages {
 public:
  // Up to the end of the message that `bytes` begin in, or all of them.
  std::size_t next(ByteView bytes) {
    const std::size_t given = bytes.size();
    if (!valid_ || (!walker_.in_body() && !walker_.take_header(bytes))) return given;
    valid_ = walker_.length_valid();
    walker_.take_body(bytes);
    return valid_ ? given - bytes.size() : given;
  }

 private:
  protocol::HeaderWalker walker_;
  bool valid_ = true;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  Side whole;
  Side bytewise;
  Messages messages;
  while (!input.empty()) {
    const std::uint8_t record = input.byte();
    const bool from_server = (record & 0x80) != 0;
    const ByteView bytes = input.take(record & 0x7F);
    for (ByteView rest = bytes; !rest.empty();) {
      const std::size_t count = from_server ? messages.next(rest) : rest.size();
      whole.feed(from_server, rest.first(count));
      rest = rest.subspan(count);
    }
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytewise.feed(from_server, bytes.subspan(i, 1));
    if (whole.held.empty() && bytewise.held.empty()) {
      SLUICE_ASSERT(whole.to_server == bytewise.to_server);
      SLUICE_ASSERT(whole.to_client == bytewise.to_client);
      SLUICE_ASSERT(whole.translator.pins() == bytewise.translator.pins());
    }
  }
  return 0;
}

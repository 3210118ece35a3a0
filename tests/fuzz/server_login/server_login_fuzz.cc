#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "protocol/server_login.h"

using namespace sluice;
using namespace sluice::protocol;

namespace {

struct Ending {
  ServerLogin::Want want;
  Bytes output;
};

ServerLogin::Settings settings_of(std::uint8_t choice) {
  ServerLogin::Settings settings;
  settings.sslmode = static_cast<SslMode>((choice & 7) % 6);
  settings.tls_possible = (choice & 8) != 0;
  settings.parameters = {{"user", "ann"}, {"database", "shop"}};
  settings.scram_iterations_max = 4;  // the work is not what is tested
  if ((choice & 0x10) != 0) settings.credentials.password = "pencil";
  if ((choice & 0x20) != 0) settings.credentials.client_keys = ClientKeys{};
  if ((choice & 0x40) != 0) settings.credentials.md5_hash = "md5" + std::string(32, '0');
  return settings;
}

Ending run(ByteView input, std::uint8_t choice, std::size_t piece) {
  ServerLogin login(settings_of(choice));
  Ending ending{ServerLogin::Want::Read, {}};
  std::size_t used = 0;
  while (true) {
    ending.want = login.step();
    append(ending.output, login.take_output());
    switch (ending.want) {
      case ServerLogin::Want::Read: {
        if (used == input.size()) return ending;
        const std::size_t size = std::min(piece, input.size() - used);
        const ByteView bytes = input.subspan(used, size);
        std::copy(bytes.begin(), bytes.end(), login.prepare(size).begin());
        login.commit(size);
        used += size;
        break;
      }
      case ServerLogin::Want::StartTls:
        login.tls_started((choice & 0x80) != 0 ? Bytes(32) : Bytes{});
        break;
      case ServerLogin::Want::Failed:
        SLUICE_ASSERT(login.from_server() || !login.failure().message.empty());
        return ending;
      case ServerLogin::Want::Ready:
        SLUICE_ASSERT(login.authenticated() && login.parameters().size() <= 256);
        SLUICE_ASSERT(login.cancel_secret().size() <= kCancelSecretBytesMax);
        return ending;
      case ServerLogin::Want::ReconnectPlain:
      case ServerLogin::Want::ReconnectTls:
        return ending;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 100000) return 0;
  const ByteView input = std::as_bytes(std::span(data + 2, size - 2));
  const Ending pieces = run(input, data[0], std::max<std::size_t>(1, data[1]));
  const Ending single = run(input, data[0], 1);
  // Only bytes glued behind the answer to SSLRequest make a difference: they are refused.
  const bool asked_for_tls = single.output.size() >= 8 && single.output[4] == std::byte{0x04};
  SLUICE_ASSERT((asked_for_tls && pieces.want == ServerLogin::Want::Failed) ||
                (pieces.want == single.want && pieces.output == single.output));
  return 0;
}

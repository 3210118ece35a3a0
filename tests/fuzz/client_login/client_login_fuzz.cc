#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "protocol/client_login.h"

using namespace sluice;
using namespace sluice::protocol;

namespace {

constexpr std::size_t kWhole = 1 << 20;

struct Ending {
  ClientLogin::Want want;
  Bytes output;
  std::size_t used;
};

Secret secret_of(std::uint8_t choice) {
  static const ScramVerifier verifier = mock_verifier("somebody", as_bytes("no password fits this"), 4096);
  switch (choice >> 3 & 3) {
    case 0:
      return UnknownUser{};
    case 1:
      return Md5Hash{"md5" + std::string(32, '0')};
    default:
      return verifier;
  }
}

// Feeds pieces, answers every wish as a shell would, stops at an end.
Ending run(ByteView input, std::uint8_t choice, std::size_t piece) {
  ClientLogin::Settings settings;
  settings.tls_available = (choice & 0x40) != 0;
  settings.mock_secret = as_bytes("mock");
  ClientLogin login(settings);
  Ending ending{ClientLogin::Want::Read, {}, 0};
  while (true) {
    ending.want = login.step();
    append(ending.output, login.take_output());
    switch (ending.want) {
      case ClientLogin::Want::Read: {
        if (ending.used == input.size()) return ending;
        const std::size_t size = std::min(piece, input.size() - ending.used);
        const auto room = login.prepare(size);
        const ByteView bytes = input.subspan(ending.used, size);
        std::copy(bytes.begin(), bytes.end(), room.begin());
        login.commit(size);
        ending.used += size;
        break;
      }
      case ClientLogin::Want::StartTls:
        login.tls_started({"ann", (choice & 0x80) != 0 ? Bytes(32) : Bytes{}});
        break;
      case ClientLogin::Want::ChooseMethod:
        SLUICE_ASSERT(!login.startup().user.empty());
        login.authenticate((choice & 1) != 0 ? AuthMethod::Md5 : AuthMethod::ScramSha256, secret_of(choice),
                           {});
        break;
      case ClientLogin::Want::Relay:
      case ClientLogin::Want::Authenticated:
      case ClientLogin::Want::Cancel:
      case ClientLogin::Want::Close:
        ending.used -= login.unread().size();
        return ending;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 20000) return 0;
  const ByteView input = std::as_bytes(std::span(data + 2, size - 2));
  const Ending pieces = run(input, data[0], std::max<std::size_t>(1, data[1]));
  // A stranger gets in nowhere: the only right MD5 answer would be a preimage, and there is none for SCRAM.
  SLUICE_ASSERT(pieces.want != ClientLogin::Want::Authenticated);
  // Arrival by single bytes ends as arrival by pieces, unless bytes glued behind a request were refused.
  const Ending single = run(input, data[0], 1);
  const Ending whole = run(input, data[0], kWhole);
  for (const Ending& other : {pieces, whole}) {
    const bool negotiates =
        !single.output.empty() && (single.output[0] == std::byte{'N'} || single.output[0] == std::byte{'S'});
    const bool refused = negotiates && other.want == ClientLogin::Want::Close;
    SLUICE_ASSERT(refused || other.output == single.output);
  }
  return 0;
}

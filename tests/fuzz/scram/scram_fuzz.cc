#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "protocol/scram_client.h"
#include "protocol/scram_server.h"

using namespace sluice;
using namespace sluice::protocol;

// The first byte chooses; then two messages, cut at the first line feed: for a server client-first and
// client-final, for a client server-first and server-final. The whole is tried as a stored secret, too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 || size > 4096) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t cut = text.find('\n');
  const std::string first = text.substr(0, cut);
  const std::string second = cut == std::string::npos ? "" : text.substr(cut + 1);

  (void)parse_secret(text);

  const bool plus = (data[0] & 1) != 0;
  ScramServer server(mock_verifier("ann", as_bytes("mock"), 4096), ScramServer::Verdict::ByProof,
                     plus ? ScramServer::Channel::Tls : ScramServer::Channel::Plain, Bytes(32),
                     "SERVERNONCE");
  SLUICE_ASSERT(server.select((data[0] & 2) != 0 && plus ? kScramSha256Plus : kScramSha256));
  if (server.first(first)) SLUICE_ASSERT(!server.final(second));  // no proof can be right

  const auto binding = static_cast<ScramClient::Binding>((data[0] >> 2) % 3);
  const auto credential = (data[0] & 0x80) != 0 ? ScramClient::Credential(ClientKeys{})
                                                : ScramClient::Credential(PlainPassword{"pencil"});
  ScramClient client(credential, binding, Bytes(32), "clientnonce", 4);
  // A signature made with all-zero keys could be written down; one made with the password's not, short of a
  // hash.
  if (client.final(first)) (void)client.verify(second);
  return 0;
}

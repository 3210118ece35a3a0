#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/scram.h"
#include "protocol/secret.h"

namespace sluice::protocol {

// Derives the verifier of a plain password: SASLprep, then `iterations` rounds of PBKDF2 (about a millisecond
// at 4096). Pure: a shell keeps the result.
ScramVerifier scram_verifier(std::string_view password, ByteView salt, std::uint32_t iterations);
// The same with the salt and iterations that mock_verifier() shows for that user: nobody sees whether a user
// exists.
ScramVerifier scram_verifier_for(std::string_view user, std::string_view password, ByteView mock_secret,
                                 std::uint32_t iterations = kScramIterationsDefault);
// For users that have none: the salt depends on name and `mock_secret` alone, and no password fits.
ScramVerifier mock_verifier(std::string_view user, ByteView mock_secret, std::uint32_t iterations);

// The server's side of one exchange. first() once, final() once, in this order; after an error it is dead.
// Takes the same steps whether or not the verifier is a mock: comparisons take constant time.
class ScramServer {
 public:
  enum class Channel { Plain, Tls };
  enum class Verdict {
    ByProof,
    Doomed /* the mock of an unknown user: the right proof does not help either */
  };
  // `nonce`: fresh and printable, no comma (base64 of a ScramNonce).
  // `channel_binding`: our certificate's tls-server-end-point hash, empty where -PLUS is not offered.
  ScramServer(ScramVerifier verifier, Verdict verdict, Channel channel, Bytes channel_binding,
              std::string nonce);

  // To be offered, best first.
  std::vector<std::string_view> mechanisms() const;

  // False: not one that mechanisms() named.
  bool select(std::string_view mechanism);
  // client-first-message in, server-first-message out.
  Result<std::string> first(std::string_view client_first);
  struct Success {
    std::string server_final;
    ClientKeys keys;
  };
  // client-final-message in; errors: ScramErrc, WrongProof for a wrong password.
  Result<Success> final(std::string_view client_final);

 private:
  ScramVerifier verifier_;
  Verdict verdict_;
  Channel channel_;
  Bytes channel_binding_;
  std::string server_nonce_;
  bool plus_ = false;
  std::string gs2_header_;
  std::string client_first_bare_;
  std::string server_first_;
  std::string nonce_;  // client's and ours
};

}  // namespace sluice::protocol

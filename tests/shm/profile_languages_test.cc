#include <array>
#include <cstdio>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "tests/shm/profile_file.h"

namespace sluice::shm {
namespace {

using Json = nlohmann::json;

struct Output {
  std::string text;
  int status = -1;
};

Output run(const std::string& command) {
  Output output;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.text.append(buffer.data(), n);
  output.status = ::pclose(pipe);
  return output;
}

class ProfileInPython : public ProfileFile {
 protected:
  // The example of docs/, on this test's file.
  Output read() {
    const char* const source = std::getenv("SLUICE_SOURCE_DIR");
    return run("python3 " + std::string(source != nullptr ? source : ".") +
               "/docs/examples/read_profile.py " + path + " 2>&1");
  }
};

TEST_F(ProfileInPython, SaysWhatTheWriterHasWritten) {
  ProfileWriter one = writer();
  const profile::Contents contents = sample_contents();
  publish(one, contents);
  const Output output = read();
  ASSERT_EQ(output.status, 0) << output.text;
  const Json json = Json::parse(output.text);
  EXPECT_EQ(json["writer"]["pid"], ::getpid());
  EXPECT_EQ(json["writer"]["state"], "alive");
  ASSERT_EQ(json["hosts"].size(), 2u);
  EXPECT_EQ(json["hosts"][1]["name"], "compute-b");
  EXPECT_EQ(json["hosts"][1]["client_leg_min_ns"], contents.hosts[1].client_leg_min.count());
  EXPECT_EQ(json["hosts"][1]["path_samples"], contents.hosts[1].path_samples);
  EXPECT_EQ(json["servers"][0]["role"], "primary");
  EXPECT_EQ(json["servers"][2]["up"], contents.servers[2].up);
  EXPECT_EQ(json["rtt"][1][2]["estimate_ns"], contents.rtt[5].estimate.count());
  EXPECT_EQ(json["rtt"][1][2]["source"], "calibrated");
  EXPECT_EQ(json["classes"], Json({"premium", "freemium"}));
  EXPECT_EQ(json["shares"][0], Json({0.0, 0.25, 0.75}));
  EXPECT_EQ(json["routes"][1]["n_serial_p90"], contents.routes[1].n_serial_p90);
  EXPECT_EQ(json["routes"][1]["n_serial_calibrated"], contents.routes[1].n_serial_calibrated);
  EXPECT_EQ(json["residuals"][1][0]["residual_ns"], contents.residuals[2].residual.count());
}

TEST_F(ProfileInPython, IsRefusedWhereThereIsNone) {
  folder.write("sluice.profile", std::string(1000, 'x'));
  const Output output = read();
  EXPECT_NE(output.status, 0);
  EXPECT_NE(output.text.find("this is no profile"), std::string::npos) << output.text;
}

}  // namespace
}  // namespace sluice::shm

// Runs the fuzz target named over the files of the directories named, without the fuzzer.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#define X(name) extern "C" int name##_fuzz(const std::uint8_t* data, std::size_t size);
#include "fuzz_targets.def"
#undef X

namespace {

using Target = int (*)(const std::uint8_t*, std::size_t);

Target find_target(std::string_view wanted) {
#define X(name) \
  if (wanted == #name) return name##_fuzz;
#include "fuzz_targets.def"
#undef X
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const Target target = argc > 1 ? find_target(argv[1]) : nullptr;
  if (target == nullptr) {
    std::fputs("fuzz_replay TARGET DIRECTORY...: there is no such target\n", stderr);
    return 2;
  }
  int count = 0;
  for (int i = 2; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream in(entry.path(), std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++count;
    }
  }
  std::printf("%d files\n", count);
  return count > 0 ? 0 : 1;
}

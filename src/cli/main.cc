#include <cstdio>

int main(int, char**) {
  std::fputs("sluice: no command given; see 'sluice --help'\n", stderr);
  return 2;
}

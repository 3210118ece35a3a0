// Asio's own code, compiled here once: every other file sees declarations only (ASIO_SEPARATE_COMPILATION).
#include <asio/impl/src.hpp>

#pragma once

#include <cstdint>
#include <string>
#include <vector>

// What the machine must offer, and what the demo takes from it.
namespace sluice::demo {

// Folder of the newest PostgreSQL server's programs; with initdb, postgres, pg_basebackup, psql and pgbench.
// Looks at SLUICE_PG_BIN, then /usr/lib/postgresql/*/bin, then PATH. Throws Failure that says how to install
// it.
std::string postgresql_programs();

// PostgreSQL does not run as root: root becomes the user postgres, for good. Others stay who they are. Throws
// Failure. Call before any thread or file is made.
void give_up_root();

// `count` different TCP ports that were free on 127.0.0.1 a moment ago.
// Throws Failure.
std::vector<std::uint16_t> free_ports(std::size_t count);
bool is_port_free(std::uint16_t port);

// Letters and digits from the kernel's random source, about 119 bits.
std::string random_password();

// The program that runs now, to start again with another command.
std::string own_program();

}  // namespace sluice::demo

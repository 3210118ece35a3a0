#include "tests/profile/c_reader.h"

#include <string.h>

#include "sluice/profile.h"

size_t c_size_of_header(void) {
  return sizeof(struct sluice_profile_header);
}

size_t c_size_of_host(void) {
  return sizeof(struct sluice_profile_host);
}

size_t c_offset_of_untraced_share(void) {
  return offsetof(struct sluice_profile_route, untraced_share);
}

int c_read_server(const void* memory, uint64_t index, char name[128], int64_t* median) {
  const struct sluice_profile_header* header = (const struct sluice_profile_header*)memory;
  const struct sluice_profile_table* table = &header->tables[SLUICE_PROFILE_SERVERS];
  struct sluice_profile_server server;
  if (memcmp(header->magic, SLUICE_PROFILE_MAGIC, sizeof header->magic) != 0) return 0;
  if (!sluice_profile_load((const char*)memory + table->offset + index * table->record_size, server.name,
                           sizeof server - offsetof(struct sluice_profile_server, name), 100))
    return 0;
  memcpy(name, server.name, sizeof server.name);
  *median = server.median;
  return 1;
}

void c_write_residual(void* record, int64_t residual, uint64_t samples) {
  struct sluice_profile_residual r = {0, residual, samples, 0};
  sluice_profile_store(record, &r.residual, sizeof r - sizeof r.sequence);
}

#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* sluice/profile.h as a C program uses it: sizes as C sees them, and a record written and read. */
size_t c_size_of_header(void);
size_t c_size_of_host(void);
size_t c_offset_of_untraced_share(void);
/* Name and median of a server in a whole profile in memory; 1 if it could be read. */
int c_read_server(const void* memory, uint64_t index, char name[128], int64_t* median);
void c_write_residual(void* record, int64_t residual, uint64_t samples);

#ifdef __cplusplus
}
#endif

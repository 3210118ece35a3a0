/* The profile: what a Sluice router measures of hosts, servers and routes, as one file in shared memory that
 * programs in any language may read. Plain C (C11) and C++. docs/profile.md explains how to read it.
 *
 * One writer, any number of readers, nobody waits for anybody. Everything is little-endian and naturally
 * aligned. The file never shrinks and is never rewritten by another writer: a new writer creates a new file
 * and renames it into place, so a reader that finds another inode, or another generation, opens the file
 * again.
 *
 * The file begins with struct sluice_profile_header, whose fixed part never changes, and whose table entries
 * say where the tables are: `capacity` records of `record_size` bytes from `offset` on. Sizes and offsets are
 * read from there, never assumed: a later layout may add fields at the end of a record, and tables.
 *
 * A record begins with its sequence number: even = complete, odd = being written. To read one: read the
 * sequence, the payload, and the sequence again; the payload is whole if both are equal and even. Give up
 * after some tries: an odd sequence that stays is that of a writer that died. Indexes mean the same thing
 * while `shape` in the state record keeps one even value; a reader of several records compares it before and
 * after.
 *
 * Times are in nanoseconds; moments are of CLOCK_MONOTONIC, which all processes of a machine share; 0 =
 * never. Names are UTF-8, ended by a zero byte. Doubles are IEEE 754 binary64. Whatever is reserved is zero.
 */
#ifndef SLUICE_PROFILE_H
#define SLUICE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_PROFILE_MAGIC "SLUICEPF" /* 8 bytes, without an end */
#define SLUICE_PROFILE_VERSION 1u       /* of the layout described here */
#define SLUICE_PROFILE_BYTE_ORDER 0x01020304u
#define SLUICE_PROFILE_NAME_SIZE 128 /* a longer name is cut, at a character's beginning */

/* Places in the header's `tables`. */
enum sluice_profile_table_index {
  SLUICE_PROFILE_HOSTS = 0,     /* sluice_profile_host, [host] */
  SLUICE_PROFILE_SERVERS = 1,   /* sluice_profile_server, [server] */
  SLUICE_PROFILE_RTT = 2,       /* sluice_profile_rtt, [host * capacity of servers + server] */
  SLUICE_PROFILE_CLASSES = 3,   /* sluice_profile_class, [class] */
  SLUICE_PROFILE_SHARES = 4,    /* sluice_profile_shares, [class] */
  SLUICE_PROFILE_ROUTES = 5,    /* sluice_profile_route, [route] */
  SLUICE_PROFILE_RESIDUALS = 6, /* sluice_profile_residual, [host * capacity of routes + route] */
  SLUICE_PROFILE_TABLES = 7,    /* how many this version has */
  SLUICE_PROFILE_TABLES_MAX = 16
};

struct sluice_profile_table {
  uint64_t offset;      /* of the first record, from the file's beginning; a multiple of 8 */
  uint32_t record_size; /* a multiple of 8; may exceed that of the struct */
  uint32_t capacity;    /* records there is room for */
};

/* The state: a record like the others, written last in each publication. */
struct sluice_profile_state {
  uint64_t sequence;
  uint64_t shape;         /* odd while the tables are being filled anew; see above */
  uint64_t publications;  /* of this writer */
  int64_t heartbeat;      /* moment of the last publication */
  int64_t heartbeat_unix; /* the same by the wall clock, nanoseconds since 1970, for people */
  int64_t contents_at;    /* when the values were gathered; a mirror's copy is older than its heartbeat */
  int64_t interval;       /* between heartbeats, as the writer means it. Four without one: it is dead */
  uint64_t closed;        /* 1: the writer has ended in order */
  uint64_t host_count;    /* records in use, at most the capacity */
  uint64_t server_count;
  uint64_t class_count;
  uint64_t route_count;
};

struct sluice_profile_header {
  char magic[8];
  uint32_t layout_version; /* what the writer writes */
  uint32_t
      layout_compatible; /* oldest version whose readers understand it; a reader with a lower one refuses */
  uint32_t byte_order;   /* SLUICE_PROFILE_BYTE_ORDER; anything else was written by another machine */
  uint32_t header_size;  /* offset of what follows the header */
  uint64_t file_size;    /* bytes; a shorter file was cut */
  uint64_t generation;   /* another one in each file: a restarted writer has another */
  int64_t writer_pid;
  int64_t started_at;      /* moment */
  int64_t started_at_unix; /* the same by the wall clock */
  uint32_t table_count;    /* of `tables` in use */
  uint32_t state_offset;   /* of the state record, a multiple of 8 */
  uint32_t state_size;     /* its bytes, a multiple of 8 */
  uint32_t reserved;
  struct sluice_profile_table tables[SLUICE_PROFILE_TABLES_MAX];
};

/* A compute host. */
struct sluice_profile_host {
  uint64_t sequence;
  char name[SLUICE_PROFILE_NAME_SIZE];
  int64_t client_leg;           /* round trip between the router and the host's clients, estimate */
  int64_t client_leg_minimum;   /* least one */
  int64_t client_leg_deviation; /* mean deviation */
  uint64_t client_leg_samples;  /* readings so far; 0 = never measured */
  int64_t measured_at;          /* moment of the last one */
  uint64_t sessions;            /* open now */
  int64_t path;                 /* of the calibration: request of the health page, median */
  int64_t connect;              /* of the calibration: TCP connect, median */
  uint64_t path_samples;        /* 0 = not calibrated */
  int64_t calibrated_at;        /* moment */
};

enum sluice_profile_role { SLUICE_PROFILE_REPLICA = 0, SLUICE_PROFILE_PRIMARY = 1 };

/* A PostgreSQL server. Times are of SELECT 1 over a warm connection of the router: the server leg. */
struct sluice_profile_server {
  uint64_t sequence;
  char name[SLUICE_PROFILE_NAME_SIZE];
  uint64_t role; /* enum sluice_profile_role */
  uint64_t up;   /* 1: takes sessions */
  int64_t median;
  int64_t minimum;
  int64_t ewma;
  uint64_t samples; /* answered so far; 0 = never measured */
  int64_t measured_at;
};

enum sluice_profile_source {
  SLUICE_PROFILE_UNKNOWN = 0,
  SLUICE_PROFILE_MEASURED = 1,  /* client leg plus server leg */
  SLUICE_PROFILE_CALIBRATED = 2 /* SELECT 1 measured on the host itself */
};

/* What one SELECT 1 costs from a host, through the router, on a server. */
struct sluice_profile_rtt {
  uint64_t sequence;
  int64_t estimate;
  uint64_t samples;    /* the fewer of the two legs' */
  uint64_t source;     /* enum sluice_profile_source */
  int64_t measured_at; /* the older of the two legs' */
};

/* A priority class; the highest comes first. */
struct sluice_profile_class {
  uint64_t sequence;
  char name[SLUICE_PROFILE_NAME_SIZE];
};

/* How a class's sessions are spread over the servers now. The record goes on with as many doubles as there is
 * room for servers: the sum of those in use is 1, or 0 for a class without sessions. */
struct sluice_profile_shares {
  uint64_t sequence;
  double share[1];
};

/* A route of the application. */
struct sluice_profile_route {
  uint64_t sequence;
  char name[SLUICE_PROFILE_NAME_SIZE];
  char priority_class[SLUICE_PROFILE_NAME_SIZE]; /* of most of its calls; "" = unknown */
  uint64_t requests;                             /* traces closed */
  double n_serial_mean;                          /* calls on the longest chain of non-overlapping calls */
  double n_serial_median;
  double n_serial_p90;
  double untraced_share; /* calls that no trace explains, of its calls, in [0, 1] */
  int64_t last_seen;
  double n_serial_calibrated; /* that a calibration went by; negative = not calibrated */
};

/* What a route costs on a host beyond path and database: may be negative. */
struct sluice_profile_residual {
  uint64_t sequence;
  int64_t residual;
  uint64_t samples; /* 0 = not calibrated */
  int64_t measured_at;
};

/* Writes a record: `payload` is what follows the sequence, `payload_size` bytes of it, a multiple of 8. For
 * the one writer. Words are stored with release order, so whoever sees one of them also sees the odd
 * sequence. */
static inline void sluice_profile_store(void* record, const void* payload, size_t payload_size) {
  uint64_t* words = (uint64_t*)record;
  const uint64_t sequence = __atomic_load_n(words, __ATOMIC_RELAXED) | 1u;
  size_t i;
  __atomic_store_n(words, sequence, __ATOMIC_RELAXED);
  for (i = 0; i < payload_size / 8; ++i) {
    uint64_t word;
    __builtin_memcpy(&word, (const char*)payload + 8 * i, 8);
    __atomic_store_n(words + 1 + i, word, __ATOMIC_RELEASE);
  }
  __atomic_store_n(words, sequence + 1, __ATOMIC_RELEASE);
}

/* Reads a record's payload, trying at most `tries` times. Returns 1, or 0 if it was being written each time:
 * then the bytes mean nothing. Words are loaded with acquire order, so the second look at the sequence comes
 * last. */
static inline int sluice_profile_load(const void* record, void* payload, size_t payload_size,
                                      unsigned tries) {
  const uint64_t* words = (const uint64_t*)record;
  for (; tries > 0; --tries) {
    const uint64_t sequence = __atomic_load_n(words, __ATOMIC_ACQUIRE);
    size_t i;
    if (sequence & 1u) continue;
    for (i = 0; i < payload_size / 8; ++i) {
      const uint64_t word = __atomic_load_n(words + 1 + i, __ATOMIC_ACQUIRE);
      __builtin_memcpy((char*)payload + 8 * i, &word, 8);
    }
    if (__atomic_load_n(words, __ATOMIC_RELAXED) == sequence) return 1;
  }
  return 0;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif

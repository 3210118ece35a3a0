/* libpq's pipeline mode: one line per check on stdout, exit status 1 at the first that fails.
   Usage: pipeline_client CONNINFO */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PGconn* conn;

static void fail(const char* what) {
  fprintf(stderr, "failed: %s: %s\n", what, PQerrorMessage(conn));
  exit(1);
}

static void send_select(int value) {
  char text[16];
  const char* values[1] = {text};
  snprintf(text, sizeof text, "%d", value);
  if (!PQsendQueryParams(conn, "select $1::int", 1, NULL, values, NULL, NULL, 0)) fail("PQsendQueryParams");
}

/* One result and the NULL behind it. */
static void expect(ExecStatusType status, const char* value, const char* what) {
  PGresult* result = PQgetResult(conn);
  if (PQresultStatus(result) != status) fail(what);
  if (value && strcmp(PQgetvalue(result, 0, 0), value) != 0) fail(what);
  PQclear(result);
  if (status != PGRES_PIPELINE_SYNC && PQgetResult(conn) != NULL) fail(what);
}

static void many_groups(void) {
  char text[16];
  for (int i = 0; i < 300; i++) {
    send_select(i);
    if (!PQpipelineSync(conn)) fail("PQpipelineSync");
  }
  for (int i = 0; i < 300; i++) {
    snprintf(text, sizeof text, "%d", i);
    expect(PGRES_TUPLES_OK, text, "value in its place");
    expect(PGRES_PIPELINE_SYNC, NULL, "sync in its place");
  }
  puts("ok many groups");
}

static void error_in_the_middle(void) {
  send_select(1);
  if (!PQsendQueryParams(conn, "select 1/0", 0, NULL, NULL, NULL, NULL, 0)) fail("send");
  send_select(2);
  PQpipelineSync(conn);
  send_select(3);
  PQpipelineSync(conn);
  expect(PGRES_TUPLES_OK, "1", "before the error");
  expect(PGRES_FATAL_ERROR, NULL, "the error");
  expect(PGRES_PIPELINE_ABORTED, NULL, "skipped");
  expect(PGRES_PIPELINE_SYNC, NULL, "sync");
  expect(PGRES_TUPLES_OK, "3", "after the sync");
  expect(PGRES_PIPELINE_SYNC, NULL, "second sync");
  puts("ok error in the middle");
}

static void flush_without_sync(void) {
  send_select(7);
  if (!PQsendFlushRequest(conn) || PQflush(conn) != 0) fail("PQsendFlushRequest");
  expect(PGRES_TUPLES_OK, "7", "answer at the flush");
  PQpipelineSync(conn);
  expect(PGRES_PIPELINE_SYNC, NULL, "sync");
  puts("ok flush without sync");
}

static void prepare_and_describe(void) {
  const char* values[1] = {"5"};
  PQsendPrepare(conn, "s", "select $1::int * 2", 1, NULL);
  PQsendDescribePrepared(conn, "s");
  PQsendQueryPrepared(conn, "s", 1, values, NULL, NULL, 0);
  PQpipelineSync(conn);
  expect(PGRES_COMMAND_OK, NULL, "prepare");
  expect(PGRES_COMMAND_OK, NULL, "describe");
  expect(PGRES_TUPLES_OK, "10", "execute");
  expect(PGRES_PIPELINE_SYNC, NULL, "sync");
  puts("ok prepare and describe");
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  conn = PQconnectdb(argv[1]);
  if (PQstatus(conn) != CONNECTION_OK) fail("connect");
  if (!PQenterPipelineMode(conn)) fail("PQenterPipelineMode");
  many_groups();
  error_in_the_middle();
  flush_without_sync();
  prepare_and_describe();
  if (!PQexitPipelineMode(conn)) fail("PQexitPipelineMode");
  PQfinish(conn);
  return 0;
}

/*
 * C1's load client: asks for apps' configuration over connections that stay open, one request at a time on each, every time as another
 * device, and checks the status, tag and length of every answer. In C, so that the server is what sets the pace. Prints one JSON line.
 *
 * Usage: config-load PORT APPS STATUS REQUESTS CONNECTIONS
 *
 * APPS holds a line for each app: its live key, the tag of its configuration, and how many bytes the body of a 200 has. With STATUS 304
 * the tag is sent along. Whatever was not answered as is due counts as broken, requests that were never begun too.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_APPS 10000
#define MAX_CONNECTIONS 512
#define MAX_FIELD 256
#define MAX_ANSWER (64 * 1024) /* a configuration is a few kilobytes; a longer answer is broken */
#define STALL_MS 15000         /* nothing for so long, and no more will come */
#define SHOWN_FAILURES 3       /* the reasons of the first say enough */

struct app {
  char key[MAX_FIELD], etag[MAX_FIELD];
  size_t bytes;
};
struct conn {
  int fd;
  const struct app *app; /* asked for; NULL: nothing is under way */
  size_t length;
  char answer[MAX_ANSWER + 1];
};

static struct app apps[MAX_APPS];
static struct conn conns[MAX_CONNECTIONS];
static size_t app_count;
static int port, status_due, epoll;
static long requests, begun, ok, open_requests, shown;
static uint64_t device_seed;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

static double cpu_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static int connect_to_server(struct conn *conn) {
  struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  struct epoll_event event = { .events = EPOLLIN, .data.ptr = conn };
  int on = 1;
  conn->app = NULL;
  conn->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (conn->fd < 0) return 0;
  setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connect(conn->fd, (struct sockaddr *)&to, sizeof to) == 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, conn->fd, &event) == 0) return 1;
  close(conn->fd);
  return 0;
}

/* A request is small: it fits into the buffer of a socket that holds nothing else. */
static int ask(struct conn *conn) {
  char request[MAX_FIELD * 4], known[MAX_FIELD + 32] = "";
  const struct app *app = &apps[begun % app_count];
  if (status_due == 304) snprintf(known, sizeof known, "If-None-Match: %s\r\n", app->etag);
  int length = snprintf(request, sizeof request,
                        "GET /v1/apps/config HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Service-Key: %s\r\nX-Service-Device: %016llx%016lx\r\n%s\r\n",
                        app->key, (unsigned long long)device_seed, (unsigned long)begun, known);
  begun++;
  open_requests++;
  conn->app = app;
  conn->length = 0;
  return send(conn->fd, request, length, MSG_NOSIGNAL) == length;
}

/* 1: the answer is as it is due; 0: more has to come; -1: it is another. */
static int judge(struct conn *conn) {
  conn->answer[conn->length] = 0;
  char *end = strstr(conn->answer, "\r\n\r\n");
  if (end == NULL) return conn->length < MAX_ANSWER ? 0 : -1;
  *end = 0;
  int status = 0;
  sscanf(conn->answer, "HTTP/1.1 %d", &status);
  const char *tag = strcasestr(conn->answer, "\r\netag: ");
  const char *told = strcasestr(conn->answer, "\r\ncontent-length: ");
  size_t tag_length = strlen(conn->app->etag);
  int is_tag = tag && strncmp(tag + 8, conn->app->etag, tag_length) == 0 && (tag[8 + tag_length] == '\r' || tag[8 + tag_length] == 0);
  size_t due = status == 304 ? 0 : conn->app->bytes;
  size_t body = conn->length - (end + 4 - conn->answer);
  /* One in 64 of those who have it is sent it again: HTTP-27. */
  int is_due = status == status_due || (status_due == 304 && status == 200);
  if (!is_due || !is_tag || body > due) return -1;
  if (status == 200 && (told == NULL || strtoul(told + 18, NULL, 10) != due)) return -1;
  if (body == due) return 1;
  *end = '\r';
  return conn->length < MAX_ANSWER ? 0 : -1;
}

static void fail(struct conn *conn) {
  if (conn->app && shown++ < SHOWN_FAILURES)
    fprintf(stderr, "%s%.*s\n", conn->length ? "not what is due: " : "the connection was closed", conn->length ? (int)strcspn(conn->answer, "\r\n") : 0, conn->answer);
  if (conn->app) open_requests--;
  close(conn->fd);
  conn->fd = -1;
}

/* The next request, over a new connection where the last one is over. Ends when nothing is left to ask or nobody answers. */
static void proceed(struct conn *conn) {
  while (begun < requests) {
    if (conn->fd < 0 && !connect_to_server(conn)) return;
    if (ask(conn)) return;
    fail(conn);
  }
}

static void take(struct conn *conn) {
  ssize_t got = recv(conn->fd, conn->answer + conn->length, MAX_ANSWER - conn->length, 0);
  if (got > 0) conn->length += got;
  int verdict = got <= 0 || conn->app == NULL ? -1 : judge(conn);
  if (verdict == 0) return;
  if (verdict < 0) fail(conn);
  else {
    ok++;
    open_requests--;
    conn->app = NULL;
  }
  proceed(conn);
}

static void read_apps(const char *name) {
  FILE *file = fopen(name, "r");
  while (file && app_count < MAX_APPS && fscanf(file, "%255s %255s %zu", apps[app_count].key, apps[app_count].etag, &apps[app_count].bytes) == 3)
    app_count++;
  if (app_count == 0) exit((fprintf(stderr, "config-load: no apps in %s\n", name), 2));
  fclose(file);
}

int main(int argc, char **argv) {
  if (argc != 6) return fprintf(stderr, "usage: config-load PORT APPS STATUS REQUESTS CONNECTIONS\n"), 2;
  port = atoi(argv[1]);
  read_apps(argv[2]);
  status_due = atoi(argv[3]);
  requests = atol(argv[4]);
  int connections = atoi(argv[5]);
  if (connections < 1 || connections > MAX_CONNECTIONS) return fprintf(stderr, "config-load: 1 to %d connections\n", MAX_CONNECTIONS), 2;
  if (getrandom(&device_seed, sizeof device_seed, 0) != sizeof device_seed) return 2;
  epoll = epoll_create1(0);
  for (int at = 0; at < connections; at++)
    if (!connect_to_server(&conns[at])) return fprintf(stderr, "config-load: no connection\n"), 2;
  double from = seconds(), cpu = cpu_seconds();
  for (int at = 0; at < connections; at++) proceed(&conns[at]);
  struct epoll_event events[MAX_CONNECTIONS];
  while (open_requests > 0) {
    int ready = epoll_wait(epoll, events, MAX_CONNECTIONS, STALL_MS);
    if (ready == 0) fprintf(stderr, "nothing came for %d s\n", STALL_MS / 1000);
    if (ready <= 0) break;
    for (int at = 0; at < ready; at++) take(events[at].data.ptr);
  }
  double wall = seconds() - from;
  printf("{\"ok\":%ld,\"broken\":%ld,\"wallS\":%.6f,\"busy\":%.4f}\n", ok, requests - ok, wall, (cpu_seconds() - cpu) / wall);
  return 0;
}

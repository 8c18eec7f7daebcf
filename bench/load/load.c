/*
 * The load client: an epoll HTTP/1.1 client that opens streams, follows each one to its end and says whether
 * it was whole. It owns nothing but the measuring: times of first deltas, counts, wall time. Prints one JSON line.
 *
 * Usage: load --host H --port P --path /v1/chat --headers FILE --body FILE --streams N [--requests N] [--seconds S]
 *             --text-after KEY [--text-in S] [--text-event E] [--end-in S] [--end-event E] [--error-in S] [--error-event E]
 *             [--chars N] [--ramp-ms N] [--gap-ms N] [--stall-s N]
 *
 * The body template may hold %TURN%, replaced by a fresh uuid per request; a header line may hold %DEVICE%,
 * replaced by 32 hex characters per connection. --requests and --seconds bound how many are begun, whichever comes first.
 *
 * How an answer reads is told by marks on its "data:" lines. The text is the JSON string that follows KEY, on a line that
 * holds --text-in and stands in an event named --text-event; the end and an error are told by a line in the same way.
 * What is not given is not asked for. A stream is whole when it was answered 200, brought exactly --chars characters
 * of text, had its end mark (where there is one), carried no error, and its HTTP body ended. Text is expected to be
 * ASCII without escapes. A 503 with Retry-After is obeyed, as clients do: its connection sends the next request
 * after that time.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
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

#define MAX_STREAMS 16000            /* one source address has about 28,000 ports towards one server */
#define MAX_REQUESTS 20000000        /* eight bytes of sample each */
#define READ_BYTES (256 * 1024)      /* shared by all connections; one read per readiness */
#define MAX_LINE (1024 * 1024)       /* a block.ready repeats the whole text in one line */
#define MAX_HEAD (16 * 1024)
#define MAX_TEMPLATE (256 * 1024)
#define MAX_EVENTS 512
#define SHOWN_FAILURES 3             /* enough to see why; a thousand equal lines help nobody */

enum http_state { HEAD, SIZE, SIZE_LF, DATA, DATA_CR, DATA_LF, TRAILER, BODY_TO_LENGTH, COMPLETE };
/* What a line is told by. An empty string asks for nothing; a mark with two of them is never met. */
struct mark {
  const char *event, *in;
};
/* The marks that the event under way can still meet. */
enum { TEXT = 1, END = 2, FAILURE = 4 };

struct conn {
  int fd;
  int index;
  int busy;
  enum http_state state;
  int status;
  uint64_t retry_after_s;
  int chunked;
  int close_after;
  int trailer_seen;                  /* bytes on the current trailer line */
  uint64_t left;                     /* bytes left of the chunk or of the body */
  char *line;                        /* unfinished head or SSE line, carried over to the next read */
  size_t line_len, line_cap;
  int may_be;                        /* of TEXT, END and FAILURE: those whose event this is */
  int done, failed;
  uint64_t chars;
  uint64_t sent_ns, first_ns, due_ns;
};

static struct {
  const char *host, *path, *text_after;
  struct mark text, end, failure;
  char *headers, *body;
  int port, streams;
  long requests, chars, ramp_ms, gap_ms, stall_s;
  double seconds;
} opt = {.host = "127.0.0.1", .path = "/v1/chat", .text_after = "", .text = {"", ""}, .end = {"", ""}, .failure = {"", ""},
         .streams = 1, .chars = -1, .stall_s = 15};

static struct conn *conns;
static int ep;
static long started, finished, ok, broken, refused, stalled, shown;
static uint64_t deltas, chars_total, bytes_total, deadline_ns, begin_ns;
static double *first_ms;
static long first_count, first_cap;
static double *whole_ms;
static long whole_count;
static char *body_before, *body_after;
static size_t body_before_len, body_after_len;
static uint64_t rng[2];
static int *waiting, waiting_head, waiting_count;

static void die(const char *what) {
  fprintf(stderr, "load: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* xorshift128+: fast and unique enough for turn ids of one run */
static uint64_t random64(void) {
  uint64_t a = rng[0], b = rng[1];
  rng[0] = b;
  a ^= a << 23;
  rng[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
  return rng[1] + b;
}

static void write_hex(char *out, uint64_t v) {
  for (int i = 15; i >= 0; i--, v >>= 4) out[i] = "0123456789abcdef"[v & 15];
}

static void write_uuid(char *out) {
  char hex[32];
  write_hex(hex, random64());
  write_hex(hex + 16, random64());
  hex[12] = '4';
  hex[16] = "89ab"[random64() & 3];
  int o = 0;
  for (int i = 0; i < 32; i++) {
    if (i == 8 || i == 12 || i == 16 || i == 20) out[o++] = '-';
    out[o++] = hex[i];
  }
}

static char *read_text(const char *name) {
  FILE *f = fopen(name, "rb");
  if (!f) die(name);
  char *text = malloc(MAX_TEMPLATE + 1);
  size_t n = fread(text, 1, MAX_TEMPLATE, f);
  fclose(f);
  text[n] = 0;
  return text;
}

/* Prints why the first few streams failed, and counts the rest in silence. */
static void show(struct conn *c, const char *why, const char *text, size_t len) {
  if (shown++ >= SHOWN_FAILURES) return;
  fprintf(stderr, "load: stream broken: %s (status %d, %llu characters) %.*s\n", why, c->status, (unsigned long long)c->chars,
          (int)(len > 400 ? 400 : len), text);
}

/* ---- connection and request ------------------------------------------------------------------------------------ */

static void connect_to_server(struct conn *c) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)opt.port)};
  if (inet_pton(AF_INET, opt.host, &to.sin_addr) != 1) die("--host takes an IPv4 address");
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (c->fd < 0) die("socket");
  if (connect(c->fd, (struct sockaddr *)&to, sizeof to) != 0) die("connect");
  int one = 1;
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) | O_NONBLOCK);
  struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = c};
  if (epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &e) != 0) die("epoll_ctl");
}

static void reconnect(struct conn *c) {
  close(c->fd);
  connect_to_server(c);
}

static size_t write_head(struct conn *c, char *out, size_t cap) {
  size_t n = (size_t)snprintf(out, cap, "POST %s HTTP/1.1\r\nHost: %s:%d\r\nContent-Length: %zu\r\n", opt.path, opt.host, opt.port,
                              body_before_len + body_after_len + (body_after ? 36 : 0));
  for (const char *line = opt.headers; *line;) {
    size_t len = strcspn(line, "\r\n");
    const char *mark = memmem(line, len, "%DEVICE%", 8);
    if (n + len + 64 > cap) die("headers too long");
    if (len && mark) {
      size_t before = (size_t)(mark - line);
      memcpy(out + n, line, before);
      n += before;
      write_hex(out + n, 0x9e3779b97f4a7c15ull * ((uint64_t)c->index + 1)); /* spread, and the same in every run */
      write_hex(out + n + 16, (uint64_t)c->index);
      n += 32;
      memcpy(out + n, mark + 8, len - before - 8);
      n += len - before - 8;
    } else {
      memcpy(out + n, line, len);
      n += len;
    }
    if (len) {
      memcpy(out + n, "\r\n", 2);
      n += 2;
    }
    line += len;
    line += strspn(line, "\r\n");
  }
  memcpy(out + n, "\r\n", 2);
  return n + 2;
}

static int is_met(const struct mark *mark, const char *event, size_t len) {
  if (!*mark->event) return *mark->in != 0;
  return len == strlen(mark->event) && !memcmp(mark->event, event, len);
}

/* Which marks lines of an event of this name (none: a length of 0) can meet. */
static int marks_of(const char *event, size_t len) {
  int text = !*opt.text.event || is_met(&opt.text, event, len);
  return (text ? TEXT : 0) | (is_met(&opt.end, event, len) ? END : 0) | (is_met(&opt.failure, event, len) ? FAILURE : 0);
}

static void send_request(struct conn *c) {
  static char out[MAX_HEAD + MAX_TEMPLATE];
  size_t n = write_head(c, out, MAX_HEAD);
  memcpy(out + n, body_before, body_before_len);
  n += body_before_len;
  if (body_after) {
    write_uuid(out + n);
    n += 36;
    memcpy(out + n, body_after, body_after_len);
    n += body_after_len;
  }
  c->busy = 1;
  c->state = HEAD;
  c->status = c->chunked = c->close_after = c->done = c->failed = 0;
  c->chars = c->left = c->first_ns = 0;
  c->line_len = 0;
  c->may_be = marks_of("", 0);
  started++;
  c->sent_ns = now_ns();
  ssize_t written = write(c->fd, out, n);
  if (written < 0) {                   /* the server closed a connection that waited for its turn */
    reconnect(c);
    written = write(c->fd, out, n);
  }
  if (written != (ssize_t)n) die("a request did not fit the socket buffer");
}

static int may_start(uint64_t now) {
  return (!deadline_ns || now < deadline_ns) && started < (opt.requests > 0 ? opt.requests : MAX_REQUESTS);
}

/* Kept in the order of due times: most are put at the end, those that a refusal sends away further in front. */
static void wait_until(struct conn *c, uint64_t due) {
  c->due_ns = due;
  int at = waiting_count++;
  for (; at > 0 && conns[waiting[(waiting_head + at - 1) % opt.streams]].due_ns > due; at--)
    waiting[(waiting_head + at) % opt.streams] = waiting[(waiting_head + at - 1) % opt.streams];
  waiting[(waiting_head + at) % opt.streams] = c->index;
}

/* One stream is over: judge it, then send the next request on the same connection. */
static void finish(struct conn *c, const char *cut_off) {
  uint64_t now = now_ns();
  c->busy = 0;
  finished++;
  const char *why = cut_off;
  if (!why && c->status != 200) why = "not 200";
  if (!why && c->failed) why = "error event";
  if (!why && !c->done && (*opt.end.event || *opt.end.in)) why = "no end mark";
  if (!why && opt.chars >= 0 && c->chars != (uint64_t)opt.chars) why = "text not whole";
  if (c->status == 503 && c->retry_after_s && !cut_off) {
    refused++;                         /* told to come again, which a client does */
  } else if (why) {
    broken++;
    show(c, why, c->line ? c->line : "", c->line_len);
  } else {
    ok++;
    if (whole_count < first_cap) whole_ms[whole_count++] = (double)(now - c->sent_ns) / 1e6;
  }
  if (cut_off || c->close_after) reconnect(c);
  if (!may_start(now)) return;
  if (c->status == 503 && c->retry_after_s) wait_until(c, now + c->retry_after_s * 1000000000ull);
  else if (opt.gap_ms) wait_until(c, now + (uint64_t)opt.gap_ms * 1000000ull);
  else send_request(c);
}

/* ---- server-sent events ---------------------------------------------------------------------------------------- */

/* Length of the JSON string that follows `key` in the line; -1 when there is none. */
static long text_length(const char *line, size_t len, const char *key, size_t key_len) {
  const char *p = memmem(line, len, key, key_len);
  if (!p) return -1;
  p += key_len;
  long n = 0;
  for (const char *end = line + len; p < end && *p != '"'; p++, n++)
    if (*p == '\\') p++;
  return n;
}

static void count_delta(struct conn *c, long n) {
  deltas++;
  c->chars += (uint64_t)n;
  chars_total += (uint64_t)n;
  if (c->first_ns) return;
  c->first_ns = now_ns();
  if (first_count < first_cap) first_ms[first_count++] = (double)(c->first_ns - c->sent_ns) / 1e6;
}

static int holds(const char *line, size_t len, const char *what) {
  return !*what || memmem(line, len, what, strlen(what)) != NULL;
}

static void take_line(struct conn *c, const char *line, size_t len) {
  if (len && line[len - 1] == '\r') len--;
  if (!len) {                          /* the event is over */
    c->may_be = marks_of("", 0);
    return;
  }
  if (len > 7 && !memcmp(line, "event: ", 7)) {
    c->may_be = marks_of(line + 7, len - 7);
    return;
  }
  if (len < 6 || memcmp(line, "data: ", 6)) return;
  line += 6;
  len -= 6;
  if (c->may_be & TEXT && holds(line, len, opt.text.in)) {
    long n = text_length(line, len, opt.text_after, strlen(opt.text_after));
    if (n > 0) count_delta(c, n);
  }
  if (c->may_be & END && holds(line, len, opt.end.in)) {
    c->done = 1;
  } else if (c->may_be & END && *opt.end.event) { /* it ended in another way */
    show(c, opt.end.event, line, len);
  }
  if (c->may_be & FAILURE && holds(line, len, opt.failure.in)) {
    c->failed = 1;
    show(c, "error event", line, len);
  }
}

static void keep(struct conn *c, const char *p, size_t n) {
  if (c->line_len + n > MAX_LINE) die("a line of the stream is longer than 1 MB");
  if (c->line_len + n > c->line_cap) {
    c->line_cap = (c->line_len + n) * 2;
    c->line = realloc(c->line, c->line_cap);
  }
  memcpy(c->line + c->line_len, p, n);
  c->line_len += n;
}

static void take_body(struct conn *c, const char *p, size_t n) {
  bytes_total += n;
  if (c->status != 200) {              /* a refusal: kept whole so that it can be shown */
    if (c->line_len + n < MAX_HEAD) keep(c, p, n);
    return;
  }
  while (n) {
    const char *lf = memchr(p, '\n', n);
    if (!lf) {
      keep(c, p, n);
      return;
    }
    size_t len = (size_t)(lf - p);
    if (c->line_len) {
      keep(c, p, len);
      take_line(c, c->line, c->line_len);
      c->line_len = 0;
    } else {
      take_line(c, p, len);
    }
    p += len + 1;
    n -= len + 1;
  }
}

/* ---- HTTP ------------------------------------------------------------------------------------------------------ */

static int hex_digit(char ch) {
  if (ch >= '0' && ch <= '9') return ch - '0';
  if (ch >= 'a' && ch <= 'f') return ch - 'a' + 10;
  if (ch >= 'A' && ch <= 'F') return ch - 'A' + 10;
  return -1;
}

static void take_head(struct conn *c) {
  keep(c, "", 1);
  c->status = atoi(c->line + 9);
  c->chunked = strcasestr(c->line, "\ntransfer-encoding: chunked") != NULL;
  c->close_after = strcasestr(c->line, "\nconnection: close") != NULL;
  const char *again = strcasestr(c->line, "\nretry-after:");
  c->retry_after_s = again ? strtoull(again + 13, NULL, 10) : 0;
  const char *length = strcasestr(c->line, "\ncontent-length:");
  c->left = length ? strtoull(length + 16, NULL, 10) : 0;
  c->line_len = 0;
  c->state = c->chunked ? SIZE : c->left ? BODY_TO_LENGTH : COMPLETE;
  if (c->chunked) c->left = 0;
}

/* Takes what one read brought; returns how much of it belongs to this answer. */
static size_t take(struct conn *c, const char *p, size_t n) {
  size_t i = 0;
  while (i < n && c->state != COMPLETE) {
    if (c->state == DATA || c->state == BODY_TO_LENGTH) {
      size_t part = n - i < c->left ? n - i : (size_t)c->left;
      take_body(c, p + i, part);
      i += part;
      c->left -= part;
      if (c->left == 0) c->state = c->state == DATA ? DATA_CR : COMPLETE;
      continue;
    }
    char ch = p[i++];
    if (c->state == HEAD) {
      keep(c, &ch, 1);
      if (c->line_len > MAX_HEAD) die("response head longer than 16 KB");
      if (ch == '\n' && c->line_len >= 4 && !memcmp(c->line + c->line_len - 4, "\r\n\r\n", 4)) take_head(c);
    } else if (c->state == SIZE) {
      int digit = hex_digit(ch);
      if (digit >= 0) c->left = c->left * 16 + (uint64_t)digit;
      else if (ch == '\r') c->state = SIZE_LF;
      else die("bad chunk size");
    } else if (c->state == SIZE_LF) {
      c->state = c->left ? DATA : TRAILER;
      c->trailer_seen = 0;
    } else if (c->state == DATA_CR) {
      c->state = DATA_LF;
    } else if (c->state == DATA_LF) {
      c->state = SIZE;
    } else if (c->state == TRAILER) {
      if (ch == '\n') {
        if (!c->trailer_seen) c->state = COMPLETE;
        c->trailer_seen = 0;
      } else if (ch != '\r') {
        c->trailer_seen++;
      }
    }
  }
  return i;
}

static void read_from(struct conn *c) {
  static char in[READ_BYTES];
  ssize_t n = read(c->fd, in, sizeof in);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    if (c->busy) finish(c, "connection closed in the stream");
    else reconnect(c);
    return;
  }
  if (!c->busy) die("the server sent bytes nobody asked for");
  if (take(c, in, (size_t)n) != (size_t)n) die("the server sent bytes after the end of the answer");
  if (c->state == COMPLETE) finish(c, NULL);
}

/* ---- the run --------------------------------------------------------------------------------------------------- */

/* Sends the requests whose time has come; returns the milliseconds until the next one, 1000 when there is none. */
static int start_due(void) {
  while (waiting_count) {
    struct conn *c = &conns[waiting[waiting_head]];
    uint64_t now = now_ns();
    if (c->due_ns > now) return (int)((c->due_ns - now) / 1000000ull) + 1;
    waiting_head = (waiting_head + 1) % opt.streams;
    waiting_count--;
    if (may_start(now)) send_request(c);
  }
  return 1000;
}

static void run(void) {
  begin_ns = now_ns();
  if (opt.seconds > 0) deadline_ns = begin_ns + (uint64_t)(opt.seconds * 1e9);
  for (int i = 0; i < opt.streams; i++)
    wait_until(&conns[i], begin_ns + (uint64_t)opt.ramp_ms * 1000000ull * (uint64_t)i / (uint64_t)opt.streams);
  uint64_t last_progress = begin_ns;
  static struct epoll_event events[MAX_EVENTS];
  for (;;) {
    int wait_ms = start_due();
    if (started == finished && !waiting_count) return;
    int n = epoll_wait(ep, events, MAX_EVENTS, wait_ms);
    if (n < 0 && errno != EINTR) die("epoll_wait");
    for (int i = 0; i < n; i++) read_from(events[i].data.ptr);
    uint64_t now = now_ns();
    if (n > 0) last_progress = now;
    if (now - last_progress > (uint64_t)opt.stall_s * 1000000000ull) {
      for (int i = 0; i < opt.streams; i++)
        if (conns[i].busy) {
          broken++;
          show(&conns[i], "stalled", "", 0);
        }
      stalled = 1;
      return;
    }
  }
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double percentile(double *sorted, long n, double p) {
  if (!n) return 0;
  long i = (long)(p * (double)n);
  return sorted[i >= n ? n - 1 : i];
}

/* What a plot of latency is drawn of; load.ts names the same shares. */
static const double SHARES[] = {0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 1};

static void print_shares(const char *name, double *sorted, long n) {
  printf("\"%s\":[", name);
  for (size_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++) printf("%s%.4f", i ? "," : "", percentile(sorted, n, SHARES[i]));
  printf("],");
}

static void report(double wall_s) {
  qsort(first_ms, (size_t)first_count, sizeof *first_ms, by_value);
  qsort(whole_ms, (size_t)whole_count, sizeof *whole_ms, by_value);
  printf("{\"streams\":%ld,\"ok\":%ld,\"broken\":%ld,\"refused\":%ld,\"stalled\":%s,", started, ok, broken, refused,
         stalled ? "true" : "false");
  printf("\"deltas\":%llu,\"chars\":%llu,\"bytes\":%llu,", (unsigned long long)deltas, (unsigned long long)chars_total,
         (unsigned long long)bytes_total);
  print_shares("first_ms", first_ms, first_count);
  print_shares("whole_ms", whole_ms, whole_count);
  printf("\"wall_s\":%.6f}\n", wall_s);
}

static void read_options(int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *k = argv[i], *v = argv[i + 1];
    if (!strcmp(k, "--host")) opt.host = v;
    else if (!strcmp(k, "--port")) opt.port = atoi(v);
    else if (!strcmp(k, "--path")) opt.path = v;
    else if (!strcmp(k, "--headers")) opt.headers = read_text(v);
    else if (!strcmp(k, "--body")) opt.body = read_text(v);
    else if (!strcmp(k, "--text-after")) opt.text_after = v;
    else if (!strcmp(k, "--text-in")) opt.text.in = v;
    else if (!strcmp(k, "--text-event")) opt.text.event = v;
    else if (!strcmp(k, "--end-in")) opt.end.in = v;
    else if (!strcmp(k, "--end-event")) opt.end.event = v;
    else if (!strcmp(k, "--error-in")) opt.failure.in = v;
    else if (!strcmp(k, "--error-event")) opt.failure.event = v;
    else if (!strcmp(k, "--streams")) opt.streams = atoi(v);
    else if (!strcmp(k, "--requests")) opt.requests = atol(v);
    else if (!strcmp(k, "--seconds")) opt.seconds = atof(v);
    else if (!strcmp(k, "--chars")) opt.chars = atol(v);
    else if (!strcmp(k, "--ramp-ms")) opt.ramp_ms = atol(v);
    else if (!strcmp(k, "--gap-ms")) opt.gap_ms = atol(v);
    else if (!strcmp(k, "--stall-s")) opt.stall_s = atol(v);
    else die(k);
  }
  errno = 0;
  if (argc % 2 == 0) die("an option has no value");
  if (!opt.port || !opt.headers || !opt.body || !*opt.text_after) die("--port, --headers, --body and --text-after are needed");
  if (opt.streams < 1 || opt.streams > MAX_STREAMS) die("--streams is out of range");
  if ((opt.requests < 1 || opt.requests > MAX_REQUESTS) && opt.seconds <= 0) die("--requests or --seconds is needed");
  if (opt.gap_ms && opt.streams != 1) die("--gap-ms is for one stream"); /* the queue of due times stays sorted */
  if (opt.requests && opt.streams > opt.requests) opt.streams = (int)opt.requests;
}

int main(int argc, char **argv) {
  read_options(argc, argv);
  signal(SIGPIPE, SIG_IGN);
  struct rlimit files = {MAX_STREAMS + 64, MAX_STREAMS + 64};
  if (setrlimit(RLIMIT_NOFILE, &files) != 0) { /* without the right to raise it: as far as the hard limit goes */
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  if (getrandom(rng, sizeof rng, 0) != sizeof rng) die("getrandom");
  body_before = opt.body;
  body_before_len = strlen(opt.body);
  char *mark = strstr(opt.body, "%TURN%");
  if (mark) {
    body_before_len = (size_t)(mark - opt.body);
    body_after = mark + 6;
    body_after_len = strlen(body_after);
  }
  ep = epoll_create1(0);
  first_cap = opt.requests > 0 ? opt.requests : MAX_REQUESTS / 8;
  first_ms = malloc(sizeof *first_ms * (size_t)first_cap);
  whole_ms = malloc(sizeof *whole_ms * (size_t)first_cap);
  conns = calloc((size_t)opt.streams, sizeof *conns);
  waiting = calloc((size_t)opt.streams, sizeof *waiting);
  if (ep < 0 || !first_ms || !whole_ms || !conns || !waiting) die("out of memory");
  for (int i = 0; i < opt.streams; i++) {
    conns[i].index = i;
    connect_to_server(&conns[i]);
  }
  run();
  report((double)(now_ns() - begin_ns) / 1e9);
  return 0;
}

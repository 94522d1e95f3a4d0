/*
 * Random sequences of calls, right and wrong ones, against the C interface: `random SEED COUNT`.
 *
 * Made for the address and undefined-behaviour sanitizers. Fails if a wrong call is taken, a right one is refused, levels do not fit
 * the memory, an operation's parts are longer than it took, or pagecast finds a fault in itself.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pagecast.h>

enum { MOST = 256, TASKS = 4, FILES = 6, CALLS = 300 };

#define CHECK(what)                                                                                                    \
  do {                                                                                                                 \
    if (!(what)) {                                                                                                     \
      fprintf(stderr, "random: seed %llu, line %d, %.9f s: not %s; %s\n", (unsigned long long)seed, __LINE__, now,     \
              #what, cache ? pagecast_error_text(cache) : "");                                                         \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

static const char *MACHINE = "cores = 2\n"
                             "memory = { size = \"1 GB\", read = \"900 MB/s\", write = \"700 MB/s\" }\n"
                             "disk.a = { size = \"3 GB\", read = \"300 MB/s\", write = \"200 MB/s\" }\n"
                             "disk.b = { size = \"3 GB\", read = \"800 MB/s\", write = \"800 MB/s\" }\n"
                             "mount.\"/a\".disk = \"a\"\n"
                             "mount.\"/b\" = { disk = \"b\", write_mode = \"through\" }\n";
static const char *PATHS[FILES] = {"/a/1", "/a/2", "/b/1", "/b/2", "/nowhere/1", "/a/late"};

struct transfer {
  uint64_t number;
  double bytes, left, limit, rate;
};

static uint64_t seed, state;
static double now;
static const char *model;
static pagecast_cache *cache;
static struct transfer transfers[MOST];
static int count;
static int is_busy[TASKS];
static double begun[TASKS];

/* splitmix64 */
static uint64_t draw(uint64_t below)
{
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z          = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z          = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % below;
}

static int find(uint64_t number)
{
  for (int i = 0; i < count; i++)
    if (transfers[i].number == number)
      return i;
  return -1;
}

static void carry_out(const pagecast_order *order)
{
  int at = find(order->transfer);
  switch (order->kind) {
  case PAGECAST_START:
    CHECK(at < 0 && count < MOST && order->bytes > 0 && order->limit >= 0 && order->weight > 0 && order->device < 2);
    transfers[count++] =
        (struct transfer){order->transfer, (double)order->bytes, (double)order->bytes, order->limit, 0};
    break;
  case PAGECAST_LIMIT:
    CHECK(at >= 0 && order->limit >= 0);
    transfers[at].limit = order->limit;
    break;
  case PAGECAST_SHORTEN:
    CHECK(at >= 0 && (double)order->bytes <= transfers[at].bytes);
    transfers[at].left  = fmax(0, transfers[at].left - (transfers[at].bytes - (double)order->bytes));
    transfers[at].bytes = (double)order->bytes;
    break;
  case PAGECAST_CANCEL:
    CHECK(at >= 0);
    transfers[at] = transfers[--count];
    break;
  default:
    CHECK(order->kind == PAGECAST_DONE && order->task < TASKS && is_busy[order->task]);
    is_busy[order->task] = 0;
    double sum           = 0;
    for (int part = 0; part < PAGECAST_PARTS; part++) {
      CHECK(order->parts_s[part] >= 0);
      sum += order->parts_s[part];
    }
    CHECK(sum <= now - begun[order->task] + 1e-6);
  }
}

/* Some rates that a simulator could give: equal shares of 500 MB/s, and at times of much less. */
static void obey(void)
{
  pagecast_rate rates[MOST];
  double total = draw(4) ? 500e6 : 1e6, next = now;
  while (next <= now) {
    pagecast_order order;
    int32_t has_order;
    for (;;) {
      CHECK(pagecast_next_order(cache, &order, &has_order) == PAGECAST_OK);
      if (!has_order)
        break;
      carry_out(&order);
    }
    for (int i = 0; i < count; i++) {
      transfers[i].rate = fmin(transfers[i].limit, total / count);
      rates[i]          = (pagecast_rate){transfers[i].number, transfers[i].rate};
    }
    CHECK(pagecast_advance(cache, now, rates, (size_t)count) == PAGECAST_OK);
    CHECK(pagecast_next_call(cache, &next) == PAGECAST_OK);
  }
}

/* Lets time pass to what happens next, or by as much as `most`. */
static void pass(double most)
{
  double next;
  int first = -1;
  CHECK(pagecast_next_call(cache, &next) == PAGECAST_OK);
  next = fmin(next, now + most);
  for (int i = 0; i < count; i++) {
    double end = now + (transfers[i].left > 0 ? transfers[i].left / transfers[i].rate : 0);
    if (end <= next) {
      next  = end;
      first = i;
    }
  }
  for (int i = 0; i < count; i++)
    transfers[i].left -= transfers[i].rate * (next - now);
  now = next;
  if (first >= 0) {
    uint64_t number = transfers[first].number;
    CHECK(pagecast_completed(cache, now, number) == PAGECAST_OK);
    transfers[first] = transfers[--count];
    CHECK(pagecast_completed(cache, now, number) == PAGECAST_NO_TRANSFER);
  }
  obey();
}

static void do_something(void)
{
  uint32_t task                = (uint32_t)draw(TASKS);
  int64_t sizes[]              = {0, 1, 4096, 1 << 20, 40000000, 600000000, PAGECAST_REST};
  pagecast_operation operation = {(int32_t)draw(PAGECAST_FREE + 1), PATHS[draw(FILES)], draw(3) ? 0 : sizes[draw(5)],
                                  sizes[draw(7)], draw(2) ? 0 : 65536, draw(2) ? 0 : (uint32_t)draw(32)};
  pagecast_status status       = pagecast_begin(cache, now, task, &operation);
  switch (status) {
  case PAGECAST_OK:
    CHECK(!is_busy[task]);
    is_busy[task] = 1;
    begun[task]   = now;
    break;
  case PAGECAST_BUSY:
    CHECK(is_busy[task]);
    break;
  case PAGECAST_NO_MOUNT:
    CHECK(operation.path == PATHS[4]);
    break;
  case PAGECAST_UNALIGNED:
    CHECK(operation.flags & PAGECAST_O_DIRECT);
    break;
  case PAGECAST_NOT_SUPPORTED:
    CHECK(operation.flags & PAGECAST_RWF_DONTCACHE);
    break;
  default:
    CHECK(status == PAGECAST_NO_FILE || status == PAGECAST_BEYOND_END || status == PAGECAST_DISK_FULL ||
          status == PAGECAST_OUT_OF_MEMORY);
  }
  obey();
}

/* What must be refused, whatever the state is, and must not change it. */
static void do_wrong(void)
{
  pagecast_operation write = {PAGECAST_WRITE, "/a/1", 0, 4096, 0, 0}, wrong = write;
  pagecast_rate rate = {UINT64_MAX, 1};
  pagecast_levels levels;
  uint64_t other[8] = {0};
  double next;
  switch (draw(11)) {
  case 0:
    CHECK(pagecast_begin(cache, NAN, 0, &write) == PAGECAST_BAD_TIME);
    CHECK(pagecast_begin(cache, -1, 0, &write) == PAGECAST_BAD_TIME);
    CHECK(pagecast_advance(cache, INFINITY, NULL, 0) == PAGECAST_BAD_TIME);
    break;
  case 1:
    CHECK(now < 1 || pagecast_advance(cache, now - 1, NULL, 0) == PAGECAST_BAD_TIME);
    break;
  case 2:
    wrong.bytes = -1;
    CHECK(pagecast_begin(cache, now, 0, &wrong) == PAGECAST_BAD_SIZE);
    wrong.bytes  = 1;
    wrong.offset = INT64_MIN;
    CHECK(pagecast_begin(cache, now, 0, &wrong) == PAGECAST_BAD_SIZE);
    break;
  case 3:
    wrong.kind = draw(2) ? -1 : 99;
    CHECK(pagecast_begin(cache, now, 0, &wrong) == PAGECAST_BAD_OPERATION);
    wrong       = write;
    wrong.flags = 32;
    CHECK(pagecast_begin(cache, now, 0, &wrong) == PAGECAST_BAD_OPERATION);
    break;
  case 4:
    CHECK(pagecast_begin(cache, now, TASKS + (uint32_t)draw(9), &write) == PAGECAST_NO_TASK);
    CHECK(pagecast_remove_task(cache, now, UINT32_MAX) == PAGECAST_NO_TASK);
    break;
  case 5:
    CHECK(pagecast_advance(cache, now, &rate, 1) == PAGECAST_NO_TRANSFER);
    CHECK(pagecast_completed(cache, now, UINT64_MAX) == PAGECAST_NO_TRANSFER);
    break;
  case 6:
    if (count > 0) {
      double rates[] = {NAN, -1, INFINITY};
      rate           = (pagecast_rate){transfers[0].number, rates[draw(3)]};
      CHECK(pagecast_advance(cache, now, &rate, 1) == PAGECAST_BAD_RATE);
    }
    break;
  case 7:
    CHECK(pagecast_begin(NULL, now, 0, &write) == PAGECAST_NULL_POINTER);
    CHECK(pagecast_begin(cache, now, 0, NULL) == PAGECAST_NULL_POINTER);
    CHECK(pagecast_advance(cache, now, NULL, 1) == PAGECAST_NULL_POINTER);
    CHECK(pagecast_next_call(cache, NULL) == PAGECAST_NULL_POINTER);
    wrong.path = NULL;
    CHECK(pagecast_begin(cache, now, 0, &wrong) == PAGECAST_NULL_POINTER);
    break;
  case 8:
    CHECK(pagecast_get_levels((pagecast_cache *)other, now, &levels) == PAGECAST_BAD_HANDLE);
    CHECK(pagecast_destroy((pagecast_cache *)other) == PAGECAST_BAD_HANDLE);
    CHECK(pagecast_error_text((pagecast_cache *)other) == NULL);
    break;
  case 9:
    wrong.path = "/a/\xff";
    CHECK(pagecast_begin(cache, now, 0, &wrong) == PAGECAST_BAD_TEXT);
    CHECK(strlen(pagecast_error_text(cache)) > 0);
    break;
  default:
    CHECK(pagecast_next_call(cache, &next) == PAGECAST_OK);
    if (next < 1e6)
      CHECK(pagecast_advance(cache, next + 1, NULL, 0) == PAGECAST_LATE);
  }
}

/* Files may come at any time. */
static void add_late(void)
{
  pagecast_status status = pagecast_add_file(cache, now, "/a/late", 1000000, 500000, 1000);
  CHECK(status == PAGECAST_OK || status == PAGECAST_FILE_EXISTS || status == PAGECAST_OUT_OF_MEMORY || status == PAGECAST_DISK_FULL);
  CHECK(status != PAGECAST_OK || pagecast_add_file(cache, now, "/a/late", 1, 0, 0) == PAGECAST_FILE_EXISTS);
  obey();
}

static void check_levels(void)
{
  pagecast_levels levels;
  CHECK(pagecast_get_levels(cache, now, &levels) == PAGECAST_OK);
  /* What "wrench" has on its way to the disk is clean, may leave, and still counts as dirty. */
  int counts_what_left = strcmp(model, "wrench") == 0;
  CHECK((levels.dirty <= levels.cached || counts_what_left) && levels.total == 1000000000);
  for (int i = 0; i < FILES; i++) {
    pagecast_file_levels file;
    pagecast_status status = pagecast_get_file_levels(cache, now, PATHS[i], &file);
    CHECK(status == PAGECAST_OK || status == PAGECAST_NO_FILE || status == PAGECAST_NO_MOUNT);
    CHECK(status != PAGECAST_OK || file.dirty <= file.cached || counts_what_left);
    CHECK(status != PAGECAST_OK || file.size <= 3000000000);
  }
}

int main(int argc, char **argv)
{
  if (argc != 3) {
    fprintf(stderr, "usage: random SEED COUNT\n");
    return 2;
  }
  const char *models[] = {"kernel", "wrench", "no-cache", "endless-cache"};
  char message[8];
  CHECK(pagecast_abi_version() == PAGECAST_ABI_VERSION && strlen(pagecast_version()) > 0);
  CHECK(pagecast_create("cores = 0", "kernel", NULL, 0, NULL, NULL, message, sizeof message, &cache) ==
        PAGECAST_BAD_MACHINE);
  CHECK(strlen(message) == sizeof message - 1);
  CHECK(pagecast_create(MACHINE, "fast", NULL, 0, NULL, NULL, NULL, 0, &cache) == PAGECAST_BAD_MACHINE);
  CHECK(pagecast_create(MACHINE, "kernel", NULL, 0, NULL, NULL, NULL, 0, NULL) == PAGECAST_NULL_POINTER);
  uint64_t first = strtoull(argv[1], NULL, 10), last = first + strtoull(argv[2], NULL, 10);
  for (seed = first; seed < last; seed++) {
    state = seed;
    now   = 0;
    count = 0;
    memset(is_busy, 0, sizeof is_busy);
    model = models[draw(4)];
    CHECK(pagecast_create(MACHINE, model, NULL, 0, NULL, NULL, NULL, 0, &cache) == PAGECAST_OK);
    for (uint32_t i = 0, task; i < TASKS; i++)
      CHECK(pagecast_add_task(cache, &task) == PAGECAST_OK && task == i);
    int64_t cached = (int64_t)draw(700000000), dirty = (int64_t)draw(50000000);
    CHECK(pagecast_add_file(cache, now, "/a/1", 1000, 1001, 0) == PAGECAST_BAD_SIZE);
    CHECK(pagecast_add_file(cache, now, "/a/1", 1000, 10, 11) == PAGECAST_BAD_SIZE && strstr(pagecast_error_text(cache), "11 B"));
    CHECK(pagecast_add_file(cache, now, "/a/1", 700000000, cached, dirty < cached ? dirty : cached) == PAGECAST_OK);
    /* Years later a number of seconds does not tell nanoseconds any more. These two have nothing to do until then. */
    if (strcmp(model, "no-cache") == 0 || strcmp(model, "endless-cache") == 0)
      now = draw(2) ? 0 : 3e8;
    obey();
    for (int call = 0; call < CALLS; call++) {
      uint64_t what = draw(10);
      if (what < 3)
        do_something();
      else if (what < 5)
        do_wrong();
      else if (draw(40) == 0)
        add_late();
      else
        pass(draw(2) ? 0.01 : 10);
      check_levels();
    }
    CHECK(pagecast_destroy(cache) == PAGECAST_OK);
    cache = NULL;
  }
  return 0;
}

/*
 * A database beside a backup in C: random calls of a pattern, and what percentiles of them the cache tells.
 *
 * The disk gives 500 MB/s, shared equally by its transfers; none goes faster than its limit. Two tasks, no other source of events.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <pagecast.h>

enum { MOST = 256 };

static const char *MACHINE = "cores = 4\n"
                             "memory = { size = \"16 GB\", read = \"8 GB/s\", write = \"4 GB/s\" }\n"
                             "disk.ssd = { size = \"1 TB\", read = \"500 MB/s\", write = \"500 MB/s\", service = \"300 us\", "
                             "hw_queue_depth = 2, scheduler = \"bfq\" }\n"
                             "mount.\"/data\" = { disk = \"ssd\", type = \"ext4\", journal = { size = \"64 MiB\" } }\n";
static const double DISK_BYTES_PER_S = 500e6;

struct transfer {
  uint64_t number;
  double bytes, left, limit, rate;
};

struct task {
  uint32_t number;
  const char *const *operations; /* null ends them */
};

static pagecast_cache *cache;
static struct transfer transfers[MOST];
static int count;

static void check(pagecast_status status)
{
  if (status != PAGECAST_OK) {
    fprintf(stderr, "database: %s (status %d)\n", cache ? pagecast_error_text(cache) : "no cache", status);
    exit(1);
  }
}

static struct transfer *find(uint64_t number)
{
  for (int i = 0; i < count; i++)
    if (transfers[i].number == number)
      return &transfers[i];
  abort(); /* the cache names transfers that are under way only */
}

/* Max-min fair shares of the disk. */
static void share(void)
{
  double left = DISK_BYTES_PER_S;
  int open = count;
  for (int i = 0; i < count; i++)
    transfers[i].rate = -1;
  for (int settled = -1; settled != 0 && open > 0;) {
    settled = 0;
    for (int i = 0; i < count; i++) {
      if (transfers[i].rate < 0 && transfers[i].limit <= left / open) {
        transfers[i].rate = transfers[i].limit;
        left -= transfers[i].limit;
        open--;
        settled++;
      }
    }
  }
  for (int i = 0; i < count; i++)
    if (transfers[i].rate < 0)
      transfers[i].rate = left / open;
}

static void carry_out(const pagecast_order *order)
{
  struct transfer *transfer = order->kind == PAGECAST_START ? &transfers[count] : find(order->transfer);
  switch (order->kind) {
  case PAGECAST_START:
    if (count == MOST)
      abort();
    count++;
    *transfer = (struct transfer){order->transfer, (double)order->bytes, (double)order->bytes, order->limit, 0};
    break;
  case PAGECAST_LIMIT:
    transfer->limit = order->limit;
    break;
  case PAGECAST_SHORTEN:
    transfer->left = fmax(transfer->left - (transfer->bytes - (double)order->bytes), 0);
    transfer->bytes = (double)order->bytes;
    break;
  default: /* PAGECAST_CANCEL */
    *transfer = transfers[--count];
  }
}

static int begin_next(struct task *task, double now)
{
  if (*task->operations == NULL)
    return 0;
  check(pagecast_begin_text(cache, now, task->number, *task->operations++));
  return 1;
}

int main(void)
{
  static const char *const DATABASE[] = {
      "open = '/data/table', flags = ['O_DIRECT']",
      "read = '/data/table', call = '8 KiB', for = '1 s', by = 'libaio', pattern = { random = 'uniform', writes = '20 %', depth = 4 }",
      "fsync = '/data/table'", NULL};
  static const char *const BACKUP[] = {"open = '/data/backup', flags = ['O_DIRECT']",
                                       "read = '/data/backup', size = '64 MiB', call = '1 MiB'", NULL};
  char message[256];
  if (pagecast_create(MACHINE, "kernel", NULL, 0, NULL, NULL, message, sizeof message, &cache) != PAGECAST_OK) {
    fprintf(stderr, "database: %s\n", message);
    return 1;
  }
  struct task tasks[] = {{0, DATABASE}, {0, BACKUP}};
  check(pagecast_add_file(cache, 0, "/data/table", 2000000000, 0, 0));
  check(pagecast_add_file(cache, 0, "/data/backup", 2000000000, 0, 0));
  check(pagecast_add_named_task(cache, "database", &tasks[0].number));
  check(pagecast_add_named_task(cache, "backup", &tasks[1].number));
  check(pagecast_set_priority(cache, tasks[1].number, "idle"));
  double now = 0;
  int busy = begin_next(&tasks[0], now) + begin_next(&tasks[1], now);
  while (busy > 0) {
    double next = now;
    while (next <= now) {
      pagecast_order order;
      int32_t has_order;
      for (check(pagecast_next_order(cache, &order, &has_order)); has_order;
           check(pagecast_next_order(cache, &order, &has_order))) {
        if (order.kind == PAGECAST_DONE)
          busy += begin_next(&tasks[order.task == tasks[1].number], now) - 1;
        else
          carry_out(&order);
      }
      share();
      pagecast_rate rates[MOST];
      for (int i = 0; i < count; i++)
        rates[i] = (pagecast_rate){transfers[i].number, transfers[i].rate};
      check(pagecast_advance(cache, now, rates, (size_t)count));
      check(pagecast_next_call(cache, &next));
    }
    int first = -1;
    for (int i = 0; i < count; i++) {
      double end = transfers[i].rate > 0 ? now + transfers[i].left / transfers[i].rate : INFINITY;
      if (end <= next) {
        next = end;
        first = i;
      }
    }
    for (int i = 0; i < count; i++)
      transfers[i].left -= transfers[i].rate * (next - now);
    if (busy > 0 || first >= 0)
      now = next;
    if (first >= 0) {
      check(pagecast_completed(cache, now, transfers[first].number));
      transfers[first] = transfers[--count];
    }
  }
  static const char *const KINDS[][2] = {{"database", "read"}, {"database", "write"}, {"backup", "read"}};
  for (int i = 0; i < 3; i++) {
    pagecast_latency latency;
    check(pagecast_get_latency(cache, KINDS[i][0], NULL, KINDS[i][1], &latency));
    printf("%s %s: %llu of %llu bytes, p50 %.4f ms, p99 %.4f ms, max %.4f ms\n", KINDS[i][0], KINDS[i][1],
           (unsigned long long)latency.count, (unsigned long long)latency.bytes, 1e3 * latency.p50_s, 1e3 * latency.p99_s,
           1e3 * latency.max_s);
  }
  pagecast_latency none;
  if (pagecast_get_latency(cache, "nobody", NULL, NULL, &none) != PAGECAST_OK || none.count != 0 || none.p99_s != 0)
    return 1;
  if (pagecast_begin_text(cache, now, tasks[0].number, "compute = '1 s'") != PAGECAST_BAD_OPERATION ||
      pagecast_begin_text(cache, now, tasks[0].number, "reed = '/data/table'") != PAGECAST_BAD_OPERATION ||
      pagecast_begin_text(cache, now, tasks[0].number, "read = '/data/table', depth = 4") != PAGECAST_BAD_OPERATION)
    return 1;
  return pagecast_destroy(cache) != PAGECAST_OK;
}

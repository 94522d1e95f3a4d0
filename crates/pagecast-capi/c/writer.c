/*
 * A simulator of one disk in C: a program writes 20 GB through the page cache, syncs them and reads them again.
 *
 *     cc writer.c $(pkg-config --cflags --libs pagecast) && ./a.out
 *
 * The disk gives 500 MB/s, shared equally by its transfers; none goes faster than its limit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <pagecast.h>

enum { MOST = 64 };

static const char *MACHINE = "cores = 4\n"
                             "memory = { size = \"16 GB\", read = \"8 GB/s\", write = \"4 GB/s\" }\n"
                             "disk.ssd = { size = \"1 TB\", read = \"500 MB/s\", write = \"500 MB/s\" }\n"
                             "mount.\"/data\".disk = \"ssd\"\n";
static const double DISK_BYTES_PER_S = 500e6;

struct transfer {
  uint64_t number;
  double bytes, left, limit, rate;
};

static pagecast_cache *cache;
static struct transfer transfers[MOST];
static int count;

static void check(pagecast_status status)
{
  if (status != PAGECAST_OK) {
    fprintf(stderr, "writer: %s (status %d)\n", cache ? pagecast_error_text(cache) : "no cache", status);
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

/* Max-min fair shares of the disk: who is limited below the share of the others leaves them the rest. */
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

/* Carries out one order. */
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
    transfer->left -= transfer->bytes - (double)order->bytes;
    transfer->left  = fmax(transfer->left, 0);
    transfer->bytes = (double)order->bytes;
    break;
  default: /* PAGECAST_CANCEL */
    *transfer = transfers[count - 1];
    count--;
  }
}

/* Carries out orders and tells rates until nothing is left to do at this instant; returns whether the task's operation is over. */
static int obey(double now)
{
  int is_done = 0;
  for (double next = now; next <= now;) {
    pagecast_order order;
    int32_t has_order;
    for (check(pagecast_next_order(cache, &order, &has_order)); has_order;
         check(pagecast_next_order(cache, &order, &has_order))) {
      if (order.kind == PAGECAST_DONE)
        is_done = 1;
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
  return is_done;
}

/* Does one operation and returns how long it took. */
static double run(double *now, uint32_t task, pagecast_operation operation)
{
  double begun = *now;
  check(pagecast_begin(cache, *now, task, &operation));
  while (!obey(*now)) {
    double next;
    check(pagecast_next_call(cache, &next));
    int first = -1;
    for (int i = 0; i < count; i++) {
      double end = transfers[i].rate > 0 ? *now + transfers[i].left / transfers[i].rate : INFINITY;
      if (end <= next) {
        next = end;
        first = i;
      }
    }
    for (int i = 0; i < count; i++)
      transfers[i].left -= transfers[i].rate * (next - *now);
    *now = next;
    if (first >= 0) {
      check(pagecast_completed(cache, *now, transfers[first].number));
      transfers[first] = transfers[--count];
    }
  }
  return *now - begun;
}

int main(void)
{
  char message[256];
  const char *models[] = {"kernel", "wrench", "no-cache"};
  for (int i = 0; i < 3; i++) {
    if (pagecast_create(MACHINE, models[i], NULL, 0, NULL, NULL, message, sizeof message, &cache) != PAGECAST_OK) {
      fprintf(stderr, "writer: %s\n", message);
      return 1;
    }
    count = 0;
    uint32_t task;
    check(pagecast_add_task(cache, &task));
    double now      = 0;
    int64_t size    = 20000000000;
    double write_s  = run(&now, task, (pagecast_operation){PAGECAST_WRITE, "/data/f", 0, size, 1 << 20, 0});
    double fsync_s  = run(&now, task, (pagecast_operation){.kind = PAGECAST_FSYNC, .path = "/data/f"});
    double reread_s = run(&now, task, (pagecast_operation){PAGECAST_READ, "/data/f", 0, PAGECAST_REST, 1 << 20, 0});
    pagecast_file_levels file;
    check(pagecast_get_file_levels(cache, now, "/data/f", &file));
    printf("%s: write %.3f s, fsync %.3f s, read %.3f s; %.1f GB of the file are cached\n", models[i], write_s, fsync_s,
           reread_s, (double)file.cached / 1e9);
    check(pagecast_destroy(cache));
    cache = NULL;
  }
  return 0;
}

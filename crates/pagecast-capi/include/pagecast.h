/*
 * pagecast inside your simulator: the page cache of one host.
 *
 * Generated from crates/pagecast-capi/src by cbindgen; do not edit. docs/guides/from-simgrid-and-wrench.md says how it is used.
 *
 * Times are in seconds from the start of the simulation, sizes in bytes, rates in bytes per second. Functions return PAGECAST_OK, or
 * what was wrong: nothing has changed then, and pagecast_error_text() says it in words. No function prints, waits or keeps global
 * state. A cache must not be used by two threads at once; different ones may.
 */

#ifndef PAGECAST_H
#define PAGECAST_H

#include <stddef.h>
#include <stdint.h>

/*
 The version of this interface. It is raised when a program has to be compiled anew.
 */
#define PAGECAST_ABI_VERSION 4

/*
 In the place of an offset or of bytes: the rest.
 */
#define PAGECAST_REST INT64_MAX

/*
 How many parts there are.
 */
#define PAGECAST_PARTS 10

/*
 What came of a call.
 */
typedef enum pagecast_status {
  /*
   It is done.
   */
  PAGECAST_OK = 0,
  /*
   A pointer that must not be null is null.
   */
  PAGECAST_NULL_POINTER = 1,
  /*
   The handle is none that pagecast_create() has made.
   */
  PAGECAST_BAD_HANDLE = 2,
  /*
   A text is not UTF-8.
   */
  PAGECAST_BAD_TEXT = 3,
  /*
   The machine, the model or one of its options is wrong.
   */
  PAGECAST_BAD_MACHINE = 4,
  /*
   A time that is NaN, negative or before the last one.
   */
  PAGECAST_BAD_TIME = 5,
  /*
   A call was due before.
   */
  PAGECAST_LATE = 6,
  /*
   A size or an offset that is negative or too large, or more cached or dirty bytes than there are.
   */
  PAGECAST_BAD_SIZE = 7,
  /*
   A rate that is NaN, negative or endless.
   */
  PAGECAST_BAD_RATE = 8,
  /*
   A kind of operation, or a flag, that does not exist.
   */
  PAGECAST_BAD_OPERATION = 9,
  /*
   There is no such task.
   */
  PAGECAST_NO_TASK = 10,
  /*
   The task has an operation under way.
   */
  PAGECAST_BUSY = 11,
  /*
   There is no such transfer, or not any more.
   */
  PAGECAST_NO_TRANSFER = 12,
  /*
   There is no such file.
   */
  PAGECAST_NO_FILE = 13,
  /*
   The path is under no mount.
   */
  PAGECAST_NO_MOUNT = 14,
  /*
   The file is there already.
   */
  PAGECAST_FILE_EXISTS = 15,
  /*
   A read beyond the end of its file.
   */
  PAGECAST_BEYOND_END = 16,
  /*
   More on a disk than fits.
   */
  PAGECAST_DISK_FULL = 17,
  /*
   More anonymous memory than there can be, or more cached bytes of a new file than there is free memory.
   */
  PAGECAST_OUT_OF_MEMORY = 18,
  /*
   The model has no answer; the cache can only be destroyed now.
   */
  PAGECAST_NO_ANSWER = 19,
  /*
   A fault of pagecast itself; the cache can only be destroyed now. Please report it.
   */
  PAGECAST_PANIC = 20,
  /*
   EINVAL: with PAGECAST_O_DIRECT an offset, a size or a call that is not whole blocks of the disk.
   */
  PAGECAST_UNALIGNED = 21,
  /*
   EOPNOTSUPP: PAGECAST_RWF_DONTCACHE on a kernel and file system that do not take it.
   */
  PAGECAST_NOT_SUPPORTED = 22,
} pagecast_status;

/*
 What a task can do.
 */
typedef enum pagecast_operation_kind {
  /*
   read(2) of path, offset, bytes.
   */
  PAGECAST_READ = 0,
  /*
   The same into new anonymous memory, which the task holds until it frees it.
   */
  PAGECAST_READ_FRESH = 1,
  /*
   write(2) of path, offset, bytes. Makes the file if it is not there.
   */
  PAGECAST_WRITE = 2,
  /*
   fsync(2) of path.
   */
  PAGECAST_FSYNC = 3,
  /*
   sync(2).
   */
  PAGECAST_SYNC = 4,
  /*
   truncate(2) of path to bytes.
   */
  PAGECAST_TRUNCATE = 5,
  /*
   unlink(2) of path.
   */
  PAGECAST_UNLINK = 6,
  /*
   3 into /proc/sys/vm/drop_caches: clean pages leave.
   */
  PAGECAST_DROP_CACHES = 7,
  /*
   The task takes bytes of anonymous memory.
   */
  PAGECAST_ALLOCATE = 8,
  /*
   The task gives bytes of it back.
   */
  PAGECAST_FREE = 9,
} pagecast_operation_kind;

/*
 What the simulator is to do.
 */
typedef enum pagecast_order_kind {
  /*
   Start a transfer: device, direction, bytes, weight, limit.
   */
  PAGECAST_START = 0,
  /*
   From now on the transfer goes no faster than limit.
   */
  PAGECAST_LIMIT = 1,
  /*
   The transfer is complete when so many of its bytes have moved; if they have already, it is complete now.
   */
  PAGECAST_SHORTEN = 2,
  /*
   End the transfer; it is not reported any more.
   */
  PAGECAST_CANCEL = 3,
  /*
   The operation of task is over: parts_s, from_cache, from_device.
   */
  PAGECAST_DONE = 4,
} pagecast_order_kind;

/*
 Which way a transfer goes.
 */
typedef enum pagecast_direction {
  /*
   From the device.
   */
  PAGECAST_FROM_DEVICE = 0,
  /*
   To the device.
   */
  PAGECAST_TO_DEVICE = 1,
} pagecast_direction;

/*
 How the file of a read or write is open: bits of its flags.
 */
typedef enum pagecast_flag {
  /*
   Past the page cache, from and to the program's own memory; in whole blocks of the disk.
   */
  PAGECAST_O_DIRECT = 1,
  /*
   A write is over when the device has its bytes.
   */
  PAGECAST_O_SYNC = 2,
  /*
   The same without the file's times.
   */
  PAGECAST_O_DSYNC = 4,
  /*
   A write begins at the end of the file, whatever offset says.
   */
  PAGECAST_O_APPEND = 8,
  /*
   Pages leave the cache when they have served.
   */
  PAGECAST_RWF_DONTCACHE = 16,
} pagecast_flag;

/*
 Where the time of an operation went: index into parts_s.
 */
typedef enum pagecast_part {
  /*
   Copying between the program and the page cache.
   */
  PAGECAST_CPU_COPY = 0,
  /*
   Getting pages for the copy.
   */
  PAGECAST_PAGE_ALLOCATION = 1,
  /*
   Reading from a device.
   */
  PAGECAST_DEVICE_READ = 2,
  /*
   Writing to a device.
   */
  PAGECAST_DEVICE_WRITE = 3,
  /*
   Waiting for a device's queue.
   */
  PAGECAST_QUEUEING = 4,
  /*
   A writer held back because there are too many dirty pages.
   */
  PAGECAST_THROTTLED = 5,
  /*
   Making room in memory.
   */
  PAGECAST_RECLAIM = 6,
  /*
   Waiting for a journal.
   */
  PAGECAST_JOURNAL = 7,
  /*
   Of a pattern: no call for its rate.
   */
  PAGECAST_SLEEP = 8,
  /*
   Of a pattern: a call behind others on its file.
   */
  PAGECAST_WAIT = 9,
} pagecast_part;

/*
 The page cache of one host.
 */
typedef struct pagecast_cache pagecast_cache;

/*
 A setting: an option of the model.
 */
typedef struct pagecast_option {
  /*
   Its name, such as "chunk".
   */
  const char *key;
  /*
   Its value as in a scenario, such as "100 MB".
   */
  const char *value;
} pagecast_option;

/*
 An operation. Fields that its kind does not name are not looked at.
 */
typedef struct pagecast_operation {
  /*
   A pagecast_operation_kind.
   */
  int32_t kind;
  /*
   Absolute path of the file, below a mount of the machine.
   */
  const char *path;
  /*
   First byte; of a write PAGECAST_REST is the end of the file.
   */
  int64_t offset;
  /*
   How many bytes; of a read PAGECAST_REST is up to the end of the file, of a free all that the task holds.
   */
  int64_t bytes;
  /*
   Bytes of one system call of a read or write; 0 is all in one.
   */
  int64_t call_bytes;
  /*
   Of a read or write: any of pagecast_flag, added; 0 is none.
   */
  uint32_t flags;
} pagecast_operation;

/*
 How fast a transfer goes from now on.
 */
typedef struct pagecast_rate {
  /*
   Which.
   */
  uint64_t transfer;
  /*
   Bytes per second, 0 or more.
   */
  double bytes_per_s;
} pagecast_rate;

/*
 An order. Fields that its kind does not name are 0.
 */
typedef struct pagecast_order {
  /*
   A pagecast_order_kind.
   */
  int32_t kind;
  /*
   Of a start: a pagecast_direction.
   */
  int32_t direction;
  /*
   Of a start: index of the device.
   */
  uint32_t device;
  /*
   Of a done: whose operation.
   */
  uint32_t task;
  /*
   Of all but a done: which transfer. Numbers are not used again.
   */
  uint64_t transfer;
  /*
   Of a start or a shorten: how many bytes it has in all.
   */
  uint64_t bytes;
  /*
   Of a start: its share against others of the device; 1 is usual.
   */
  double weight;
  /*
   Of a start or a limit: the highest rate in bytes per second; INFINITY is none, 0 is not at all for now.
   */
  double limit;
  /*
   Of a done: bytes that the page cache served.
   */
  uint64_t from_cache;
  /*
   Of a done: bytes that a device served or took before.
   */
  uint64_t from_device;
  /*
   Of a done: where its time went, in seconds.
   */
  double parts_s[PAGECAST_PARTS];
} pagecast_order;

/*
 What the memory of the host holds, in bytes.
 */
typedef struct pagecast_levels {
  /*
   Size of the memory.
   */
  uint64_t total;
  /*
   Anonymous memory of tasks.
   */
  uint64_t anonymous;
  /*
   The page cache, dirty pages too.
   */
  uint64_t cached;
  /*
   Pages that the device does not have yet.
   */
  uint64_t dirty;
  /*
   Of these, pages on their way to a device; 0 under models that do not know.
   */
  uint64_t writeback;
} pagecast_levels;

/*
 How long operations took; a pattern counts by its calls. A percentile is the shortest time that so many of them did not exceed, right to
 a thousandth.
 */
typedef struct pagecast_latency {
  /*
   How many there were; without any, all else is 0.
   */
  uint64_t count;
  /*
   The bytes that they moved.
   */
  uint64_t bytes;
  /*
   The mean, in seconds.
   */
  double mean_s;
  /*
   Half of them took no longer.
   */
  double p50_s;
  /*
   90 % of them took no longer.
   */
  double p90_s;
  /*
   99 % of them took no longer.
   */
  double p99_s;
  /*
   99.9 % of them took no longer.
   */
  double p99_9_s;
  /*
   The longest.
   */
  double max_s;
} pagecast_latency;

/*
 What there is of a file, in bytes.
 */
typedef struct pagecast_file_levels {
  /*
   Its size; while it is written, the one that it has when the writes under way have ended.
   */
  uint64_t size;
  /*
   In the page cache.
   */
  uint64_t cached;
  /*
   Of these, what the device does not have yet.
   */
  uint64_t dirty;
} pagecast_file_levels;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 The version of this interface that the library has; compare it with PAGECAST_ABI_VERSION.
 */
uint32_t pagecast_abi_version(void);

/*
 The version of pagecast, such as "0.1.0".
 */
const char *pagecast_version(void);

/*
 Makes the page cache of one host.

 machine is the text of a machine file with one host. base_dir and machine_dir are where "from" looks for paths and for names; null is
 the current directory. model is "kernel", "wrench", "no-cache" or "endless-cache". message, of message_size bytes, takes what is
 wrong, if anything is; it may be null.

 # Safety
 Texts end in 0; options has option_count elements; message has message_size bytes; cache can be written.
 */
enum pagecast_status pagecast_create(const char *machine,
                                     const char *model,
                                     const struct pagecast_option *options,
                                     size_t option_count,
                                     const char *base_dir,
                                     const char *machine_dir,
                                     char *message,
                                     size_t message_size,
                                     struct pagecast_cache **cache);

/*
 Gives a cache back. Null is no error.

 # Safety
 The cache was made by pagecast_create() and has not been given back; it is not used after that.
 */
enum pagecast_status pagecast_destroy(struct pagecast_cache *cache);

/*
 What was wrong with the last call that failed; empty at first. Good until the next call. Null if the handle is none.

 # Safety
 The cache was made by pagecast_create().
 */
const char *pagecast_error_text(const struct pagecast_cache *cache);

/*
 How many devices there are: the disks of the machine, in their order. 0 if the handle is none.

 # Safety
 The cache was made by pagecast_create().
 */
uint32_t pagecast_device_count(const struct pagecast_cache *cache);

/*
 The name of a device. Good as long as the cache. Null if there is none.

 # Safety
 The cache was made by pagecast_create().
 */
const char *pagecast_device_name(const struct pagecast_cache *cache, uint32_t device);

/*
 Adds a file that no task has written: one that exists before the start, or that comes from outside the simulation at now_s. The first
 cached bytes of it are in memory, and the first dirty of these are dirty; more of them than there are is PAGECAST_BAD_SIZE, more cached
 bytes than free memory PAGECAST_OUT_OF_MEMORY.

 # Safety
 The cache was made by pagecast_create(); path ends in 0.
 */
enum pagecast_status pagecast_add_file(struct pagecast_cache *cache,
                                       double now_s,
                                       const char *path,
                                       int64_t size,
                                       int64_t cached,
                                       int64_t dirty);

/*
 A new task: somebody who does one operation at a time. The kernel's rules hold each writer back on its own.

 # Safety
 The cache was made by pagecast_create(); task can be written.
 */
enum pagecast_status pagecast_add_task(struct pagecast_cache *cache, uint32_t *task);

/*
 The same with a name for pagecast_get_latency(), which several tasks may share. The random calls of the first task of a name are those of
 the process of that name in a scenario.

 # Safety
 The cache was made by pagecast_create(); name ends in 0; task can be written.
 */
enum pagecast_status pagecast_add_named_task(struct pagecast_cache *cache,
                                             const char *name,
                                             uint32_t *task);

/*
 Gives the requests of a task to disks a priority as ionice prints it: "idle", or "realtime" or "best-effort" and a level from 0 (best) to
 7. Without it a task has "best-effort 4". Another text is PAGECAST_BAD_OPERATION.

 # Safety
 The cache was made by pagecast_create(); ionice ends in 0.
 */
enum pagecast_status pagecast_set_priority(struct pagecast_cache *cache,
                                           uint32_t task,
                                           const char *ionice);

/*
 The seed of the random calls of patterns; 0 without it.

 # Safety
 The cache was made by pagecast_create().
 */
enum pagecast_status pagecast_set_seed(struct pagecast_cache *cache, uint64_t seed);

/*
 The task is no more, and its anonymous memory is given back. Its number may be used again.

 Not while it has an operation under way, which is PAGECAST_BUSY: that goes on to its end, whether its program is killed or no longer
 waits. Remove the task when its PAGECAST_DONE has come.

 # Safety
 The cache was made by pagecast_create().
 */
enum pagecast_status pagecast_remove_task(struct pagecast_cache *cache,
                                          double now_s,
                                          uint32_t task);

/*
 A task begins an operation. It may be over at once: an order says so.

 # Safety
 The cache was made by pagecast_create(); operation can be read, and its path ends in 0.
 */
enum pagecast_status pagecast_begin(struct pagecast_cache *cache,
                                    double now_s,
                                    uint32_t task,
                                    const struct pagecast_operation *operation);

/*
 A task begins an operation that is written as in a scenario, without its braces: read = "/data/f", call = "4 KiB", pattern = { random =
 "uniform" }. So begin patterns of calls, and operations without a kind of their own (fadvise, sync_file_range, rename, ...). Computing,
 waiting and sleeping are the simulator's own. What is wrong in the text is PAGECAST_BAD_OPERATION. A call of a pattern that cannot be
 done later, as on a full disk, ends the pattern, and is the error of the call of this interface that comes to it.

 # Safety
 The cache was made by pagecast_create(); operation ends in 0.
 */
enum pagecast_status pagecast_begin_text(struct pagecast_cache *cache,
                                         double now_s,
                                         uint32_t task,
                                         const char *operation);

/*
 A transfer has moved all its bytes.

 # Safety
 The cache was made by pagecast_create().
 */
enum pagecast_status pagecast_completed(struct pagecast_cache *cache, double now_s, uint64_t transfer);

/*
 Time has come to now_s, and transfers have these rates: those that were started or limited since the last call, and those whose rate
 has changed; others may be named, too. Call it at each instant when all orders have been carried out, and again in this way until
 pagecast_next_call() is later than now_s.

 # Safety
 The cache was made by pagecast_create(); rates has rate_count elements.
 */
enum pagecast_status pagecast_advance(struct pagecast_cache *cache,
                                      double now_s,
                                      const struct pagecast_rate *rates,
                                      size_t rate_count);

/*
 When pagecast_advance() is to be called at the latest if nothing else happens. It is the last now_s as long as there are orders, and
 more than that otherwise; INFINITY is never.

 # Safety
 The cache was made by pagecast_create(); next_s can be written.
 */
enum pagecast_status pagecast_next_call(struct pagecast_cache *cache,
                                        double *next_s);

/*
 Takes the next order. has_order becomes 1, or 0 if there is none.

 # Safety
 The cache was made by pagecast_create(); order and has_order can be written.
 */
enum pagecast_status pagecast_next_order(struct pagecast_cache *cache,
                                         struct pagecast_order *order,
                                         int32_t *has_order);

/*
 What the memory holds at now_s.

 # Safety
 The cache was made by pagecast_create(); levels can be written.
 */
enum pagecast_status pagecast_get_levels(struct pagecast_cache *cache, double now_s, struct pagecast_levels *levels);

/*
 How long the operations took that have ended: those of tasks of this name, on this file, of this kind ("read", "write", "fsync", ...: its
 name in a scenario). Null is any.

 # Safety
 The cache was made by pagecast_create(); task, path and operation are null or end in 0; latency can be written.
 */
enum pagecast_status pagecast_get_latency(struct pagecast_cache *cache,
                                          const char *task,
                                          const char *path,
                                          const char *operation,
                                          struct pagecast_latency *latency);

/*
 What there is of a file at now_s.

 # Safety
 The cache was made by pagecast_create(); path ends in 0; levels can be written.
 */
enum pagecast_status pagecast_get_file_levels(struct pagecast_cache *cache,
                                              double now_s,
                                              const char *path,
                                              struct pagecast_file_levels *levels);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PAGECAST_H */

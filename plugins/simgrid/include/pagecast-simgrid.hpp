/** The Linux page cache of SimGrid's hosts.
 *
 * A host gets a page cache from properties of the platform (pagecast::init()) or from code (PageCache::attach()). Its programs then
 * read and write files through it; its disks stay SimGrid's, and so does how they are shared. docs/guides/from-simgrid-and-wrench.md
 * is the guide. Source of what a page cache does: libpagecast (pagecast.h).
 *
 * Left out: the page cache of the host that serves a remote disk, model checking. A host, disk or link that goes off while a page cache
 * uses it ends Engine::run() with an Error.
 */
#ifndef PAGECAST_SIMGRID_HPP
#define PAGECAST_SIMGRID_HPP

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include <simgrid/s4u.hpp>

namespace pagecast {

/** Makes a page cache for each host of the platform that has a property "pagecast.model", when the platform is complete.
 *
 * Call it after the engine was made and before it runs. Other properties of the host are those of attach(), with "pagecast." before
 * their names. */
void init();

/** What was asked for is impossible: a wrong property, a file that is not there, a full disk, too little memory. */
class Error : public std::runtime_error {
public:
  Error(int status, const std::string& text) : std::runtime_error(text), status_(status) {}
  /** A pagecast_status of pagecast.h; 0 if it has none. */
  int status() const { return status_; }

private:
  int status_;
};

/** The rest of a file. */
constexpr std::int64_t REST = INT64_MAX;

/** How a read or write is done. */
struct How {
  /** First byte; also that of a write, which does not go on where the last one ended. */
  std::int64_t offset = 0;
  /** Bytes of one system call; 0 is all in one. */
  std::int64_t call_bytes = 0;
  /** Of a read: whether its bytes go to new memory, which the actor holds until it frees it or ends. */
  bool fresh = false;
  /** Of a write, O_APPEND: whether it begins at the end of the file as it is then. Without an offset. */
  bool append = false;
  /** O_DIRECT: past the page cache; offset, bytes and call_bytes are whole blocks of the disk (PAGECAST_UNALIGNED). */
  bool direct = false;
  /** Of a write, O_SYNC and O_DSYNC: whether it is over when the disk has its bytes; the second without the file's times. */
  bool sync = false, dsync = false;
  /** RWF_DONTCACHE: pages leave the cache when they have served. Not on every kernel and file system (PAGECAST_NOT_SUPPORTED). */
  bool dontcache = false;
};

/** What the memory of a host holds, in bytes. */
struct Levels {
  std::uint64_t total, anonymous, cached, dirty, writeback;
};

/** What there is of a file, in bytes. */
struct FileLevels {
  std::uint64_t size, cached, dirty;
};

/** Where the time of an operation went, in seconds, and who served its bytes. */
struct Outcome {
  double cpu_copy_s, page_allocation_s, device_read_s, device_write_s, queueing_s, throttled_s, reclaim_s, journal_s;
  /** Of a pattern: no call for its rate; calls behind others on their file. */
  double sleep_s, wait_s;
  std::uint64_t from_cache, from_device;
};

/** How long operations took, in seconds; a pattern counts by its calls. Half, 90 %, 99 % and 99.9 % of them took no longer than a percentile. */
struct Latency {
  std::uint64_t count, bytes;
  double mean_s, p50_s, p90_s, p99_s, p99_9_s, max_s;
};

/** An operation under way. */
class Operation {
public:
  virtual ~Operation() = default;
  /** Blocks the actor until it is over, and says where its time went. May be called again. */
  virtual Outcome wait() = 0;
  /** Whether it is over. */
  virtual bool test() const = 0;
};
using OperationPtr = std::shared_ptr<Operation>;

/** The page cache of one host. */
class PageCache {
public:
  /** Settings are those of a machine file of pagecast: "memory.size" = "64 GB", "vm.dirty_ratio" = "10". Besides:
   * "model" (default "kernel"), options of it ("option.chunk" = "100 MB"), "from" (path of a machine file to start from).
   * Rates may be SimGrid's, too: "8000MBps". Memory needs "memory.size", "memory.read" and "memory.write", if the machine file has none. */
  using Settings = std::map<std::string, std::string>;

  /** Gives a host a page cache over its disks and over disks of other hosts. Each has a directory for its files: its property "mount",
   * or "/" and its name, or "/", its host's name, "/" and its name if it is another host's and a second disk has its name; and a size:
   * its property "size" as in a machine file ("450 GB"), or no limit. A disk is below one page cache. */
  static PageCache& attach(simgrid::s4u::Host* host, const Settings& settings,
                           const std::vector<simgrid::s4u::Disk*>& remote = {});

  /** The page cache of a host; throws if it has none. */
  static PageCache& of(const simgrid::s4u::Host* host);
  /** That of the host of the calling actor; throws if no actor calls. */
  static PageCache& here();

  virtual ~PageCache() = default;

  /** Adds a file that no actor has written, before the start or at any time after it. Its first cached bytes are in memory, and the first
   * dirty of these are dirty. Takes no time. */
  virtual void add_file(const std::string& path, std::int64_t size, std::int64_t cached = 0, std::int64_t dirty = 0) = 0;

  /** Reads a file, and writes one, which it makes if need be. Blocks the calling actor; throws if no actor calls. */
  Outcome read(const std::string& path, std::int64_t bytes = REST, const How& how = {})
  {
    return read_async(path, bytes, how)->wait();
  }
  Outcome write(const std::string& path, std::int64_t bytes, const How& how = {})
  {
    return write_async(path, bytes, how)->wait();
  }
  /** Writes the dirty pages of a file, or of all files. */
  Outcome fsync(const std::string& path) { return fsync_async(path)->wait(); }
  Outcome sync() { return sync_async()->wait(); }

  /** Any operation on files as a scenario writes it, without its braces: read = "/data/f", call = "4 KiB", for = "10 s", rate_iops = 100,
   * pattern = { random = "uniform", depth = 4 }. So are patterns of calls done. */
  Outcome run(const std::string& operation) { return run_async(operation)->wait(); }

  /** The same without blocking. Each operation under way of an actor counts as a thread of it. */
  virtual OperationPtr read_async(const std::string& path, std::int64_t bytes = REST, const How& how = {}) = 0;
  virtual OperationPtr write_async(const std::string& path, std::int64_t bytes, const How& how = {})       = 0;
  virtual OperationPtr fsync_async(const std::string& path)                                                = 0;
  virtual OperationPtr sync_async()                                                                        = 0;
  virtual OperationPtr run_async(const std::string& operation)                                             = 0;

  /** Removes a file, cuts it or makes it larger, lets all clean pages leave. */
  virtual void unlink(const std::string& path)                         = 0;
  virtual void truncate(const std::string& path, std::int64_t size)    = 0;
  virtual void drop_caches()                                           = 0;
  /** Anonymous memory of the calling actor. What it holds is free when it ends. */
  virtual void allocate(std::int64_t bytes)    = 0;
  virtual void free(std::int64_t bytes = REST) = 0;

  /** The priority of the calling actor's requests to disks from now on, as ionice prints it: "idle", "best-effort 0", ... */
  virtual void set_priority(const std::string& ionice) = 0;
  /** The seed of the random calls of patterns; 0 without it. */
  virtual void set_seed(std::uint64_t seed) = 0;

  /** How long the operations took that have ended: those of actors of this name, on this file, of this kind ("read", "write", "fsync", ...).
   * Empty is any. */
  virtual Latency latency(const std::string& actor = "", const std::string& path = "", const std::string& operation = "") = 0;
  virtual Levels levels()                          = 0;
  virtual FileLevels file(const std::string& path) = 0;
};

} // namespace pagecast

#endif

/** The page cache of one host: a handle of libpagecast, its transfers and its operations. All of it runs in SimGrid's maestro. */
#ifndef PAGECAST_CACHE_HPP
#define PAGECAST_CACHE_HPP

#include <cmath>
#include <set>
#include <unordered_map>

#include "machine.hpp"
#include "transfer.hpp"

namespace pagecast {

class Under_way;

class Cache final : public PageCache {
public:
  Cache(simgrid::s4u::Host* host, const Description& description);
  ~Cache() override;

  void add_file(const std::string& path, std::int64_t size, std::int64_t cached, std::int64_t dirty) override;
  OperationPtr read_async(const std::string& path, std::int64_t bytes, const How& how) override;
  OperationPtr write_async(const std::string& path, std::int64_t bytes, const How& how) override;
  OperationPtr fsync_async(const std::string& path) override;
  OperationPtr sync_async() override;
  void unlink(const std::string& path) override;
  void truncate(const std::string& path, std::int64_t size) override;
  void drop_caches() override;
  void allocate(std::int64_t bytes) override;
  void free(std::int64_t bytes) override;
  Levels levels() override;
  FileLevels file(const std::string& path) override;

  /** SimGrid has shared its resources; false if it has to do so once more before the rates of transfers are known. */
  bool settle();
  /** SimGrid has shared its resources: the cache is told what is new. Returns when it wants to be asked again at the latest, or now if
   * resources have to be shared anew or actors can go on. */
  double share(double now);
  /** A leg of a transfer has ended. */
  void ended(std::uint64_t transfer, const simgrid::s4u::Activity* activity);
  /** An actor is no more. */
  void forget(aid_t actor);
  /** Whether some actor waits for an operation, or may. */
  bool has_operations() const { return not operations_.empty(); }
  const simgrid::s4u::Host& host() const { return *host_; }

private:
  OperationPtr begin(const pagecast_operation& operation);
  OperationPtr begin_in_maestro(std::uint32_t task, const pagecast_operation& operation);
  void check(pagecast_status status) const;
  /** The actor that calls; throws if none does. */
  aid_t caller() const;
  /** Carries out all orders; true if there were some. */
  bool obey();
  void carry_out(const pagecast_order& order);
  void done(const pagecast_order& order);
  /** A task of an actor that has nothing to do. */
  std::uint32_t idle_task(aid_t actor);
  void remove(std::uint32_t task);

  simgrid::s4u::Host* host_;
  pagecast_cache* handle_ = nullptr;
  /** The disk of each device of the machine file; null for those that SimGrid does not have. */
  std::vector<simgrid::s4u::Disk*> disks_;
  std::map<std::uint64_t, Transfer> transfers_;
  /** By task. */
  std::unordered_map<std::uint32_t, std::shared_ptr<Under_way>> operations_;
  /** The tasks of each actor: one, and more if it has done several things at once. */
  std::unordered_map<aid_t, std::vector<std::uint32_t>> tasks_;
  /** Tasks under way whose actors are no more. */
  std::set<std::uint32_t> orphans_;
  /** Those that are complete at this instant. The cache hears of them in the order in which they were started, whatever that of
   * SimGrid is: which of several files goes first is no small thing to a page cache. */
  std::set<std::uint64_t> completed_;
  std::vector<pagecast_rate> news_;
  /** Whether the cache has to be advanced whatever SimGrid says: something has begun or ended. */
  bool is_due_ = true;
  double next_ = 0;
};

/** All page caches of this simulation. */
class Plugin {
public:
  static Plugin& get();
  /** Hooks it into the engine, once. */
  void start();
  Cache& add(simgrid::s4u::Host* host, const Description& description);
  Cache* find(const simgrid::s4u::Host* host) const;
  /** Tells a cache when an activity for one of its transfers ends, and not any more. */
  void watch(const simgrid::s4u::ActivityPtr& activity, Cache* cache, std::uint64_t transfer);
  void unwatch(const simgrid::s4u::Activity* activity);
  /** When the next of all caches wants to be called, from now; negative is never. */
  double share(double now);
  /** The simulation cannot go on: the engine's run ends with this error. */
  void fail(const std::string& text);
  /** Throws if it cannot, as when a link to a disk is off. */
  void check_route(const simgrid::s4u::Host& host, const simgrid::s4u::Disk& disk);

private:
  void watch_failures();
  void check() const;
  bool settle();

  std::map<const simgrid::s4u::Host*, std::unique_ptr<Cache>> caches_;
  /** Which host's page cache each disk is below. */
  std::map<const simgrid::s4u::Disk*, const simgrid::s4u::Host*> owners_;
  /** In the order in which they were made: that of their host's addresses would differ from run to run. */
  std::vector<Cache*> in_order_;
  struct Watched {
    simgrid::s4u::ActivityPtr activity;
    Cache* cache;
    std::uint64_t transfer;
  };
  std::unordered_map<const simgrid::s4u::Activity*, Watched> watched_;
  /** Activities that are over at this instant: SimGrid goes on with them when it has told that they are. */
  std::vector<simgrid::s4u::ActivityPtr> over_;
  /** How often SimGrid has shared its resources at this instant for want of rates. */
  int rounds_      = 0;
  bool is_started_ = false;
  /** Why the simulation cannot go on; empty if it can. */
  std::string failure_;
};

} // namespace pagecast

#endif

/** The page cache of one host: a handle of libpagecast, its transfers and its operations. All of it runs in SimGrid's maestro. */
#ifndef PAGECAST_CACHE_HPP
#define PAGECAST_CACHE_HPP

#include <cmath>
#include <set>
#include <unordered_map>

#include "agenda.hpp"
#include "machine.hpp"
#include "transfer.hpp"

namespace pagecast {

class Under_way;

class Cache final : public PageCache {
public:
  /** Its number is that on the agenda. */
  Cache(simgrid::s4u::Host* host, const Description& description, std::size_t number);
  ~Cache() override;

  void add_file(const std::string& path, std::int64_t size, std::int64_t cached, std::int64_t dirty) override;
  OperationPtr read_async(const std::string& path, std::int64_t bytes, const How& how) override;
  OperationPtr write_async(const std::string& path, std::int64_t bytes, const How& how) override;
  OperationPtr fsync_async(const std::string& path) override;
  OperationPtr sync_async() override;
  OperationPtr run_async(const std::string& operation) override;
  void set_priority(const std::string& ionice) override;
  void set_seed(std::uint64_t seed) override;
  Latency latency(const std::string& actor, const std::string& path, const std::string& operation) override;
  void unlink(const std::string& path) override;
  void truncate(const std::string& path, std::int64_t size) override;
  void drop_caches() override;
  void allocate(std::int64_t bytes) override;
  void free(std::int64_t bytes) override;
  Levels levels() override;
  FileLevels file(const std::string& path) override;

  /** SimGrid has shared its resources; false if it has to do so once more before the rates of transfers are known. */
  bool settle();
  /** SimGrid has shared its resources: the cache is told what is new. */
  void share(double now);
  /** Tells the cache the time and some rates, and does what it says. */
  void advance(double now, const std::vector<pagecast_rate>& rates);
  /** A leg of a transfer has ended. */
  void ended(std::uint64_t transfer, const simgrid::s4u::Activity* activity);
  /** All that ends at this instant has ended: the cache is told which transfers are complete. */
  void complete(double now);
  /** An actor is no more. */
  void forget(aid_t actor);
  /** Whether some of its disks are other hosts'. */
  bool is_remote() const;
  std::size_t number() const { return number_; }
  /** Whether some actor waits for an operation, or may. */
  bool has_operations() const { return not operations_.empty(); }
  const simgrid::s4u::Host& host() const { return *host_; }

private:
  OperationPtr begin(const pagecast_operation& operation);
  OperationPtr begin_in_maestro(std::uint32_t task, const pagecast_operation& operation);
  /** The operation that a task has just begun. */
  OperationPtr under_way(std::uint32_t task);
  void check(pagecast_status status) const;
  /** Something has happened to it: it is to be advanced when SimGrid has shared its resources. */
  void touch();
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
  std::size_t number_;
  pagecast_cache* handle_ = nullptr;
  /** The disk of each device of the machine file; null for those that SimGrid does not have. */
  std::vector<simgrid::s4u::Disk*> disks_;
  std::map<std::uint64_t, Transfer> transfers_;
  /** By task. */
  std::unordered_map<std::uint32_t, std::shared_ptr<Under_way>> operations_;
  /** The tasks of each actor: one, and more if it has done several things at once. */
  std::unordered_map<aid_t, std::vector<std::uint32_t>> tasks_;
  /** What actors have said of their requests. */
  std::unordered_map<aid_t, std::string> priorities_;
  /** Tasks under way whose actors are no more. */
  std::set<std::uint32_t> orphans_;
  /** Those that are complete at this instant. The cache hears of them in the order in which they were started, whatever that of
   * SimGrid is: which of several files goes first is no small thing to a page cache. */
  std::vector<std::uint64_t> completed_;
  std::vector<pagecast_rate> news_;
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
  void watch(const Transfer::Leg& leg, Cache* cache, std::uint64_t transfer);
  void unwatch(const simgrid::kernel::activity::ActivityImpl* activity);
  /** When the next of all caches wants to be called, from now; negative is never. */
  double share(double now);
  /** SimGrid's time has come to this. */
  void come_to(double now);
  /** A cache has news: it is visited when SimGrid has shared its resources. */
  void touch(std::size_t cache) { touched_.add(cache); }
  /** A cache is to be asked at this time at the latest; INFINITY is never. */
  void set_time(std::size_t cache, double time) { agenda_.set_time(cache, time); }

  /** The simulation cannot go on: the engine's run ends with this error. */
  void fail(const std::string& text);
  /** Throws if it cannot, as when a link to a disk is off. */
  void check_route(const simgrid::s4u::Host& host, const simgrid::s4u::Disk& disk);

private:
  struct Watched;
  void watch_failures();
  void check() const;
  bool settle();
  void note_rates();
  /** A leg of a transfer has ended: tells its cache, if it has not heard of it. */
  void end(Watched& watched);
  /** The cache, which does not hear of this any more; null if it has heard of the end. */
  Cache* release(Watched& watched);
  void complete(double now);

  std::unordered_map<const simgrid::s4u::Host*, std::unique_ptr<Cache>> caches_;
  /** Which host's page cache each disk is below. */
  std::map<const simgrid::s4u::Disk*, const simgrid::s4u::Host*> owners_;
  /** In the order in which they were made: that of their host's addresses would differ from run to run. */
  std::vector<Cache*> in_order_;
  /** Those that have disks of other hosts. */
  std::vector<Cache*> remote_;
  Agenda agenda_;
  /** Those that have news. */
  Caches touched_;
  /** Those of which transfers have ended at this instant. */
  Caches ended_;
  struct Watched {
    simgrid::s4u::ActivityPtr activity;
    /** Null when it has heard of the end. */
    Cache* cache;
    std::uint64_t transfer;
    /** Where it is in rates_ until then. */
    std::size_t at;
  };
  std::unordered_map<const simgrid::kernel::activity::ActivityImpl*, Watched> watched_;
  /** The rates of these activities as SimGrid has shared its resources last: it does not tell who has got another one. */
  struct Rate {
    const simgrid::kernel::resource::Action* action;
    double rate;
    Watched* watched;
  };
  std::vector<Rate> rates_;
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

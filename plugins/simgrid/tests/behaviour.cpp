/** What a program sees of its page cache, one case a process: SimGrid simulates once. `behaviour CASE PLATFORM` fails by itself. */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <pagecast-simgrid.hpp>
#include <pagecast.h>

namespace sg4 = simgrid::s4u;
using pagecast::PageCache;

#define CHECK(what) check(what, #what, __LINE__)

static void check(bool is_true, const char* what, int line)
{
  if (is_true)
    return;
  std::fprintf(stderr, "line %d at %.9f s: not %s\n", line, sg4::Engine::get_clock(), what);
  std::exit(1);
}

static bool near(double value, double expected)
{
  return std::fabs(value - expected) <= 1e-6 * expected;
}

static double now()
{
  return sg4::Engine::get_clock();
}

constexpr std::int64_t GB = 1'000'000'000;

static const PageCache::Settings MEMORY = {
    {"model", "kernel"}, {"memory.size", "16 GB"}, {"memory.read", "8 GB/s"}, {"memory.write", "4 GB/s"}};

/** Whether a call is refused with this status. */
static bool is_refused(int status, const std::function<void()>& call)
{
  try {
    call();
  } catch (const pagecast::Error& error) {
    return error.status() == status && error.what()[0] != '\0';
  }
  return false;
}

/** Written bytes are in memory, then on the disk, and a second read takes the memory's time. */
static void writes_and_reads()
{
  auto& cache  = PageCache::here();
  auto written = cache.write("/scratch/f", GB);
  CHECK(near(now(), 0.25) && near(written.cpu_copy_s, 0.25));
  CHECK(cache.file("/scratch/f").dirty == GB && cache.levels().dirty == GB);
  cache.fsync("/scratch/f");
  CHECK(near(now(), 0.25 + 2.5) && cache.levels().dirty == 0);
  CHECK(cache.read("/scratch/f").from_cache == GB && near(now(), 2.75 + 0.125));
  cache.drop_caches();
  double start  = now();
  auto reread   = cache.read("/scratch/f");
  CHECK(reread.from_device == GB && near(now() - start, 2) && near(reread.device_read_s, 2));
  cache.unlink("/scratch/f");
  CHECK(cache.levels().cached == 0);
}

/** Operations of one actor overlap; the disk is shared as SimGrid shares it, also with others who use it without a cache. */
static void several_at_once()
{
  auto& cache = PageCache::here();
  auto* disk  = sg4::this_actor::get_host()->get_disks().front();
  auto one    = cache.read_async("/scratch/a");
  auto other  = cache.read_async("/scratch/b");
  auto plain  = disk->read_async(GB);
  CHECK(not one->test());
  one->wait();
  CHECK(one->test() && near(now(), 6));
  other->wait();
  plain->wait();
  CHECK(near(now(), 6));
  one->wait();
  auto write = cache.write_async("/scratch/c", GB);
  cache.read("/scratch/a");
  write->wait();
  cache.sync();
  CHECK(cache.levels().dirty == 0);
}

/** A file on another host's disk comes over the network, once. */
static void over_the_network()
{
  auto& cache = PageCache::here();
  cache.read("/hdd/f");
  CHECK(near(now(), 20));
  double start = now();
  CHECK(cache.read("/hdd/f").from_cache == GB && near(now() - start, 0.125));
  start = now();
  cache.write("/hdd/g", GB / 2);
  CHECK(now() - start < 0.2);
  cache.fsync("/hdd/g");
  CHECK(near(now() - start, 0.125 + 10));
}

static void refuses()
{
  auto& cache = PageCache::here();
  CHECK(is_refused(PAGECAST_NO_FILE, [&] { cache.read("/scratch/none"); }));
  CHECK(is_refused(PAGECAST_NO_MOUNT, [&] { cache.write("/elsewhere/f", 1); }));
  CHECK(is_refused(PAGECAST_BAD_SIZE, [&] { cache.write("/scratch/f", -1); }));
  CHECK(is_refused(PAGECAST_DISK_FULL, [&] { cache.write("/scratch/f", 1000 * GB); }));
  CHECK(is_refused(PAGECAST_OUT_OF_MEMORY, [&] { cache.allocate(17 * GB); }));
  CHECK(is_refused(PAGECAST_FILE_EXISTS, [&] {
    cache.write("/scratch/f", 1);
    cache.add_file("/scratch/g", 1);
  }));
  CHECK(is_refused(0, [] { PageCache::of(sg4::Host::by_name("server")); }));
  CHECK(is_refused(PAGECAST_BAD_MACHINE,
                   [] { PageCache::attach(sg4::Host::by_name("server"), {{"model", "fast"}}); }));
  cache.write("/scratch/h", GB);
  CHECK(cache.file("/scratch/h").size == GB);
}

/** What an actor holds is free when it ends, whatever it was doing. */
static void memory_of_actors()
{
  auto& cache = PageCache::here();
  auto holder = sg4::Actor::create("holder", sg4::this_actor::get_host(), [&cache] {
    cache.allocate(GB);
    cache.read("/scratch/a", GB, {0, 0, true});
    sg4::this_actor::sleep_for(10);
  });
  auto killed = sg4::Actor::create("killed", sg4::this_actor::get_host(), [&cache] {
    cache.read("/scratch/b", GB, {0, 0, true});
    CHECK(false);
  });
  sg4::this_actor::sleep_for(1);
  CHECK(cache.levels().anonymous > GB);
  killed->kill();
  holder->join();
  sg4::this_actor::sleep_for(1);
  CHECK(cache.levels().anonymous == 0);
  cache.allocate(15 * GB);
  cache.free(GB);
  cache.free();
  CHECK(cache.levels().anonymous == 0);
}

/** Each host has a page cache of its own; what one does is nothing to the other. */
static void two_hosts()
{
  auto& other = PageCache::attach(sg4::Host::by_name("server"), MEMORY);
  auto actor  = sg4::Actor::create("other", sg4::Host::by_name("server"), [&other] {
    CHECK(&PageCache::here() == &other);
    other.write("/hdd/f", GB);
    CHECK(near(now(), 0.25));
    other.fsync("/hdd/f");
    CHECK(near(now(), 0.25 + 10));
  });
  PageCache::here().write("/scratch/f", GB);
  CHECK(near(now(), 0.25) && other.levels().cached == GB);
  PageCache::here().fsync("/scratch/f");
  CHECK(near(now(), 0.25 + 2.5) && PageCache::here().levels().dirty == 0 && other.levels().dirty > 0);
  actor->join();
}

/** Who waits for nothing that can come is stuck, although flushers have work from time to time. */
static void deadlock()
{
  PageCache::here().write("/scratch/f", GB);
  sg4::Mailbox::by_name("nobody")->get<int>();
}

int main(int argc, char** argv)
{
  struct Case {
    std::function<void()> program;
    bool has_remote;
  };
  const std::map<std::string, Case> cases = {
      {"writes-and-reads", {writes_and_reads, false}}, {"several-at-once", {several_at_once, false}},
      {"over-the-network", {over_the_network, true}},  {"refuses", {refuses, false}},
      {"memory-of-actors", {memory_of_actors, false}}, {"two-hosts", {two_hosts, false}},
      {"deadlock", {deadlock, false}}};
  sg4::Engine engine(&argc, argv);
  sg4::Engine::set_config("network/model:CM02");
  sg4::Engine::set_config("network/TCP-gamma:0");
  sg4::Engine::set_config("network/crosstraffic:0");
  if (argc != 3 || not cases.count(argv[1])) {
    std::fprintf(stderr, "usage: behaviour CASE PLATFORM\n");
    return 2;
  }
  const auto& chosen = cases.at(argv[1]);
  if (not chosen.has_remote)
    pagecast::init();
  engine.load_platform(argv[2]);
  auto* client = engine.host_by_name("client");
  if (chosen.has_remote) {
    auto& cache = PageCache::attach(client, MEMORY, {engine.host_by_name("server")->get_disks().front()});
    cache.add_file("/hdd/f", GB);
  } else {
    auto& cache = PageCache::of(client);
    cache.add_file("/scratch/a", GB);
    cache.add_file("/scratch/b", GB);
  }
  bool is_over = false;
  sg4::Actor::create("program", client, [&] {
    chosen.program();
    is_over = true;
  });
  engine.run();
  CHECK(is_over);
  return 0;
}

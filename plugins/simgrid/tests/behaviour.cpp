/** What a program sees of its page cache, one case a process: SimGrid simulates once. `behaviour CASE PLATFORM` fails by itself. */
#include <map>
#include <vector>

#include "check.hpp"

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

/** A database beside a backup: calls of a pattern, their percentiles, and an operation without a call of its own. */
static void percentiles()
{
  auto& cache = PageCache::here();
  auto backup = cache.write_async("/scratch/backup", GB, [] {
    pagecast::How how;
    how.call_bytes = 1'000'000;
    return how;
  }());
  auto database = cache.run("read = '/scratch/a', call = '4 KiB', for = '1 s', rate_iops = 100, pattern = { random = 'uniform', depth = 4 }");
  CHECK(near(now(), 1) && database.sleep_s > 0.5);
  backup->wait();
  auto reads = cache.latency("", "/scratch/a", "read");
  CHECK(reads.count == 100 && reads.bytes == 409'600);
  CHECK(reads.p50_s > 0 && reads.p50_s <= reads.p90_s && reads.p90_s <= reads.p99_s && reads.p99_s <= reads.max_s);
  CHECK(reads.mean_s > 0 && reads.mean_s <= reads.max_s);
  CHECK(cache.latency("program", "/scratch/backup").count == 1 && cache.latency("nobody").count == 0);
  CHECK(cache.latency().count == 101);
  cache.set_priority("idle");
  cache.set_seed(7);
  cache.run("fadvise = '/scratch/a', advice = 'dontneed'");
  CHECK(cache.file("/scratch/a").cached == 0);
  CHECK(is_refused(PAGECAST_BAD_OPERATION, [&] { cache.run("compute = '1 s'"); }));
  CHECK(is_refused(PAGECAST_BAD_OPERATION, [&] { cache.run("reed = '/scratch/a'"); }));
  CHECK(is_refused(PAGECAST_BAD_OPERATION, [&] { cache.set_priority("fast"); }));
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
  cache.write("/hdd/h", GB / 2);
  CHECK(now() - start < 0.2);
  cache.fsync("/hdd/h");
  CHECK(near(now() - start, 0.125 + 10));
}

/** A transfer over a disk and a link takes what the slower of them takes; others have what it leaves of the faster one. */
static void at_the_slower_rate()
{
  auto* client  = sg4::Host::by_name("client");
  auto* server  = sg4::Host::by_name("server");
  auto* archive = sg4::Host::by_name("archive");
  auto& cache   = PageCache::here();
  // The disk gives 40 MB/s of the link's 1000.
  auto read = cache.read_async("/tape/f");
  sg4::Comm::sendto(archive, client, 960'000'000);
  CHECK(near(now(), 0.01 + 1));
  CHECK(near(read->wait().device_read_s, 0.01 + 25) && near(now(), 0.01 + 25));
  // The link gives 50 MB/s of the disk's 200.
  double start = now();
  read         = cache.read_async("/hdd/f");
  disk_of("server")->read(3 * GB / 2);
  CHECK(near(now() - start, 10));
  read->wait();
  CHECK(near(now() - start, 20));
  cache.drop_caches();
  // For ten seconds others leave 20 MB/s of the disk, then the link is the narrower one again, and then half of it.
  start = now();
  read  = cache.read_async("/hdd/f");
  std::vector<sg4::IoPtr> others;
  for (int i = 0; i < 9; i++)
    others.push_back(disk_of("server")->read_async(GB / 5));
  for (auto& other : others)
    other->wait();
  CHECK(near(now() - start, 10));
  sg4::Comm::sendto(server, client, GB / 4);
  CHECK(near(now() - start, 20));
  read->wait();
  CHECK(near(now() - start, 10 + 10 + 11));
}

/** Those who read over one link, or from one disk, share it; writes go the other way. */
static void readers_share()
{
  auto& cache = PageCache::here();
  auto one    = cache.read_async("/hdd/f");
  auto other  = cache.read_async("/hdd/g");
  one->wait();
  CHECK(near(now(), 40));
  other->wait();
  CHECK(near(now(), 40));
  one   = cache.read_async("/tape/f");
  other = cache.read_async("/tape/g");
  one->wait();
  other->wait();
  CHECK(near(now(), 40 + 0.01 + 50));
  // Linux writes pages back in pieces; each is a transfer of its own, with a latency of its own.
  double start = now();
  cache.write("/tape/h", GB / 2);
  cache.fsync("/tape/h");
  CHECK(now() - start >= 0.125 + 0.01 + 25 && now() - start < 0.125 + 26);
}

/** Without a cache it takes what SimGrid says of the slower one by itself. */
static void remote_without_a_cache()
{
  auto& cache = PageCache::here();
  cache.read("/tape/f");
  double took = now();
  disk_of("archive")->read(GB);
  CHECK(std::fabs(now() - took - (took - 0.01)) < 1e-12 * took);
  double start = now();
  cache.write("/hdd/h", GB);
  took  = now() - start;
  start = now();
  sg4::Comm::sendto(sg4::Host::by_name("client"), sg4::Host::by_name("server"), GB);
  CHECK(std::fabs(now() - start - took) < 1e-12 * took);
}

/** SimGrid's usual network has 97 % of a link's bandwidth for payload, and 13.01 of its latency; the disk has neither. */
static void over_the_usual_network()
{
  auto& cache = PageCache::here();
  cache.read("/hdd/f");
  CHECK(near(now(), GB / (0.97 * 50e6)));
  double start = now();
  cache.read("/tape/f");
  CHECK(near(now() - start, 13.01 * 0.01 + 25));
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
    cache.add_file("/scratch/f", 1);
  }));
  CHECK(is_refused(0, [] { PageCache::of(sg4::Host::by_name("server")); }));
  CHECK(is_refused(PAGECAST_NULL_POINTER, [] { PageCache::of(nullptr); }));
  CHECK(is_refused(PAGECAST_NULL_POINTER, [] { PageCache::attach(nullptr, MEMORY); }));
  CHECK(is_refused(PAGECAST_NULL_POINTER, [] { PageCache::attach(sg4::Host::by_name("server"), MEMORY, {nullptr}); }));
  CHECK(is_refused(PAGECAST_BAD_MACHINE,
                   [] { PageCache::attach(sg4::Host::by_name("server"), {{"model", "fast"}}); }));
  cache.write("/scratch/h", GB);
  CHECK(cache.file("/scratch/h").size == GB);
}

/** A write begins where it is told: at the first byte, at an offset, or at the end of the file. */
static void appends()
{
  auto& cache = PageCache::here();
  pagecast::How at_the_end;
  at_the_end.append = true;
  for (int i = 0; i < 4; i++)
    cache.write("/scratch/log", GB / 4, at_the_end);
  CHECK(cache.file("/scratch/log").size == GB);
  for (int i = 0; i < 4; i++)
    cache.write("/scratch/over", GB / 4);
  CHECK(cache.file("/scratch/over").size == GB / 4);
  at_the_end.offset = 1;
  CHECK(has(said([&] { cache.write("/scratch/log", 1, at_the_end); }), "appends or has an offset"));
  at_the_end.offset = 0;
  CHECK(has(said([&] { cache.read("/scratch/log", 1, at_the_end); }), "cannot append"));
  CHECK(is_refused(PAGECAST_BAD_SIZE, [&] { cache.write("/scratch/log", pagecast::REST); }));
  CHECK(cache.file("/scratch/log").size == GB);
}

/** How a file is open says whether its bytes stay in memory, and when a write is over. */
static void flags()
{
  constexpr std::int64_t BLOCKS = 499'998'720; // whole ones of 512 bytes
  auto& cache                   = PageCache::here();
  pagecast::How how;
  how.direct   = true;
  auto written = cache.write("/scratch/f", BLOCKS, how);
  CHECK(now() >= 1.249 && now() < 1.26 && written.from_device == BLOCKS);
  auto read = cache.read("/scratch/f", pagecast::REST, how);
  CHECK(now() >= 2.249 && now() < 2.27 && read.from_device == BLOCKS && cache.file("/scratch/f").cached == 0);
  CHECK(is_refused(PAGECAST_UNALIGNED, [&] { cache.write("/scratch/f", 1000, how); }));
  how        = {};
  how.dsync  = true;
  how.append = true;
  cache.write("/scratch/f", GB / 2, how);
  CHECK(cache.levels().dirty == 0 && cache.file("/scratch/f").cached > 0 && cache.file("/scratch/f").size == BLOCKS + GB / 2);
  how           = {};
  how.dontcache = true;
  cache.drop_caches();
  cache.read("/scratch/f", pagecast::REST, how);
  CHECK(cache.file("/scratch/f").cached == 0);
}

/** Killed in the middle of whatever it does, an actor leaves an operation that goes on to its end, and nothing else. */
static void killed()
{
  auto& cache = PageCache::here();
  auto* host  = sg4::this_actor::get_host();
  pagecast::How fresh;
  fresh.fresh = true;
  pagecast::OperationPtr left;
  const std::vector<std::function<void()>> programs = {
      [&cache, &fresh] { cache.read("/scratch/a", GB, fresh); },
      [&cache] { cache.write("/scratch/w", 8 * GB); },
      [&cache] {
        sg4::this_actor::sleep_for(0.4);
        cache.sync();
      },
      [&cache, &left] {
        left = cache.read_async("/scratch/b");
        cache.write_async("/scratch/v", GB);
        sg4::this_actor::sleep_for(100);
      }};
  std::vector<sg4::ActorPtr> actors;
  for (const auto& program : programs)
    actors.push_back(sg4::Actor::create("killed", host, [program] {
      program();
      CHECK(false);
    }));
  sg4::this_actor::sleep_for(0.5);
  for (const auto& actor : actors)
    actor->kill();
  CHECK(not left->test());
  CHECK(left->wait().from_device == GB); // who still has it can wait for it
  sg4::this_actor::sleep_for(60);
  cache.sync();
  CHECK(cache.read("/scratch/w").from_cache > 0 && cache.file("/scratch/w").size == 8 * GB);
  CHECK(cache.levels().dirty == 0 && cache.levels().anonymous == 0);
}

/** A setting that is wrong is named as it was written, and SimGrid's rates are taken. */
static void names_settings()
{
  auto* server = sg4::Host::by_name("server");
  auto* hdd    = server->get_disks().front();
  auto with    = [server](const std::string& key, const std::string& text) {
    auto settings = MEMORY;
    settings[key] = text;
    return said([&] { PageCache::attach(server, settings); });
  };
  CHECK(has(with("memory.read", "8Gbps"), "setting memory.read: "));
  CHECK(has(with("memory.siz", "8 GB"), "setting memory.siz: unknown key"));
  CHECK(has(with("vm.dirty_ratio", "1.2.3"), "setting vm.dirty_ratio: "));
  CHECK(has(with("memory.size", "8 GB\ncores = 2"), "setting memory.size: "));
  CHECK(has(with("memory", "8 GB"), "setting memory is a group"));
  CHECK(has(said([server] { PageCache::attach(server, {}); }), "there is no setting memory.size"));
  CHECK(has(with("from", "wrench-cluster-published"), "setting from: `wrench-cluster-published` is not the path"));
  CHECK(has(with("disk.hdd.read", "1 GB/s"), "setting disk.hdd.read: SimGrid's platform says this already"));
  hdd->set_property("pagecast.read_ahead", "128");
  CHECK(has(with("model", "kernel"), "property pagecast.read_ahead of disk hdd: unknown key"));
  // A disk has no call that takes a property away.
  const_cast<std::unordered_map<std::string, std::string>*>(hdd->get_properties())->erase("pagecast.read_ahead");
  hdd->set_property("pagecast.read_ahead_kb", "256");
  CHECK(with("memory.read", "8000MBps").empty());
  auto& cache  = PageCache::of(server);
  double start = now();
  cache.write("/hdd/f", GB);
  CHECK(near(now() - start, 0.25));
  cache.read("/hdd/f");
  CHECK(near(now() - start, 0.25 + 0.125));
}

/** A disk is below one page cache, from whatever side the second one comes. */
static void one_cache_for_a_disk()
{
  auto* client = sg4::Host::by_name("client");
  auto* server = sg4::Host::by_name("server");
  auto* own    = client->get_disks().front();
  auto text    = said([&] { PageCache::attach(server, MEMORY, {own}); });
  CHECK(has(text, "disk ssd of client") && has(text, "page cache of client") && has(text, "that of server"));
  PageCache::attach(server, MEMORY); // what was refused has left nothing behind
  CHECK(has(said([&] { PageCache::attach(client, MEMORY); }), "client has a page cache already"));
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
    /** Model of a page cache over disks of other hosts; none: that of the platform's properties, over the client's own. */
    const char* remote = nullptr;
  };
  const std::map<std::string, Case> cases = {
      {"writes-and-reads", {writes_and_reads}},
      {"several-at-once", {several_at_once}},
      {"percentiles", {percentiles}},
      {"over-the-network", {over_the_network, "kernel"}},
      {"at-the-slower-rate", {at_the_slower_rate, "kernel"}},
      {"readers-share", {readers_share, "kernel"}},
      {"remote-without-a-cache", {remote_without_a_cache, "no-cache"}},
      {"over-the-usual-network", {over_the_usual_network, "kernel"}},
      {"refuses", {refuses}},
      {"memory-of-actors", {memory_of_actors}},
      {"two-hosts", {two_hosts}},
      {"appends", {appends}},
      {"flags", {flags}},
      {"killed", {killed}},
      {"names-settings", {names_settings}},
      {"one-cache-for-a-disk", {one_cache_for_a_disk}},
      {"names-properties", {nullptr}},
      {"deadlock", {deadlock}}};
  sg4::Engine engine(&argc, argv);
  sg4::Engine::set_config("network/TCP-gamma:0");
  sg4::Engine::set_config("network/crosstraffic:0");
  if (argc == 3 && argv[1] != std::string("over-the-usual-network"))
    sg4::Engine::set_config("network/model:CM02");
  if (argc != 3 || not cases.count(argv[1])) {
    std::fprintf(stderr, "usage: behaviour CASE PLATFORM\n");
    return 2;
  }
  if (argv[1] == std::string("names-properties")) {
    // Each host of the platform has this, too; SimGrid passes on what loading it throws.
    sg4::Host::on_creation_cb([](sg4::Host& host) { host.set_property("pagecast.memory.siz", "8 GB"); });
    pagecast::init();
    CHECK(has(said([&] { engine.load_platform(argv[2]); }), "client: property pagecast.memory.siz: unknown key"));
    return 0;
  }
  const auto& chosen = cases.at(argv[1]);
  if (chosen.remote == nullptr)
    pagecast::init();
  engine.load_platform(argv[2]);
  auto* client = engine.host_by_name("client");
  if (chosen.remote != nullptr) {
    auto settings     = MEMORY;
    settings["model"] = chosen.remote;
    auto& cache       = PageCache::attach(client, settings, {disk_of("server"), disk_of("archive")});
    for (const char* path : {"/hdd/f", "/hdd/g", "/tape/f", "/tape/g"})
      cache.add_file(path, GB);
  } else {
    auto& cache = PageCache::of(client);
    cache.add_file("/scratch/a", GB);
    cache.add_file("/scratch/b", GB);
    CHECK(is_refused(PAGECAST_BAD_SIZE, [&] { cache.add_file("/scratch/c", GB, 2 * GB); }));
    CHECK(is_refused(PAGECAST_BAD_SIZE, [&] { cache.add_file("/scratch/c", GB, 1, 2); }));
    CHECK(is_refused(0, [] { PageCache::here(); }));
    CHECK(is_refused(0, [&] { cache.read("/scratch/a"); }));
    CHECK(is_refused(0, [&] { cache.free(); }));
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

/** Where a page cache under "no-cache" gives SimGrid's own times to the last digit, and where it does not: the table of
 * docs/guides/from-simgrid-and-wrench.md, line by line. `plain CASE` does the same on two hosts that differ in the page cache alone. */
#include <map>
#include <vector>

#include "check.hpp"

#include <simgrid/version.h>

/** A host with one disk, and what its actors do there. */
struct Side {
  sg4::Host* host;
  sg4::Disk* disk;
  /** None on the plain one. */
  PageCache* cache;
  /** When each thing was over. */
  std::vector<double> ends;

  void read(std::int64_t bytes) { cache ? void(cache->read("/ssd/f", bytes)) : void(disk->read(bytes)); }
  void write(std::int64_t bytes) { cache ? void(cache->write("/ssd/g", bytes)) : void(disk->write(bytes)); }
  /** Begins a read, and gives what waits for it. */
  std::function<void()> read_async(std::int64_t bytes)
  {
    if (cache) {
      auto operation = cache->read_async("/ssd/f", bytes);
      return [operation] { operation->wait(); };
    }
    auto io = disk->read_async(bytes);
    return [io] { io->wait(); };
  }
  void end() { ends.push_back(now()); }
  sg4::ActorPtr start(const std::function<void(Side&)>& program)
  {
    return sg4::Actor::create("actor", host, [this, program] { program(*this); });
  }
};

static Side make(sg4::NetZone* zone, const std::string& name)
{
  auto* host = zone->create_host(name, "1Gf");
  auto* disk = host->create_disk("ssd", "500MBps", "400MBps");
  host->seal();
  return {host, disk, nullptr, {}};
}

/** Actors that read and write at odd times, in odd sizes. */
static void blocking_calls(Side& side)
{
  for (int actor = 1; actor <= 7; actor++)
    side.start([actor](Side& side) {
      sg4::this_actor::sleep_for(0.0137 * actor);
      for (int i = 1; i <= 5; i++) {
        side.read(GB / (i + actor));
        side.end();
        sg4::this_actor::sleep_for(0.71 / i);
        side.write(12'345'677 * actor);
        side.end();
      }
    });
}

/** Several operations of an actor at once. */
static void asynchronous_calls(Side& side)
{
  for (int actor = 1; actor <= 3; actor++)
    side.start([actor](Side& side) {
      std::vector<std::function<void()>> waits;
      for (int i = 1; i <= 4; i++) {
        waits.push_back(side.read_async(77'777'777 * i));
        sg4::this_actor::sleep_for(0.0713 * actor);
      }
      for (const auto& wait : waits) {
        wait();
        side.end();
      }
    });
}

/** A disk that becomes slower and faster. */
static void bandwidth_changes(Side& side)
{
  for (int actor = 1; actor <= 2; actor++)
    side.start([](Side& side) {
      side.read(GB);
      side.end();
    });
  side.start([](Side& side) {
    for (double bandwidth : {123e6, 456e6}) {
      sg4::this_actor::sleep_for(0.77);
      side.disk->set_read_bandwidth(bandwidth);
    }
  });
}

/** Nothing to do takes no time. */
static void no_bytes(Side& side)
{
  side.start([](Side& side) {
    side.read(0);
    side.end();
    side.write(0);
    side.end();
  });
}

/** For one second, half a second after it has begun. */
static void suspended(Side& side)
{
  auto actor = side.start([](Side& side) {
    side.read(GB);
    side.end();
  });
  side.start([actor](Side&) {
    sg4::this_actor::sleep_for(0.5);
    actor->suspend();
    sg4::this_actor::sleep_for(2);
    actor->resume();
  });
}

static void killed(Side& side)
{
  auto actor = side.start([](Side& side) { side.read(GB); });
  side.start([](Side& side) {
    side.read(GB);
    side.end();
  });
  side.start([actor](Side&) {
    sg4::this_actor::sleep_for(0.5);
    actor->kill();
  });
}

/** SimGrid's own activity with a weight of 3 beside another one; a page cache takes none. */
static void priorities(Side& side)
{
  side.start([](Side& side) {
    if (side.cache)
      return side.read(GB), side.end();
    auto io = side.disk->io_init(GB, sg4::Io::OpType::READ);
    io->set_priority(3);
    io->start();
    io->wait();
    side.end();
  });
  side.start([](Side& side) { side.read(GB); });
}

/** Who waits for half a second at most, and then does not want it any more. */
static void cancelled(Side& side)
{
  side.start([](Side& side) {
    if (side.cache) {
      auto operation = side.cache->read_async("/ssd/f", GB);
      sg4::this_actor::sleep_for(0.5);
      CHECK(not operation->test());
    } else {
      auto io = side.disk->read_async(GB);
      sg4::this_actor::sleep_for(0.5);
      io->cancel();
    }
  });
  side.start([](Side& side) {
    side.read(GB);
    side.end();
  });
}

/** An actor that moves to another host while it reads. */
static void moved(Side& side)
{
  auto actor = side.start([](Side& side) {
    side.read(GB);
    side.end();
  });
  side.start([actor](Side&) {
    sg4::this_actor::sleep_for(0.5);
    actor->set_host(sg4::Host::by_name("elsewhere"));
  });
}

int main(int argc, char** argv)
{
  struct Case {
    std::function<void(Side&)> program;
    /** When things are over where that differs: without a page cache, and with one. */
    std::vector<double> plain, cached;
  };
  const std::map<std::string, Case> cases = {{"blocking-calls", {blocking_calls, {}, {}}},
                                             {"asynchronous-calls", {asynchronous_calls, {}, {}}},
                                             {"bandwidth-changes", {bandwidth_changes, {}, {}}},
                                             {"no-bytes", {no_bytes, {}, {}}},
                                             {"moved-actors", {moved, {}, {}}},
                                             {"suspended-actors", {suspended, {4}, {2.5}}},
                                             {"killed-actors", {killed, {2.25}, {4}}},
                                             {"priorities", {priorities, {8 / 3.0}, {4}}},
                                             {"cancelled-activities", {cancelled, {2.25}, {4}}}};
  sg4::Engine engine(&argc, argv);
  if (argc != 2 || not cases.count(argv[1])) {
    std::fprintf(stderr, "usage: plain CASE\n");
    return 2;
  }
#if SIMGRID_VERSION >= 40000
  auto* zone = engine.get_netzone_root()->add_netzone_empty("site");
#else
  auto* zone = sg4::create_empty_zone("site");
#endif
  Side plain = make(zone, "plain"), cached = make(zone, "cached");
  make(zone, "elsewhere");
  zone->seal();
  auto settings     = MEMORY;
  settings["model"] = "no-cache";
  cached.cache      = &PageCache::attach(cached.host, settings);
  cached.cache->add_file("/ssd/f", GB);
  const auto& chosen = cases.at(argv[1]);
  chosen.program(plain);
  chosen.program(cached);
  engine.run();
  for (std::size_t i = 0; i < plain.ends.size(); i++)
    std::printf("%.17g %.17g\n", plain.ends[i], cached.ends[i]);
  CHECK(not plain.ends.empty() && plain.ends.size() == cached.ends.size());
  if (chosen.plain.empty())
    CHECK(plain.ends == cached.ends);
  for (std::size_t i = 0; i < chosen.plain.size(); i++)
    CHECK(near(plain.ends[i], chosen.plain[i]) && near(cached.ends[i], chosen.cached[i]));
  return 0;
}

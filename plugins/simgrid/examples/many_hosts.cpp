// Many hosts with a disk each, and on each a program that reads and writes a file in turn: what page caches cost where most of them have
// nothing to do most of the time.
//
//     many-hosts [HOSTS [MODEL [OPERATIONS]]]      10 kernel 100 by default
//
// Prints when each operation ended. The model "plain" is SimGrid's own disk without a page cache. Sizes and pauses differ from host to
// host, and so no two programs keep step.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <pagecast-simgrid.hpp>
#include <simgrid/version.h>

namespace sg4 = simgrid::s4u;
using pagecast::PageCache;

constexpr std::int64_t MIB = 1 << 20, MOST = 100 * MIB;
constexpr double PAUSE_S = 0.2; // on average

static void program(int number, sg4::Disk* disk, bool is_plain, int operations)
{
  std::mt19937_64 random(number);
  for (int done = 0; done < operations; done++) {
    // The generator gives the same numbers everywhere; the distributions of the standard library do not.
    std::int64_t bytes = (10 + static_cast<std::int64_t>(random() % 91)) * MIB;
    sg4::this_actor::sleep_for(2 * PAUSE_S * (random() % 1000) / 1000);
    bool reads       = done % 2 == 0;
    std::string file = "/data/f" + std::to_string(reads ? done : done - 1);
    if (is_plain && reads)
      disk->read(bytes);
    else if (is_plain)
      disk->write(bytes);
    else if (reads)
      PageCache::here().read(file, bytes);
    else
      PageCache::here().write(file, bytes);
    std::printf("%d,%d,%.9f\n", number, done, sg4::Engine::get_clock());
  }
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  int hosts         = argc > 1 ? std::atoi(argv[1]) : 10;
  std::string model = argc > 2 ? argv[2] : "kernel";
  int operations    = argc > 3 ? std::atoi(argv[3]) : 100;
#if SIMGRID_VERSION >= 40000
  auto* zone = engine.get_netzone_root()->add_netzone_empty("cluster");
#else
  auto* zone = sg4::create_empty_zone("cluster");
#endif
  std::vector<sg4::Host*> all;
  for (int number = 0; number < hosts; number++) {
    auto* host = zone->create_host("node" + std::to_string(number), "1Gf");
    host->create_disk("ssd", "465MBps", "465MBps")->set_property("mount", "/data");
    host->seal();
    all.push_back(host);
  }
  zone->seal();
  for (int number = 0; number < hosts; number++) {
    auto* host = all[number];
    if (model != "plain") {
      auto& cache = PageCache::attach(
          host, {{"model", model}, {"memory.size", "16 GB"}, {"memory.read", "4812 MB/s"}, {"memory.write", "4812 MB/s"}});
      for (int file = 0; file < operations; file += 2)
        cache.add_file("/data/f" + std::to_string(file), MOST);
    }
    sg4::Actor::create("program", host, program, number, host->get_disks().front(), model == "plain", operations);
  }
  auto before = std::chrono::steady_clock::now();
  engine.run();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  std::fprintf(stderr, "{\"wall_s\": %.6f, \"makespan_s\": %.9f}\n", took.count(), sg4::Engine::get_clock());
}

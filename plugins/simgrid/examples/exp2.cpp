// Exp 2 of the WRENCH-cache paper (Do et al., CLUSTER 2021) on SimGrid with a page cache: applications that each read a file of 3 GB,
// compute for 4.4 s and write the next one, three times.
//
//     exp2 [APPLICATIONS [MODEL [GB [COMPUTE_S [APART_S]]]]]      32 kernel 3 4.4 0 by default
//
// Prints when each read and write began and ended. The model "plain" is SimGrid's own disk without a page cache. One application with
// 20 GB and 28 s is Exp 1. Applications start all together, or each so many seconds after the one before.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <pagecast-simgrid.hpp>
#include <simgrid/version.h>

namespace sg4 = simgrid::s4u;

struct Options {
  int applications;
  std::string model;
  double bytes, compute_s, apart_s;
};

static void application(int number, sg4::Disk* disk, Options options)
{
  bool is_plain   = options.model == "plain";
  sg_size_t bytes = options.bytes;
  std::string folder = "/data/app" + std::to_string(number) + "/f";
  auto row           = [number](const char* operation, int task, double start) {
    std::printf("%d,%s %d,%.9f,%.9f\n", number, operation, task, start, sg4::Engine::get_clock());
  };
  sg4::this_actor::sleep_for((number - 1) * options.apart_s);
  for (int task = 1; task <= 3; task++) {
    double start = sg4::Engine::get_clock();
    if (is_plain)
      disk->read(bytes);
    else
      pagecast::PageCache::here().read(folder + std::to_string(task), bytes, {0, 0, true});
    row("read", task, start);
    sg4::this_actor::execute(options.compute_s * 1e9);
    start = sg4::Engine::get_clock();
    if (is_plain)
      disk->write(bytes);
    else
      pagecast::PageCache::here().write(folder + std::to_string(task + 1), bytes);
    row("write", task, start);
    if (not is_plain)
      pagecast::PageCache::here().free();
  }
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  auto number = [argc, argv](int at, double otherwise) { return argc > at ? std::atof(argv[at]) : otherwise; };
  Options options{static_cast<int>(number(1, 32)), argc > 2 ? argv[2] : "kernel", number(3, 3) * 1e9, number(4, 4.4),
                  number(5, 0)};
#if SIMGRID_VERSION >= 40000
  auto* zone = engine.get_netzone_root()->add_netzone_empty("cluster");
#else
  auto* zone = sg4::create_empty_zone("cluster");
#endif
  auto* host = zone->create_host("node", "1Gf")->set_core_count(32);
  auto* disk = host->create_disk("ssd", "465MBps", "465MBps")->set_property("mount", "/data");
  disk->set_property("size", "450 GB");
  host->seal();
  zone->seal();
  if (options.model != "plain") {
    auto& cache = pagecast::PageCache::attach(host, {{"model", options.model},
                                                     {"memory.size", "268 GB"},
                                                     {"memory.read", "4812 MB/s"},
                                                     {"memory.write", "4812 MB/s"},
                                                     {"vm.dirty_ratio", "40"}});
    for (int app = 1; app <= options.applications; app++)
      cache.add_file("/data/app" + std::to_string(app) + "/f1", options.bytes);
  }
  for (int app = 1; app <= options.applications; app++)
    sg4::Actor::create("app" + std::to_string(app), host, application, app, disk, options);
  auto before = std::chrono::steady_clock::now();
  engine.run();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  std::fprintf(stderr, "{\"wall_s\": %.6f, \"makespan_s\": %.9f}\n", took.count(), sg4::Engine::get_clock());
}

// Exp 2 of the WRENCH-cache paper (Do et al., CLUSTER 2021) on SimGrid with a page cache: applications that each read a file of 3 GB,
// compute for 4.4 s and write the next one, three times.
//
//     exp2 [APPLICATIONS [MODEL]]        32 applications under the model "kernel" by default
//
// Prints when each read and write began and ended. MODEL "plain" is SimGrid's own disk without a page cache.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <pagecast-simgrid.hpp>

namespace sg4 = simgrid::s4u;

constexpr sg_size_t BYTES = 3'000'000'000;

static void application(int number, sg4::Disk* disk, bool is_plain)
{
  std::string folder = "/data/app" + std::to_string(number) + "/f";
  auto row           = [number](const char* operation, int task, double start) {
    std::printf("%d,%s %d,%.9f,%.9f\n", number, operation, task, start, sg4::Engine::get_clock());
  };
  for (int task = 1; task <= 3; task++) {
    double start = sg4::Engine::get_clock();
    if (is_plain)
      disk->read(BYTES);
    else
      pagecast::PageCache::here().read(folder + std::to_string(task), BYTES, {0, 0, true});
    row("read", task, start);
    sg4::this_actor::execute(4.4e9);
    start = sg4::Engine::get_clock();
    if (is_plain)
      disk->write(BYTES);
    else
      pagecast::PageCache::here().write(folder + std::to_string(task + 1), BYTES);
    row("write", task, start);
    if (not is_plain)
      pagecast::PageCache::here().free();
  }
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  int applications  = argc > 1 ? std::atoi(argv[1]) : 32;
  std::string model = argc > 2 ? argv[2] : "kernel";
  auto* zone        = sg4::create_empty_zone("cluster");
  auto* host        = zone->create_host("node", "1Gf")->set_core_count(32);
  auto* disk        = host->create_disk("ssd", "465MBps", "465MBps")->set_property("mount", "/data");
  disk->set_property("size", "450 GB");
  host->seal();
  zone->seal();
  if (model != "plain") {
    auto& cache = pagecast::PageCache::attach(host, {{"model", model},
                                                     {"memory.size", "268 GB"},
                                                     {"memory.read", "4812 MB/s"},
                                                     {"memory.write", "4812 MB/s"},
                                                     {"vm.dirty_ratio", "40"}});
    for (int app = 1; app <= applications; app++)
      cache.add_file("/data/app" + std::to_string(app) + "/f1", BYTES);
  }
  for (int app = 1; app <= applications; app++)
    sg4::Actor::create("app" + std::to_string(app), host, application, app, disk, model == "plain");
  auto before = std::chrono::steady_clock::now();
  engine.run();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  std::fprintf(stderr, "{\"wall_s\": %.6f, \"makespan_s\": %.9f}\n", took.count(), sg4::Engine::get_clock());
}

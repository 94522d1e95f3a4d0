// The no-cache equivalent of Exp 2 of the WRENCH-cache paper, in SimGrid: what pagecast's speed is compared with.
//
// n applications, 32 to a host; each runs 3 tasks: read a 3 GB file from the host's disk (465 MB/s each way), compute
// 4.4 s on one of 32 cores, write 3 GB. Applications start at random instants, or together.
// Prints one line of JSON: the simulated times, and the wall-clock time of the simulation call alone (not of making the
// platform). Leaves out: the page cache and memory, which SimGrid does not have.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

constexpr sg_size_t FILE_BYTES = 3'000'000'000;
constexpr int TASKS = 3;
constexpr int APPS_PER_HOST = 32;
constexpr double FLOPS = 4.4e9; // 4.4 s on a core of 1 Gflop/s

struct Options {
  int apps = 32;
  sg_size_t chunk_bytes = FILE_BYTES; // the whole file in one operation
  double spread_s = 0;                // starts are uniform in [0, spread_s)
  unsigned seed = 0;
  bool print_ends = false;
};

static void usage(const char* program)
{
  std::fprintf(stderr,
               "usage: %s [--apps N] [--chunk-mb MB] [--spread-s S] [--seed N] [--ends]\n"
               "  --apps N       applications, 32 to a host (default 32)\n"
               "  --chunk-mb MB  size of one read or write operation (default: the whole file of 3000 MB)\n"
               "  --spread-s S   start each application at a random instant in [0, S) (default 0: together)\n"
               "  --seed N       seed of those instants (default 0)\n"
               "  --ends         print when each application ends, too\n",
               program);
}

static Options parse(int argc, char** argv)
{
  Options options;
  auto fail = [&](const std::string& why) {
    std::fprintf(stderr, "%s: %s\n", argv[0], why.c_str());
    usage(argv[0]);
    std::exit(2);
  };
  for (int i = 1; i < argc; i++) {
    std::string name = argv[i];
    if (name == "--ends") {
      options.print_ends = true;
      continue;
    }
    if (i + 1 == argc)
      fail(name + " is unknown or lacks its value");
    char* end;
    double value = std::strtod(argv[++i], &end);
    if (*end != '\0' || value < 0)
      fail(name + " needs a number, not " + argv[i]);
    if (name == "--apps")
      options.apps = static_cast<int>(value);
    else if (name == "--chunk-mb")
      options.chunk_bytes = static_cast<sg_size_t>(value * 1e6);
    else if (name == "--spread-s")
      options.spread_s = value;
    else if (name == "--seed")
      options.seed = static_cast<unsigned>(value);
    else
      fail(name + " is unknown");
  }
  if (options.apps < 1 || options.chunk_bytes < 1)
    fail("--apps and --chunk-mb must be more than 0");
  return options;
}

/** Runs the 3 tasks of one application; notes when it ends. */
static void application(sg4::Disk* disk, double start_s, sg_size_t chunk_bytes, double* end_s)
{
  sg4::this_actor::sleep_until(start_s);
  for (int task = 0; task < TASKS; task++) {
    for (sg_size_t done = 0; done < FILE_BYTES; done += chunk_bytes)
      disk->read(std::min(chunk_bytes, FILE_BYTES - done));
    sg4::this_actor::execute(FLOPS);
    for (sg_size_t done = 0; done < FILE_BYTES; done += chunk_bytes)
      disk->write(std::min(chunk_bytes, FILE_BYTES - done));
  }
  *end_s = sg4::Engine::get_clock();
}

int main(int argc, char** argv)
{
  std::vector<char*> for_simgrid = {argv[0], const_cast<char*>("--log=root.thres:warning")};
  int count                      = static_cast<int>(for_simgrid.size());
  sg4::Engine engine(&count, for_simgrid.data());
  Options options = parse(argc, argv);

  std::mt19937_64 random(options.seed);
  std::uniform_real_distribution<double> start(0, 1);
  std::vector<double> ends(options.apps);
  sg4::NetZone* zone = sg4::create_empty_zone("bench");
  sg4::Disk* disk    = nullptr;
  sg4::Host* host    = nullptr;
  for (int app = 0; app < options.apps; app++) {
    if (app % APPS_PER_HOST == 0) {
      std::string name = "node" + std::to_string(app / APPS_PER_HOST);
      host             = zone->create_host(name, "1Gf")->set_core_count(APPS_PER_HOST);
      disk             = host->create_disk(name + "_ssd", "465MBps", "465MBps");
      host->seal();
    }
    sg4::Actor::create("app" + std::to_string(app), host, application, disk, start(random) * options.spread_s,
                       options.chunk_bytes, &ends[app]);
  }
  zone->seal();

  auto before = std::chrono::steady_clock::now();
  engine.run();
  std::chrono::duration<double> wall = std::chrono::steady_clock::now() - before;

  std::printf("{\"apps\": %d, \"chunk_bytes\": %llu, \"wall_s\": %.6f, \"makespan_s\": %.9f", options.apps,
              static_cast<unsigned long long>(options.chunk_bytes), wall.count(),
              *std::max_element(ends.begin(), ends.end()));
  if (options.print_ends) {
    for (size_t app = 0; app < ends.size(); app++)
      std::printf("%s%.9f", app == 0 ? ", \"ends_s\": [" : ", ", ends[app]);
    std::printf("]");
  }
  std::printf("}\n");
  return 0;
}

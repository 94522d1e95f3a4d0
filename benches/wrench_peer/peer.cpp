// Exp 1 and Exp 2 of the WRENCH-cache paper in WRENCH 2.1 with its page cache: a peer of the model `wrench`.
//
//     peer [APPLICATIONS [GB [COMPUTE_S [release]]]]      32 3 4.4 by default
//
// Applications that each read a file, compute, and write the next one, three times; all start together. One application with 75 GB and 110 s
// is Exp 1. Prints when each read and write began and ended, in the form of the SimGrid plug-in's exp2, and to stderr a line of JSON: the
// wall-clock time of the simulation call and the simulated end. The chunk is 100 MB, as in the paper; dirty ratio, period and expiry are
// those of WRENCH's source (0.4, 5 s, 30 s). WRENCH takes anonymous memory for what is read and never gives it back; with `release`, each
// task does when it ends, as in the published simulator. Leaves out: WRENCH's workflows and compute services, which have no part in the times.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <wrench-dev.h>
#include <wrench/services/memory/MemoryManager.h>

namespace sg4 = simgrid::s4u;

static const std::string HOST = "node";
static char PAGE_CACHE[]      = "--wrench-pagecache-simulation";
static char QUIET[]           = "--log=root.thres:warning";

class Application : public wrench::ExecutionController {
public:
  Application(int number, double bytes, double compute_s, bool releases, std::shared_ptr<wrench::StorageService> storage)
      : ExecutionController(HOST, "app" + std::to_string(number)), number_(number), compute_s_(compute_s),
        releases_(releases), storage_(storage)
  {
    for (int task = 1; task <= 4; task++)
      files_.push_back(wrench::Simulation::addFile("app" + std::to_string(number) + "_f" + std::to_string(task), bytes));
  }
  const std::shared_ptr<wrench::DataFile>& input() const { return files_.front(); }

private:
  int main() override
  {
    for (int task = 1; task <= 3; task++) {
      double start = sg4::Engine::get_clock();
      storage_->readFile(files_[task - 1]);
      print("read", task, start);
      sg4::this_actor::execute(compute_s_ * 1e9);
      start = sg4::Engine::get_clock();
      storage_->writeFile(files_[task]);
      print("write", task, start);
      if (releases_)
        simulation->getMemoryManagerByHost(HOST)->releaseMemory(files_[task - 1]->getSize());
    }
    return 0;
  }

  void print(const char* operation, int task, double start) const
  {
    std::printf("%d,%s %d,%.9f,%.9f\n", number_, operation, task, start, sg4::Engine::get_clock());
  }

  int number_;
  double compute_s_;
  bool releases_;
  std::shared_ptr<wrench::StorageService> storage_;
  std::vector<std::shared_ptr<wrench::DataFile>> files_;
};

/** The published node: memory is a disk of its own, and what a host sends to itself takes no time. */
static void make_platform()
{
  auto* zone = sg4::create_full_zone("cluster");
  auto* host = zone->create_host(HOST, "1Gf")->set_core_count(32);
  host->set_property("ram", "268GB");
  auto add_disk = [host](const char* name, const char* rate, const char* size, const char* mount) {
    host->create_disk(name, rate, rate)->set_property("size", size)->set_property("mount", mount);
  };
  add_disk("memory", "4812MBps", "268GB", "/memory");
  add_disk("ssd", "465MBps", "450GB", "/");
  auto* loopback = zone->create_link("loopback", "1000EBps")->set_latency("0us")->seal();
  zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr, {{loopback, sg4::LinkInRoute::Direction::NONE}});
  host->seal();
  zone->seal();
}

int main(int argc, char** argv)
{
  auto number      = [argc, argv](int at, double otherwise) { return argc > at ? std::atof(argv[at]) : otherwise; };
  int apps         = static_cast<int>(number(1, 32));
  double bytes     = number(2, 3) * 1e9;
  double compute_s = number(3, 4.4);
  bool releases    = argc > 4 && std::string(argv[4]) == "release";

  auto simulation    = wrench::Simulation::createSimulation();
  char* for_wrench[] = {argv[0], PAGE_CACHE, QUIET, nullptr};
  int count          = 3;
  simulation->init(&count, for_wrench);
  simulation->instantiatePlatform(make_platform);
  auto storage = simulation->add(new wrench::SimpleStorageService(
      HOST, {"/"}, {{wrench::SimpleStorageServiceProperty::BUFFER_SIZE, "100MB"}}, {}));
  simulation->add(new wrench::FileRegistryService(HOST));
  for (int app = 1; app <= apps; app++) {
    auto application = simulation->add(new Application(app, bytes, compute_s, releases, storage));
    simulation->stageFile(application->input(), storage);
  }
  auto before = std::chrono::steady_clock::now();
  simulation->launch();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  std::fprintf(stderr, "{\"wall_s\": %.6f, \"makespan_s\": %.9f}\n", took.count(), sg4::Engine::get_clock());
}

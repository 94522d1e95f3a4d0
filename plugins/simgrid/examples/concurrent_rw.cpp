// What SimGrid's own test concurrent_rw does, before and after its disk calls are exchanged: five actors each write 4 MB twice and read
// them twice on one disk, and sleep in between.
//
//     concurrent-rw PLATFORM before|after        disks.xml is such a platform
//
// Prints when each actor has done each step.
#include <cstdio>
#include <cstring>
#include <string>

#include <pagecast-simgrid.hpp>

namespace sg4 = simgrid::s4u;

constexpr sg_size_t BYTES = 4'000'000;

/** Before: a disk has no files. */
static void before(int id)
{
  auto* disk = sg4::this_actor::get_host()->get_disks().front();
  auto tell  = [id](const char* what) { std::printf("%d %s %.6f\n", id, what, sg4::Engine::get_clock()); };
  disk->write(BYTES);
  tell("written");
  sg4::this_actor::sleep_for(id);
  disk->write(BYTES);
  tell("written again");
  sg4::this_actor::sleep_for(6 - id);
  disk->read(BYTES);
  tell("read");
  sg4::this_actor::sleep_for(id);
  disk->read(BYTES);
  tell("read again");
}

/** After: what is read and written is a file, through the page cache of the actor's host. */
static void after(int id)
{
  auto& cache      = pagecast::PageCache::here();
  std::string file = "/scratch/" + std::to_string(id);
  auto tell        = [id](const char* what) { std::printf("%d %s %.6f\n", id, what, sg4::Engine::get_clock()); };
  cache.write(file, BYTES);
  tell("written");
  sg4::this_actor::sleep_for(id);
  cache.write(file, BYTES);
  tell("written again");
  sg4::this_actor::sleep_for(6 - id);
  cache.read(file, BYTES);
  tell("read");
  sg4::this_actor::sleep_for(id);
  cache.read(file, BYTES);
  tell("read again");
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  pagecast::init();
  if (argc != 3) {
    std::fprintf(stderr, "usage: concurrent-rw PLATFORM before|after\n");
    return 2;
  }
  engine.load_platform(argv[1]);
  bool has_cache = std::strcmp(argv[2], "after") == 0;
  for (int id = 1; id <= 5; id++)
    sg4::Actor::create("actor", engine.host_by_name("bob"), has_cache ? after : before, id);
  engine.run();
}

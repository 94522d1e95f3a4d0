/** Where SimGrid's options, failures and names once broke a page cache. `limits CASE PLATFORM` fails by itself; one case a process. */
#include <map>
#include <vector>

#include <simgrid/config.h>

#include "check.hpp"

/** An actor that reads over the network, and one elsewhere that does something two seconds later. What the simulation ends with. */
static std::string ended_by(const std::function<void()>& what)
{
  auto& cache = PageCache::attach(sg4::Host::by_name("client"), MEMORY, {disk_of("server")});
  cache.add_file("/hdd/f", GB);
  sg4::Actor::create("reader", sg4::Host::by_name("client"), [&cache] {
    cache.read("/hdd/f");
    sg4::this_actor::sleep_for(100);
    cache.read("/hdd/f");
  });
  sg4::Actor::create("other", sg4::Host::by_name("archive"), [what] {
    sg4::this_actor::sleep_for(2);
    what();
    sg4::this_actor::sleep_for(2);
  });
  return said([] { sg4::Engine::get_instance()->run(); });
}

/** A user turned the host off and on again, and its page cache was as before: the files were still in its memory. */
static void host_goes_off()
{
  CHECK(has(ended_by([] { sg4::Host::by_name("client")->turn_off(); }), "host client went off, and has a page cache"));
  CHECK(near(now(), 2));
}

/** An actor that turns its own host off is killed by that, and hears nothing of it. */
static void own_host_goes_off()
{
  auto* client = sg4::Host::by_name("client");
  PageCache::attach(client, MEMORY);
  sg4::Actor::create("last", client, [client] { client->turn_off(); });
  CHECK(has(said([] { sg4::Engine::get_instance()->run(); }), "host client went off"));
}

/** The read was over as soon as the server was off, with the bytes that had not come. */
static void server_goes_off()
{
  CHECK(has(ended_by([] { sg4::Host::by_name("server")->turn_off(); }), "its disk hdd is below the page cache of client"));
}

/** The same with a link; a link that is off already ended the program without a word of links. */
static void link_goes_off()
{
  CHECK(has(ended_by([] { sg4::Link::by_name("lan")->turn_off(); }), "a link went off under a transfer of the page cache of client"));
}

static void link_is_off()
{
  sg4::Link::by_name("lan")->turn_off();
  auto& cache = PageCache::attach(sg4::Host::by_name("client"), MEMORY, {disk_of("server")});
  cache.add_file("/hdd/f", GB);
  sg4::Actor::create("reader", sg4::Host::by_name("client"), [&cache] {
    CHECK(has(said([&cache] { cache.read("/hdd/f"); }), "link lan is off, and the page cache of client needs it for disk hdd of server"));
  });
  CHECK(has(said([] { sg4::Engine::get_instance()->run(); }), "link lan is off"));
}

/** Hosts and links that no page cache uses go off and on as they like. */
static void others_go_off()
{
  CHECK(ended_by([] {
          sg4::Link::by_name("fast")->turn_off();
          sg4::Link::by_name("fast")->turn_on();
          sg4::Host::by_name("archive")->turn_off();
        }).empty());
  CHECK(near(now(), 20 + 100 + 0.125));
}

/** Disks of different hosts have the same name in most platforms, and no page cache could have both. */
static void disks_of_one_name()
{
  auto* client = sg4::Host::by_name("client");
  auto* server = sg4::Host::by_name("server");
  auto* ssd    = server->create_disk("ssd", "300MBps", "300MBps");
  auto* other  = sg4::Host::by_name("archive")->create_disk("ssd", "300MBps", "300MBps");
  ssd->seal();
  other->set_property("mount", "/scratch")->seal();
  CHECK(has(said([&] { PageCache::attach(client, MEMORY, {ssd, other}); }),
            "disk ssd of client and disk ssd of archive are both at /scratch"));
  CHECK(has(said([&] { PageCache::attach(client, MEMORY, {ssd, ssd}); }), "disk ssd of server is given twice"));
  auto& cache = PageCache::attach(client, MEMORY, {ssd, disk_of("server")});
  cache.add_file("/server/ssd/f", GB);
  cache.add_file("/scratch/f", GB);
  cache.add_file("/hdd/f", GB);
  sg4::Actor::create("reader", client, [&cache] {
    CHECK(cache.read("/scratch/f").from_device == GB && near(now(), 2)); // its own disk gives 500 MB/s
    CHECK(cache.read("/server/ssd/f").from_device == GB && near(now(), 2 + 20)); // the link gives 50 MB/s
  });
  sg4::Engine::get_instance()->run();
}

/** A file that came during the simulation had to be written first, with the time that this takes. */
static void files_come_late()
{
  auto& cache = PageCache::attach(sg4::Host::by_name("client"), MEMORY);
  sg4::Actor::create("program", sg4::Host::by_name("client"), [&cache] {
    sg4::this_actor::sleep_for(100);
    cache.add_file("/scratch/late", 2 * GB, GB, GB / 2);
    CHECK(now() == 100 && cache.file("/scratch/late").cached == GB && cache.levels().dirty == GB / 2);
    CHECK(is_refused(PAGECAST_FILE_EXISTS, [&cache] { cache.add_file("/scratch/late", 1); }));
    CHECK(is_refused(PAGECAST_OUT_OF_MEMORY, [&cache] { cache.add_file("/scratch/huge", 20 * GB, 16 * GB); }));
    CHECK(is_refused(PAGECAST_DISK_FULL, [&cache] { cache.add_file("/scratch/huge", 449 * GB); }));
    CHECK(cache.read("/scratch/late", GB).from_cache == GB && near(now(), 100.125));
    cache.fsync("/scratch/late");
    CHECK(near(now(), 100.125 + 1.25) && cache.levels().dirty == 0);
    cache.add_file("/scratch/later", GB, GB, GB);
    sg4::this_actor::sleep_for(60); // the flusher writes it
    CHECK(cache.levels().dirty == 0);
  });
  sg4::Engine::get_instance()->run();
}

/** Packets of ns-3 go at no rate that SimGrid knows: the program waited for ever. */
static void packets_have_no_rate()
{
  CHECK(has(said([] { PageCache::attach(sg4::Host::by_name("client"), MEMORY, {disk_of("server")}); }), "network/model:ns-3"));
  auto& cache = PageCache::attach(sg4::Host::by_name("client"), MEMORY);
  sg4::Actor::create("writer", sg4::Host::by_name("client"), [&cache] {
    cache.write("/scratch/f", GB);
    cache.fsync("/scratch/f");
    CHECK(near(now(), 2.75));
  });
  sg4::Actor::create("sender", sg4::Host::by_name("archive"), [] {
    sg4::Comm::sendto(sg4::Host::by_name("archive"), sg4::Host::by_name("client"), 1'000'000);
  });
  sg4::Engine::get_instance()->run();
}

int main(int argc, char** argv)
{
  const std::map<std::string, std::function<void()>> cases = {
      {"host-goes-off", host_goes_off},     {"own-host-goes-off", own_host_goes_off}, {"server-goes-off", server_goes_off},
      {"link-goes-off", link_goes_off},     {"link-is-off", link_is_off},             {"others-go-off", others_go_off},
      {"disks-of-one-name", disks_of_one_name}, {"files-come-late", files_come_late}, {"packets-have-no-rate", packets_have_no_rate}};
  sg4::Engine engine(&argc, argv);
  if (argc != 3 || not cases.count(argv[1])) {
    std::fprintf(stderr, "usage: limits CASE PLATFORM\n");
    return 2;
  }
  bool has_packets = argv[1] == std::string("packets-have-no-rate");
  if (has_packets && not SIMGRID_HAVE_NS3)
    return 77; // skipped
  sg4::Engine::set_config("network/TCP-gamma:0");
  sg4::Engine::set_config("network/crosstraffic:0");
  sg4::Engine::set_config(has_packets ? "network/model:ns-3" : "network/model:CM02");
  engine.load_platform(argv[2]);
  cases.at(argv[1])();
  return 0;
}

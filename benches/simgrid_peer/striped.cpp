// Clients that write files to striped servers, in SimGrid: what the speed of striped mounts is compared with.
//
// Each client writes a file call by call. A call is dealt to servers in strips, round robin; what one server gets of it crosses the links of the
// client and of the server, is written to the server's disk, and a reply of 200 bytes goes back. The call ends with the last reply.
// Prints one line of JSON: the simulated end, and the wall-clock time of the simulation call alone (not of making the platform). Leaves out: page
// caches, threads of servers, requests before the bytes.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

constexpr sg_size_t CALL_BYTES  = 1 << 20;
constexpr sg_size_t REPLY_BYTES = 200;

struct Options {
  int clients             = 8;
  int servers             = 64;
  sg_size_t size_bytes    = 1 << 30;
  sg_size_t strip_bytes   = 1 << 20;
};

static Options parse(int argc, char** argv)
{
  Options options;
  auto fail = [&](const std::string& why) {
    std::fprintf(stderr, "%s: %s\nusage: %s [--clients N] [--servers N] [--size-mib MIB] [--strip-kib KIB]\n", argv[0],
                 why.c_str(), argv[0]);
    std::exit(2);
  };
  for (int i = 1; i < argc; i += 2) {
    std::string name = argv[i];
    if (i + 1 == argc)
      fail(name + " is unknown or lacks its value");
    long value = std::strtol(argv[i + 1], nullptr, 10);
    if (value < 1)
      fail(name + " needs a positive number, not " + argv[i + 1]);
    if (name == "--clients")
      options.clients = static_cast<int>(value);
    else if (name == "--servers")
      options.servers = static_cast<int>(value);
    else if (name == "--size-mib")
      options.size_bytes = static_cast<sg_size_t>(value) << 20;
    else if (name == "--strip-kib")
      options.strip_bytes = static_cast<sg_size_t>(value) << 10;
    else
      fail(name + " is unknown");
  }
  return options;
}

struct Cluster {
  std::vector<sg4::Host*> servers;
  std::vector<sg4::Disk*> disks;
};

/** What one call wants of each server that has bytes of it, from its first strip on. */
static std::vector<std::pair<size_t, sg_size_t>> payloads(const Options& options, sg_size_t offset, sg_size_t bytes)
{
  std::vector<std::pair<size_t, sg_size_t>> dealt;
  for (sg_size_t at = offset; at < offset + bytes;) {
    sg_size_t strip = at / options.strip_bytes;
    sg_size_t part  = std::min((strip + 1) * options.strip_bytes, offset + bytes) - at;
    size_t server   = strip % options.servers;
    auto known = std::find_if(dealt.begin(), dealt.end(), [&](const auto& each) { return each.first == server; });
    if (known == dealt.end())
      dealt.emplace_back(server, part);
    else
      known->second += part;
    at += part;
  }
  return dealt;
}

/** Writes a file of one client, whose first strip is on server `first`. */
static void client(const Options* options, const Cluster* cluster, size_t first, double* end_s)
{
  sg4::Host* here = sg4::this_actor::get_host();
  for (sg_size_t offset = 0; offset < options->size_bytes; offset += CALL_BYTES) {
    auto dealt = payloads(*options, offset, std::min(CALL_BYTES, options->size_bytes - offset));
    for (auto& each : dealt)
      each.first = (each.first + first) % cluster->servers.size();
    std::vector<sg4::CommPtr> sent, replies;
    std::vector<sg4::IoPtr> written;
    for (const auto& [server, bytes] : dealt)
      sent.push_back(sg4::Comm::sendto_async(here, cluster->servers[server], static_cast<uint64_t>(bytes)));
    for (size_t at = 0; at < dealt.size(); at++) {
      sent[at]->wait();
      written.push_back(cluster->disks[dealt[at].first]->write_async(dealt[at].second));
    }
    for (size_t at = 0; at < dealt.size(); at++) {
      written[at]->wait();
      replies.push_back(sg4::Comm::sendto_async(cluster->servers[dealt[at].first], here, REPLY_BYTES));
    }
    for (const auto& reply : replies)
      reply->wait();
  }
  *end_s = sg4::Engine::get_clock();
}

int main(int argc, char** argv)
{
  std::vector<char*> for_simgrid = {argv[0], const_cast<char*>("--log=root.thres:warning"),
                                    const_cast<char*>("--cfg=network/model:CM02"),
                                    const_cast<char*>("--cfg=network/crosstraffic:0"),
                                    const_cast<char*>("--cfg=network/TCP-gamma:0")};
  int count                      = static_cast<int>(for_simgrid.size());
  sg4::Engine engine(&count, for_simgrid.data());
  Options options = parse(argc, argv);

  auto* zone = sg4::create_star_zone("bench");
  Cluster cluster;
  auto host = [&](const std::string& name) {
    sg4::Host* made   = zone->create_host(name, "1Gf");
    sg4::Link* link   = zone->create_split_duplex_link(name + "_link", "1.25GBps")->set_latency("20us")->seal();
    zone->add_route(made->get_netpoint(), nullptr, nullptr, nullptr, {{link, sg4::LinkInRoute::Direction::UP}}, true);
    return made;
  };
  for (int at = 0; at < options.servers; at++) {
    sg4::Host* made = host("io" + std::to_string(at));
    cluster.servers.push_back(made);
    cluster.disks.push_back(made->create_disk("ssd" + std::to_string(at), "2GBps", "2GBps"));
    made->seal();
  }
  std::vector<double> ends(options.clients);
  for (int at = 0; at < options.clients; at++) {
    sg4::Host* made = host("c" + std::to_string(at));
    made->seal();
    sg4::Actor::create("app" + std::to_string(at), made, client, &options, &cluster, at % options.servers, &ends[at]);
  }
  zone->seal();

  auto before = std::chrono::steady_clock::now();
  engine.run();
  std::chrono::duration<double> wall = std::chrono::steady_clock::now() - before;

  std::printf("{\"clients\": %d, \"servers\": %d, \"wall_s\": %.6f, \"makespan_s\": %.9f}\n", options.clients,
              options.servers, wall.count(), *std::max_element(ends.begin(), ends.end()));
  return 0;
}

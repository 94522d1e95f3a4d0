/** What the page cache of a host has to know of it, as the text of a machine file. */
#ifndef PAGECAST_MACHINE_HPP
#define PAGECAST_MACHINE_HPP

#include <string>
#include <vector>

#include <pagecast-simgrid.hpp>

namespace pagecast {

struct Description {
  std::string machine, model;
  /** Where each line of the machine file is from: "setting memory.size". */
  std::vector<std::string> origins;
  std::map<std::string, std::string> options;
  /** The disks by their names in the machine file. */
  std::map<std::string, simgrid::s4u::Disk*> disks;
};

/** Puts together what SimGrid and the settings say. Errors name a setting as what it is and its key: "setting ", "property pagecast.". */
Description describe(const simgrid::s4u::Host& host, const PageCache::Settings& settings,
                     const std::vector<simgrid::s4u::Disk*>& remote, const std::string& what);

/** What libpagecast says of a line of the machine file, as said of where that line is from. */
std::string explained(const Description& description, const std::string& message);

/** The settings among the properties of a host. */
PageCache::Settings settings_of(const simgrid::s4u::Host& host);

} // namespace pagecast

#endif

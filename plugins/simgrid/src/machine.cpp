#include "machine.hpp"

#include <cctype>
#include <cstdio>
#include <cstdlib>

#include <pagecast.h>

namespace sg4 = simgrid::s4u;

namespace pagecast {

static const std::string PREFIX = "pagecast.";
static const std::string OPTION = "option.";

static bool begins_with(const std::string& text, const std::string& start)
{
  return text.compare(0, start.size(), start) == 0;
}

static bool ends_with(const std::string& text, const std::string& end)
{
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/** A string of TOML. */
static std::string quoted(const std::string& text)
{
  std::string all = "\"";
  for (char c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c))) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned char>(c));
      all += escape;
      continue;
    }
    if (c == '"' || c == '\\')
      all += '\\';
    all += c;
  }
  return all + "\"";
}

/** A size as SimGrid's platforms have it, "500GiB", as a machine file has it. */
static std::string spaced(const std::string& size)
{
  std::size_t unit = size.find_first_not_of("0123456789.");
  bool has_space   = unit == std::string::npos || unit == 0 || size[unit] == ' ';
  return has_space ? size : size.substr(0, unit) + " " + size.substr(unit);
}

/** A rate as SimGrid's platforms have it, "8000MBps", as a machine file has it. Other texts are as they are; so are bits, "8Gbps". */
static std::string per_second(const std::string& text)
{
  bool is_rate = text[0] >= '0' && text[0] <= '9' && ends_with(text, "Bps");
  return is_rate ? spaced(text.substr(0, text.size() - 2)) + "/s" : text;
}

/** A value of a machine file: a number, true or false as it is, anything else a string. */
static std::string value(const std::string& text)
{
  bool is_number = not text.empty();
  for (char c : text)
    is_number = is_number && (std::isdigit(static_cast<unsigned char>(c)) || c == '.');
  return is_number || text == "true" || text == "false" ? text : quoted(per_second(text));
}

static std::string rate(double bytes_per_s)
{
  char text[64];
  std::snprintf(text, sizeof text, "%.17g B/s", bytes_per_s);
  return quoted(text);
}

static std::string property(const sg4::Disk& disk, const char* name, const std::string& otherwise)
{
  const char* text = disk.get_property(name);
  return text ? text : otherwise;
}

static void add_line(Description& all, const std::string& key, const std::string& value, const std::string& origin)
{
  all.machine += key + " = " + value + "\n";
  all.origins.push_back(origin);
}

static std::string full_name(const sg4::Disk& disk)
{
  return "disk " + disk.get_name() + " of " + disk.get_host()->get_name();
}

/** A disk and its directory; settings beside those of SimGrid are its properties that begin with "pagecast.". */
static void add_disk(Description& all, sg4::Disk* disk, const std::string& name)
{
  const std::string mount = property(*disk, "mount", "/" + name);
  for (const auto& [other_name, other] : all.disks) {
    if (other == disk)
      throw Error(0, full_name(*disk) + " is given twice");
    if (property(*other, "mount", "/" + other_name) == mount)
      throw Error(PAGECAST_BAD_MACHINE, full_name(*other) + " and " + full_name(*disk) + " are both at " + mount +
                                            "; give one of them another property mount");
  }
  all.disks[name] = disk;
  const std::string table = "disk." + quoted(name) + ".";
  const std::string of    = " of disk " + name;
  add_line(all, table + "size", quoted(spaced(property(*disk, "size", "9000 TB"))), "property size" + of);
  add_line(all, table + "read", rate(disk->get_read_bandwidth()), "read_bw" + of);
  add_line(all, table + "write", rate(disk->get_write_bandwidth()), "write_bw" + of);
  for (const auto& [key, text] : *disk->get_properties())
    if (begins_with(key, PREFIX))
      add_line(all, table + key.substr(PREFIX.size()), value(text), "property " + key + of);
  add_line(all, "mount." + quoted(mount) + ".disk", quoted(name), "property mount" + of);
}

/** Refuses what would not be one line of a machine file, or what libpagecast would not say in words of settings. */
static void check(const PageCache::Settings& settings, const std::string& key, const std::string& name)
{
  for (char c : key)
    if (std::iscntrl(static_cast<unsigned char>(c)))
      throw Error(PAGECAST_BAD_MACHINE, name + ": a key is one line of text");
  auto inside = settings.lower_bound(key + ".");
  if (inside != settings.end() && begins_with(inside->first, key + "."))
    throw Error(PAGECAST_BAD_MACHINE, name + " is a group of settings, such as " + inside->first + "; give only these");
  if (key == "from" && not ends_with(settings.at(key), ".toml"))
    throw Error(PAGECAST_BAD_MACHINE, name + ": `" + settings.at(key) +
                                          "` is not the path of a machine file, which ends in .toml; "
                                          "`pagecast machine show NAME > NAME.toml` writes one that is shipped");
}

Description describe(const sg4::Host& host, const PageCache::Settings& settings, const std::vector<sg4::Disk*>& remote,
                     const std::string& what)
{
  Description all{"", "kernel", {}, {}, {}};
  for (const char* key : {"memory.size", "memory.read", "memory.write"})
    if (not settings.count("from") && not settings.count(key) && not settings.count("memory"))
      throw Error(PAGECAST_BAD_MACHINE, "the page cache of " + host.get_name() + ": there is no " + what + key +
                                            ", nor a machine file by " + what + "from");
  // Disks are first: what a setting says once more is wrong in the line of the setting.
  std::map<std::string, int> of_name;
  for (auto* disk : host.get_disks()) {
    of_name[disk->get_name()]++;
    add_disk(all, disk, disk->get_name());
  }
  for (auto* disk : remote) {
    if (disk == nullptr)
      throw Error(PAGECAST_NULL_POINTER, "the page cache of " + host.get_name() + ": a remote disk is a null pointer");
    of_name[disk->get_name()]++;
  }
  for (auto* disk : remote) {
    const std::string& name = disk->get_name();
    add_disk(all, disk, of_name[name] > 1 ? disk->get_host()->get_name() + "/" + name : name);
  }
  if (not settings.count("cores"))
    add_line(all, "cores", std::to_string(host.get_core_count()), "core of host " + host.get_name());
  for (const auto& [key, text] : settings) {
    check(settings, key, "the page cache of " + host.get_name() + ": " + what + key);
    if (key == "model")
      all.model = text;
    else if (begins_with(key, OPTION))
      all.options[key.substr(OPTION.size())] = text;
    else
      add_line(all, key, value(text), what + key);
  }
  return all;
}

std::string explained(const Description& description, const std::string& message)
{
  static const std::string place = "<machine>:", advice = "; correct the TOML";
  if (not begins_with(message, place))
    return message;
  std::size_t start = message.find(' ');
  std::string text  = message.substr(start + 1);
  if (ends_with(text, advice))
    text.resize(text.size() - advice.size());
  if (text == "duplicate key")
    text = "SimGrid's platform says this already; leave it out";
  std::size_t line = std::strtoul(message.c_str() + place.size(), nullptr, 10);
  // What the whole file is without is of no line.
  bool is_of_line = line > 0 && line <= description.origins.size() && not begins_with(text, "[machine] ");
  return is_of_line ? description.origins[line - 1] + ": " + text : text;
}

PageCache::Settings settings_of(const sg4::Host& host)
{
  PageCache::Settings settings;
  for (const auto& [key, text] : *host.get_properties())
    if (begins_with(key, PREFIX))
      settings[key.substr(PREFIX.size())] = text;
  return settings;
}

} // namespace pagecast

#include "machine.hpp"

#include <cctype>
#include <cstdio>

namespace sg4 = simgrid::s4u;

namespace pagecast {

static const std::string PREFIX = "pagecast.";
static const std::string OPTION = "option.";

static bool begins_with(const std::string& text, const std::string& start)
{
  return text.compare(0, start.size(), start) == 0;
}

/** A string of TOML. */
static std::string quoted(const std::string& text)
{
  std::string all = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      all += '\\';
    all += c;
  }
  return all + "\"";
}

/** A value of a machine file: a number, true or false as it is, anything else a string. */
static std::string value(const std::string& text)
{
  bool is_number = not text.empty();
  for (char c : text)
    is_number = is_number && (std::isdigit(static_cast<unsigned char>(c)) || c == '.');
  return is_number || text == "true" || text == "false" ? text : quoted(text);
}

/** A size as SimGrid's platforms have it, "500GiB", as a machine file has it. */
static std::string spaced(const std::string& size)
{
  std::size_t unit = size.find_first_not_of("0123456789.");
  bool has_space   = unit == std::string::npos || unit == 0 || size[unit] == ' ';
  return has_space ? size : size.substr(0, unit) + " " + size.substr(unit);
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

/** A disk and its directory; settings beside those of SimGrid are its properties that begin with "pagecast.". */
static std::string disk_lines(const sg4::Disk& disk)
{
  const std::string& name = disk.get_name();
  const std::string table = "disk." + quoted(name) + ".";
  std::string lines       = table + "size = " + quoted(spaced(property(disk, "size", "9000 TB"))) + "\n";
  lines += table + "read = " + rate(disk.get_read_bandwidth()) + "\n";
  lines += table + "write = " + rate(disk.get_write_bandwidth()) + "\n";
  for (const auto& [key, text] : *disk.get_properties())
    if (begins_with(key, PREFIX))
      lines += table + key.substr(PREFIX.size()) + " = " + value(text) + "\n";
  return lines + "mount." + quoted(property(disk, "mount", "/" + name)) + ".disk = " + quoted(name) + "\n";
}

Description describe(const sg4::Host& host, const PageCache::Settings& settings, const std::vector<sg4::Disk*>& remote)
{
  Description all{"", "kernel", {}, {}};
  if (not settings.count("cores"))
    all.machine += "cores = " + std::to_string(host.get_core_count()) + "\n";
  for (const auto& [key, text] : settings) {
    if (key == "model")
      all.model = text;
    else if (begins_with(key, OPTION))
      all.options[key.substr(OPTION.size())] = text;
    else
      all.machine += key + " = " + value(text) + "\n";
  }
  auto add = [&all](sg4::Disk* disk) {
    if (not all.disks.emplace(disk->get_name(), disk).second)
      throw Error(0, "two disks are called " + disk->get_name());
    all.machine += disk_lines(*disk);
  };
  for (auto* disk : host.get_disks())
    add(disk);
  for (auto* disk : remote)
    add(disk);
  return all;
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

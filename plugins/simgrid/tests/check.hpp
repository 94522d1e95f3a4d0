/** What the test programs share. */
#ifndef CHECK_HPP
#define CHECK_HPP

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include <pagecast-simgrid.hpp>
#include <pagecast.h>

namespace sg4 = simgrid::s4u;
using pagecast::PageCache;

#define CHECK(what) check(what, #what, __LINE__)

inline void check(bool is_true, const char* what, int line)
{
  if (is_true)
    return;
  std::fprintf(stderr, "line %d at %.9f s: not %s\n", line, sg4::Engine::get_clock(), what);
  std::exit(1);
}

inline bool near(double value, double expected)
{
  return std::fabs(value - expected) <= 1e-6 * expected;
}

inline double now()
{
  return sg4::Engine::get_clock();
}

constexpr std::int64_t GB = 1'000'000'000;

inline const PageCache::Settings MEMORY = {
    {"model", "kernel"}, {"memory.size", "16 GB"}, {"memory.read", "8 GB/s"}, {"memory.write", "4 GB/s"}};

inline sg4::Disk* disk_of(const char* host)
{
  return sg4::Host::by_name(host)->get_disks().front();
}

/** What a call that is refused says; nothing if it is not. */
inline std::string said(const std::function<void()>& call)
{
  try {
    call();
  } catch (const pagecast::Error& error) {
    return error.what();
  }
  return "";
}

inline bool has(const std::string& text, const std::string& part)
{
  return text.find(part) != std::string::npos;
}

/** Whether a call is refused with this status. */
inline bool is_refused(int status, const std::function<void()>& call)
{
  try {
    call();
  } catch (const pagecast::Error& error) {
    return error.status() == status && error.what()[0] != '\0';
  }
  return false;
}

#endif

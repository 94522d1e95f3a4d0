/** What differs between versions of SimGrid. The plug-in is built and tested with 3.32; with 4.0 (Debian 13) its programs gave the same. */
#ifndef PAGECAST_VERSIONS_HPP
#define PAGECAST_VERSIONS_HPP

#include <functional>

#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

#if __has_include(<simgrid/simcall.hpp>)
#include <simgrid/simcall.hpp>
#else
#include <simgrid/simix.hpp>
#endif

namespace pagecast {

/** Calls back whenever an Io or a Comm is over. */
inline void on_completion(const std::function<void(const simgrid::s4u::Activity&)>& callback)
{
#if SIMGRID_VERSION >= 33400
  simgrid::s4u::Io::on_completion_cb(callback);
  simgrid::s4u::Comm::on_completion_cb(callback);
#else
  simgrid::s4u::Activity::on_completion_cb(callback);
#endif
}

} // namespace pagecast

#endif

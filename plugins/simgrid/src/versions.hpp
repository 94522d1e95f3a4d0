/** What differs between versions of SimGrid. The plug-in is built and tested with 3.32; with 4.0 (Debian 13) its programs gave the same. */
#ifndef PAGECAST_VERSIONS_HPP
#define PAGECAST_VERSIONS_HPP

#include <functional>

#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <xbt/config.hpp>
#include <xbt/signal.hpp>

#if __has_include(<simgrid/simcall.hpp>)
#include <simgrid/simcall.hpp>
#else
#include <simgrid/simix.hpp>
#endif

namespace pagecast {

using TakeCompletion = std::function<bool(const simgrid::s4u::Activity&)>;

#if SIMGRID_VERSION >= 33400
/** Calls back whenever an Io or a Comm is over; the callback says whether it is one of ours. */
inline void on_completion(const TakeCompletion& take)
{
  simgrid::s4u::Io::on_completion_cb([take](const simgrid::s4u::Activity& activity) { take(activity); });
  simgrid::s4u::Comm::on_completion_cb([take](const simgrid::s4u::Activity& activity) { take(activity); });
}
#else
using Completions = simgrid::xbt::signal<void(const simgrid::s4u::Activity&)>;
Completions& completions();
/** The signal is private, and an explicit instantiation may name it all the same. */
template <Completions* signal> struct Private {
  friend Completions& completions() { return *signal; }
};
template struct Private<&simgrid::s4u::Activity::on_completion>;

/** Calls back whenever an Io or a Comm is over; the callback says whether it is one of ours.
 *
 * SimGrid's tracing of actors looks for the actor that an activity belongs to, and ends the program where there is none, as there is
 * none for ours (src/instr/instr_platform.cpp of 3.32; 4.0 has mended it). With it, ours are not told to the callbacks that are there. */
inline void on_completion(const TakeCompletion& take)
{
  using simgrid::config::get_value;
  if (not get_value<bool>("tracing") || not(get_value<bool>("tracing/actor") || get_value<bool>("tracing/smpi/computing"))) {
    completions().connect(take);
    return;
  }
  auto others = completions();
  completions().disconnect_slots();
  completions().connect([take, others](const simgrid::s4u::Activity& activity) {
    if (not take(activity))
      others(activity);
  });
}
#endif

} // namespace pagecast

#endif

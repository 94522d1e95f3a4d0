/** A transfer over SimGrid's disks and links on behalf of a page cache. */
#ifndef PAGECAST_TRANSFER_HPP
#define PAGECAST_TRANSFER_HPP

#include <cstdint>
#include <vector>

#include <pagecast.h>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/s4u.hpp>

namespace pagecast {

/** Bytes on their way over a disk and, if that is another host's, over the links between the two, at once. The slower of the two is
 * the rate; the faster one is not held back, and ends before. */
class Transfer {
public:
  Transfer(const pagecast_order& order, simgrid::s4u::Disk* disk, simgrid::s4u::Host* host);

  /** What has to end; a caller that hears of the end of one says so, and keeps it until SimGrid has done with it. */
  std::vector<simgrid::s4u::ActivityPtr> activities() const;
  void ended(const simgrid::s4u::Activity* activity);
  /** Whether all bytes have moved. */
  bool is_over() const { return legs_.empty(); }

  /** How fast it goes, as SimGrid has shared its resources last; true if the cache has to be told. */
  bool has_news(double* rate);
  void limit(double most);
  /** It has only so many bytes; those that have moved already may be more. */
  void shorten(double bytes);
  void cancel();

private:
  struct Leg {
    simgrid::s4u::ActivityPtr activity;
    simgrid::kernel::resource::Action* action;
    /** What SimGrid bounds it to by itself, such as a TCP window; negative is nothing. */
    double own_bound;
  };
  void add(const simgrid::s4u::ActivityPtr& activity);

  std::vector<Leg> legs_;
  double bytes_;
  /** What the cache was told; negative at first, and after a new limit. */
  double told_ = -1;
};

} // namespace pagecast

#endif

/** A transfer over SimGrid's disks and links on behalf of a page cache. */
#ifndef PAGECAST_TRANSFER_HPP
#define PAGECAST_TRANSFER_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <pagecast.h>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/s4u.hpp>

namespace pagecast {

/** Bytes on their way over a disk and, if that is another host's, over the route between the two hosts, at once.
 *
 * SimGrid 3.32 shares disks and links apart, and each of its activities is on one of them. So a transfer over both is two activities,
 * its legs, that go at one rate: the leg that gets less is free, and the other one is held at the rate of the first, which leaves the
 * rest of that resource to others. Who gets less comes out in rounds at one instant; see settle(). This is the way in which the
 * switches of a network find max-min fair rates (Charny, Clark, Jain: Congestion control with explicit rate indication, ICC 1995).
 * The latency of the route is before that, and the disk waits for it. */
class Transfer {
public:
  struct Leg {
    simgrid::s4u::ActivityPtr activity;
    simgrid::kernel::resource::Action* action;
    /** What the action counts for each byte: 1, or of a parallel task, whose bound and rate are fractions per second, less. */
    double per_byte;
    /** What SimGrid bounds it to by itself, such as a TCP window; negative is nothing. */
    double own_bound;
    /** Bytes of ours for one of its bound: the bandwidth factor of a network model. 0 is not known yet. */
    double factor;
    /** In bytes per second. */
    double rate() const { return action->get_rate() / per_byte; }
    void begin();
  };

  Transfer(const pagecast_order& order, simgrid::s4u::Disk* disk, simgrid::s4u::Host* host);

  /** What has to end; a caller that hears of the end of one says so, and keeps it until SimGrid has done with it. */
  const std::vector<Leg>& legs() const { return legs_; }
  void ended(const simgrid::s4u::Activity* activity);
  /** Whether all bytes have moved. */
  bool is_over() const { return legs_.empty(); }

  /** Looks at what SimGrid has given each leg; false if other bounds were set, so that SimGrid has to share once more. */
  bool settle();

  /** How fast it goes, as SimGrid has shared its resources last; true if the cache has to be told. */
  bool has_news(double* rate);
  void limit(double most);
  /** It has only so many bytes; those that have moved already may be more. */
  void shorten(double bytes);
  void cancel();

private:
  Leg& add(const simgrid::s4u::ActivityPtr& activity);
  void add_route(std::uint64_t bytes, simgrid::s4u::Host* from, simgrid::s4u::Host* to);
  /** Sets the bounds that the legs are to have now. */
  void bound();

  /** The disk, and the route if there is one. */
  std::vector<Leg> legs_;
  /** Which leg is free. */
  std::size_t free_ = 0;
  /** The rate at which the other one is held. */
  double held_at_;
  /** What the cache allows. */
  double limit_;
  double bytes_;
  /** What the cache was told; negative at first, and after a new limit. */
  double told_ = -1;
};

} // namespace pagecast

#endif

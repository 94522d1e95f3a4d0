/** Which page caches have something to do at a step of SimGrid. So a step costs what these cost, however many others there are. */
#ifndef PAGECAST_AGENDA_HPP
#define PAGECAST_AGENDA_HPP

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace pagecast {

/** A set of page caches. Each is a number, in the order in which they were made, which is the order in which they are visited. */
class Caches {
public:
  void add(std::size_t cache);
  bool has(std::size_t cache) const { return cache < is_listed_.size() && is_listed_[cache]; }
  bool is_empty() const { return listed_.empty(); }
  /** Takes all of them, in order. */
  std::vector<std::size_t> take();

private:
  std::vector<std::size_t> listed_;
  std::vector<bool> is_listed_;
};

/** When each page cache is to be asked again if nothing happens to it before. */
class Agenda {
public:
  /** INFINITY is never. */
  void set_time(std::size_t cache, double time);
  /** The first of these times; INFINITY if there is none. */
  double next() const;
  /** Whether the time of some cache has come. */
  bool is_due(double now) const;
  /** Takes those whose time has come, the earliest first, and of several at one time the one with the least number. */
  std::vector<std::size_t> take(double now);

private:
  std::set<std::pair<double, std::size_t>> times_;
  /** The time of each cache. */
  std::vector<double> time_of_;
};

} // namespace pagecast

#endif

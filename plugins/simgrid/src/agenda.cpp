#include "agenda.hpp"

#include <algorithm>
#include <cmath>

namespace pagecast {

void Caches::add(std::size_t cache)
{
  if (cache >= is_listed_.size())
    is_listed_.resize(cache + 1);
  if (is_listed_[cache])
    return;
  is_listed_[cache] = true;
  listed_.push_back(cache);
}

std::vector<std::size_t> Caches::take()
{
  std::vector<std::size_t> all = std::exchange(listed_, {});
  for (std::size_t cache : all)
    is_listed_[cache] = false;
  std::sort(all.begin(), all.end());
  return all;
}

void Agenda::set_time(std::size_t cache, double time)
{
  for (std::size_t next = time_of_.size(); next <= cache; next++) {
    time_of_.push_back(INFINITY);
    times_.insert({INFINITY, next});
  }
  if (time == time_of_[cache])
    return;
  auto entry    = times_.extract({time_of_[cache], cache});
  entry.value() = {time, cache};
  times_.insert(std::move(entry));
  time_of_[cache] = time;
}

double Agenda::next() const
{
  return times_.empty() ? INFINITY : times_.begin()->first;
}

bool Agenda::is_due(double now) const
{
  // Half a nanosecond, which is half a tick of pagecast: clocks of floating-point numbers do not always meet.
  return next() <= now + 5e-10;
}

std::vector<std::size_t> Agenda::take(double now)
{
  std::vector<std::size_t> due;
  while (is_due(now)) {
    due.push_back(times_.begin()->second);
    set_time(due.back(), INFINITY);
  }
  return due;
}

} // namespace pagecast

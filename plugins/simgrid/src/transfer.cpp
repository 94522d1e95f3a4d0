#include "transfer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <simgrid/kernel/resource/Model.hpp>
#include <xbt/config.hpp>

namespace sg4 = simgrid::s4u;

namespace pagecast {

/** The action of an activity that has just started: the last one of its model. s4u does not tell it. */
static simgrid::kernel::resource::Action* action_of(const sg4::Activity& activity)
{
  for (auto* model : sg4::Engine::get_instance()->get_all_models()) {
    auto* started = model->get_started_action_set();
    if (not started->empty() && started->back().get_activity() == activity.get_impl())
      return &started->back();
  }
  xbt_die("an activity that has started has an action");
}

/** Rates that differ by less are the same. */
static constexpr double NOISE = 1e-9;

/** SimGrid does not tell the bandwidth factor of a communication. It is what one goes at whose bound is this, in bytes per second: far
 * below what any link gives. */
static constexpr double PROBE = 1;

Transfer::Transfer(const pagecast_order& order, sg4::Disk* disk, sg4::Host* host)
    : held_at_(INFINITY), limit_(order.limit), bytes_(static_cast<double>(order.bytes))
{
  bool reads = order.direction == PAGECAST_FROM_DEVICE;
  auto io    = disk->io_init(order.bytes, reads ? sg4::Io::OpType::READ : sg4::Io::OpType::WRITE);
  if (order.weight != 1)
    io->set_priority(order.weight);
  io->start();
  add(io);
  if (disk->get_host() != host)
    add_route(order.bytes, reads ? disk->get_host() : host, reads ? host : disk->get_host());
  if (legs_.size() > 1 || std::isfinite(limit_))
    bound();
}

Transfer::Leg& Transfer::add(const sg4::ActivityPtr& activity)
{
  auto* action = action_of(*activity);
  legs_.push_back({activity, action, action->get_cost() / bytes_, action->get_bound(), 1});
  return legs_.back();
}

/** Whether communications are parallel tasks, which cost 1 whatever their bytes. Their model has no bandwidth factor, and sets their
 * bound when their latency is over. */
static bool are_parallel_tasks()
{
  static const bool are = simgrid::config::get_value<std::string>("host/model") == "ptask_L07";
  return are;
}

/** Its latency is over, and its rate says its factor. */
void Transfer::Leg::begin()
{
  if (are_parallel_tasks()) {
    factor    = 1;
    own_bound = action->get_bound();
  } else {
    factor = rate() / PROBE;
  }
}

void Transfer::add_route(std::uint64_t bytes, sg4::Host* from, sg4::Host* to)
{
  auto comm = sg4::Comm::sendto_init(from, to)->set_payload_size(bytes);
  comm->start();
  auto& leg  = add(comm);
  leg.factor = 0;
  if (not are_parallel_tasks())
    leg.action->set_bound(PROBE);
  std::vector<sg4::Link*> links;
  double latency_s = 0;
  from->route_to(to, links, &latency_s);
  // SimGrid begins at once then, with a share of 1, and would resume with another share, or none, what was suspended.
  if (latency_s == 0)
    leg.action->set_sharing_penalty_no_update(1);
}

void Transfer::ended(const sg4::Activity* activity)
{
  legs_.erase(std::remove_if(legs_.begin(), legs_.end(),
                             [activity](const Leg& leg) { return leg.activity.get() == activity; }),
              legs_.end());
}

bool Transfer::settle()
{
  if (legs_.size() == 1) {
    if (std::exchange(held_at_, INFINITY) == INFINITY)
      return true;
    bound(); // the other leg has ended
    return false;
  }
  auto& route = legs_[1];
  if (route.factor == 0) {
    if (route.rate() == 0)
      return true; // it is in its latency
    route.begin();
    bound();
    return false;
  }
  if (limit_ == 0)
    return true;
  double rate = legs_[free_].rate(), held = legs_[1 - free_].rate();
  if (held < rate && held < held_at_ * (1 - NOISE)) {
    free_ = 1 - free_;
    rate  = held;
  } else if (rate >= held_at_ * (1 - NOISE) && rate <= held_at_ * (1 + NOISE)) {
    return true;
  }
  held_at_ = rate;
  bound();
  return false;
}

bool Transfer::has_news(double* rate)
{
  *rate = INFINITY;
  for (const auto& leg : legs_)
    *rate = std::min(*rate, leg.factor == 0 ? 0 : leg.rate());
  if (*rate == told_)
    return false;
  told_ = *rate;
  return true;
}

void Transfer::limit(double most)
{
  told_  = -1;
  limit_ = most;
  bound();
}

/** A leg goes at so many bytes per second at most. */
static void set_bound(simgrid::kernel::resource::Action* action, double most, double own_bound)
{
  if (most == 0) {
    if (not action->is_suspended())
      action->suspend(); // SimGrid takes a bound of 0 for none
    return;
  }
  if (action->is_suspended())
    action->resume();
  bool is_free = not std::isfinite(most) || (own_bound > 0 && own_bound < most);
  action->set_bound(is_free ? own_bound : most);
}

void Transfer::bound()
{
  bool waits = std::any_of(legs_.begin(), legs_.end(), [](const Leg& leg) { return leg.factor == 0; });
  for (std::size_t at = 0; at < legs_.size(); at++) {
    auto& leg   = legs_[at];
    double most = legs_.size() == 1 || at == free_ ? limit_ : std::min(limit_, held_at_);
    // A route in its latency is left alone: SimGrid would forget when that ends.
    if (leg.factor > 0)
      set_bound(leg.action, waits ? 0 : most / leg.factor * leg.per_byte, leg.own_bound);
  }
}

void Transfer::shorten(double bytes)
{
  double less = bytes_ - bytes;
  bytes_      = bytes;
  told_       = -1;
  for (auto& leg : legs_) {
    double left = leg.action->get_remains() - less * leg.per_byte;
    // What is left of nothing ends with the next step of SimGrid.
    leg.action->set_remains(std::max(left, 0.0));
    // SimGrid reckons the end anew when it sees a change of the bound.
    leg.action->set_bound(leg.action->get_bound());
  }
}

void Transfer::cancel()
{
  std::vector<Leg> legs;
  legs.swap(legs_);
  for (auto& leg : legs)
    leg.activity->cancel();
}

} // namespace pagecast

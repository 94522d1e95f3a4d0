#include "transfer.hpp"

#include <algorithm>
#include <cmath>

#include <simgrid/kernel/resource/Model.hpp>

namespace sg4 = simgrid::s4u;

namespace pagecast {

/** The action of an activity that has just started: the last one of its model. s4u does not tell it. */
static simgrid::kernel::resource::Action* action_of(const sg4::Activity& activity)
{
  for (auto* model : sg4::Engine::get_instance()->get_all_models()) {
    auto* started = model->get_started_action_set();
    for (auto action = started->rbegin(); action != started->rend(); ++action)
      if (action->get_activity() == activity.get_impl())
        return &*action;
  }
  xbt_die("an activity that has started has an action");
}

Transfer::Transfer(const pagecast_order& order, sg4::Disk* disk, sg4::Host* host)
    : bytes_(static_cast<double>(order.bytes))
{
  bool reads = order.direction == PAGECAST_FROM_DEVICE;
  auto io    = disk->io_init(order.bytes, reads ? sg4::Io::OpType::READ : sg4::Io::OpType::WRITE);
  if (order.weight != 1)
    io->set_priority(order.weight);
  io->start();
  add(io);
  if (disk->get_host() != host) {
    auto* from = reads ? disk->get_host() : host;
    auto* to   = reads ? host : disk->get_host();
    auto comm  = sg4::Comm::sendto_init(from, to)->set_payload_size(order.bytes);
    comm->start();
    add(comm);
  }
  if (std::isfinite(order.limit))
    limit(order.limit);
}

void Transfer::add(const sg4::ActivityPtr& activity)
{
  auto* action = action_of(*activity);
  legs_.push_back({activity, action, action->get_bound()});
}

std::vector<sg4::ActivityPtr> Transfer::activities() const
{
  std::vector<sg4::ActivityPtr> all;
  for (const auto& leg : legs_)
    all.push_back(leg.activity);
  return all;
}

void Transfer::ended(const sg4::Activity* activity)
{
  legs_.erase(std::remove_if(legs_.begin(), legs_.end(),
                             [activity](const Leg& leg) { return leg.activity.get() == activity; }),
              legs_.end());
}

bool Transfer::has_news(double* rate)
{
  *rate = INFINITY;
  for (const auto& leg : legs_)
    *rate = std::min(*rate, leg.action->get_rate());
  if (*rate == told_)
    return false;
  told_ = *rate;
  return true;
}

void Transfer::limit(double most)
{
  told_ = -1;
  for (auto& leg : legs_) {
    if (most == 0) {
      leg.action->suspend(); // SimGrid takes a bound of 0 for none
      continue;
    }
    if (leg.action->is_suspended())
      leg.action->resume();
    bool is_free = not std::isfinite(most) || (leg.own_bound > 0 && leg.own_bound < most);
    leg.action->set_bound(is_free ? leg.own_bound : most);
  }
}

void Transfer::shorten(double bytes)
{
  double less = bytes_ - bytes;
  bytes_      = bytes;
  told_       = -1;
  for (auto& leg : legs_) {
    double left = leg.action->get_remains() - less;
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

/** How page caches are hooked into SimGrid: as a model of resources that asks for events of its own.
 *
 * SimGrid asks each model for its next event after those before it have shared their resources and before time goes on. That is when
 * the rates of transfers are known that hold from now on. */
#include <algorithm>
#include <utility>

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Model.hpp>

#include "cache.hpp"
#include "versions.hpp"

namespace sg4 = simgrid::s4u;

namespace pagecast {

class CacheModel final : public simgrid::kernel::resource::Model {
public:
  CacheModel() : Model("pagecast") {}
  double next_occurring_event(double now) override { return Plugin::get().share(now); }
  void update_actions_state(double, double) override {}
};

Plugin& Plugin::get()
{
  // Never destroyed: it has activities of an engine that may be gone before it.
  static auto* plugin = new Plugin;
  return *plugin;
}

void Plugin::start()
{
  if (is_started_)
    return;
  is_started_  = true;
  auto* engine = sg4::Engine::get_instance();
  engine->add_model(std::make_shared<CacheModel>(), engine->get_all_models());
  on_completion([this](const sg4::Activity& activity) {
    auto watched = watched_.find(&activity);
    if (watched == watched_.end())
      return;
    auto* cache   = watched->second.cache;
    auto transfer = watched->second.transfer;
    unwatch(&activity);
    cache->ended(transfer, &activity);
  });
  sg4::Actor::on_termination_cb([this](const sg4::Actor& actor) {
    for (auto* cache : in_order_)
      cache->forget(actor.get_pid());
  });
}

Cache& Plugin::add(sg4::Host* host, const Description& description)
{
  if (caches_.count(host))
    throw Error(0, host->get_name() + " has a page cache already");
  for (const auto& [name, disk] : description.disks) {
    auto owner = owners_.find(disk);
    if (owner != owners_.end())
      throw Error(0, "disk " + name + " of " + disk->get_host()->get_name() + " is below the page cache of " +
                         owner->second->get_name() + " already, and cannot be below that of " + host->get_name() +
                         ", too; leave one of them out");
  }
  start();
  auto& place = caches_[host] = std::make_unique<Cache>(host, description);
  in_order_.push_back(place.get());
  for (const auto& disk : description.disks)
    owners_[disk.second] = host;
  return *place;
}

Cache* Plugin::find(const sg4::Host* host) const
{
  auto cache = caches_.find(host);
  return cache == caches_.end() ? nullptr : cache->second.get();
}

void Plugin::watch(const sg4::ActivityPtr& activity, Cache* cache, std::uint64_t transfer)
{
  watched_[activity.get()] = {activity, cache, transfer};
}

void Plugin::unwatch(const sg4::Activity* activity)
{
  auto watched = watched_.find(activity);
  over_.push_back(watched->second.activity);
  watched_.erase(watched);
}

/** Whether nothing can happen any more but for what page caches do by themselves: then SimGrid is to see the deadlock. */
static bool is_still(const std::vector<Cache*>& caches)
{
  for (auto* model : sg4::Engine::get_instance()->get_all_models())
    if (not model->get_started_action_set()->empty())
      return false;
  return simgrid::kernel::timer::Timer::next() < 0 &&
         std::none_of(caches.begin(), caches.end(), [](const Cache* cache) { return cache->has_operations(); });
}

/** The rates of transfers are known a few rounds after the last of them began where each resource gives equal shares. Where they are so
 * unequal that two transfers could each hold the other, no more rounds are made at an instant, and the slower leg ends later. */
static constexpr int MOST_ROUNDS = 64;

bool Plugin::settle()
{
  bool is_settled = true;
  for (auto* cache : in_order_)
    is_settled = cache->settle() && is_settled;
  if (not is_settled && ++rounds_ < MOST_ROUNDS)
    return false;
  rounds_ = 0;
  return true;
}

double Plugin::share(double now)
{
  over_.clear();
  if (sg4::Engine::get_instance()->get_actor_count() == 0)
    return -1;
  if (not settle())
    return 0;
  double next = INFINITY;
  for (auto* cache : in_order_)
    next = std::min(next, cache->share(now));
  if (not std::isfinite(next) || is_still(in_order_))
    return -1;
  return std::max(next - now, 0.0);
}

void init()
{
  static bool is_asked_for = false;
  if (std::exchange(is_asked_for, true))
    return;
  sg4::Engine::on_platform_created_cb([] {
    for (auto* host : sg4::Engine::get_instance()->get_all_hosts()) {
      auto settings = settings_of(*host);
      if (settings.count("model"))
        Plugin::get().add(host, describe(*host, settings, {}, "property pagecast."));
    }
  });
}

PageCache& PageCache::attach(sg4::Host* host, const Settings& settings, const std::vector<sg4::Disk*>& remote)
{
  if (host == nullptr)
    throw Error(PAGECAST_NULL_POINTER, "a page cache is attached to a host, not to a null pointer");
  return Plugin::get().add(host, describe(*host, settings, remote, "setting "));
}

PageCache& PageCache::of(const sg4::Host* host)
{
  if (host == nullptr)
    throw Error(PAGECAST_NULL_POINTER, "a page cache is that of a host, not of a null pointer");
  auto* cache = Plugin::get().find(host);
  if (cache == nullptr)
    throw Error(0, host->get_name() + " has no page cache; give it a property pagecast.model, or attach one");
  return *cache;
}

PageCache& PageCache::here()
{
  if (sg4::this_actor::is_maestro())
    throw Error(0, "PageCache::here() is for actors; elsewhere PageCache::of() has that of a host");
  return of(sg4::this_actor::get_host());
}

} // namespace pagecast

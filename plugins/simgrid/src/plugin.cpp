/** How page caches are hooked into SimGrid: as a model of resources that asks for events of its own.
 *
 * SimGrid asks each model for its next event after those before it have shared their resources and before time goes on. That is when
 * the rates of transfers are known that hold from now on. */
#include <algorithm>
#include <utility>

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <xbt/config.hpp>

#include "cache.hpp"
#include "versions.hpp"

namespace sg4 = simgrid::s4u;

namespace pagecast {

class CacheModel final : public simgrid::kernel::resource::Model {
public:
  CacheModel() : Model("pagecast") {}
  double next_occurring_event(double now) override { return Plugin::get().share(now); }
  void update_actions_state(double now, double) override { Plugin::get().come_to(now); }
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
    auto watched = watched_.find(activity.get_impl());
    if (watched == watched_.end())
      return false;
    auto* cache = watched->second.cache;
    if (activity.get_state() == sg4::Activity::State::FINISHED)
      end(watched->second);
    else if (cache != nullptr)
      fail("a link went off under a transfer of the page cache of " + cache->host().get_name() +
           "; turn off links that no page cache uses only");
    unwatch(activity.get_impl());
    return true;
  });
  watch_failures();
  sg4::Actor::on_termination_cb([this](const sg4::Actor& actor) {
    for (auto* cache : in_order_)
      cache->forget(actor.get_pid());
  });
}

void Plugin::fail(const std::string& text)
{
  if (failure_.empty())
    failure_ = text;
}

void Plugin::check() const
{
  if (not failure_.empty())
    throw Error(0, failure_);
}

void Plugin::check_route(const sg4::Host& host, const sg4::Disk& disk)
{
  if (disk.get_host() != &host) {
    std::vector<sg4::Link*> links;
    host.route_to(disk.get_host(), links, nullptr);
    for (const auto* link : links)
      if (not link->is_on())
        fail("link " + link->get_name() + " is off, and the page cache of " + host.get_name() + " needs it for disk " +
             disk.get_name() + " of " + disk.get_host()->get_name() + "; turn off links that no page cache uses only");
  }
  check();
}

/** A host that goes off loses its memory, and of each file its disk has what was written back before: libpagecast does not tell which
 * bytes these are. So the simulation ends there. */
void Plugin::watch_failures()
{
  sg4::Host::on_state_change_cb([this](const sg4::Host& host) {
    if (host.is_on())
      return;
    if (find(&host) != nullptr)
      fail("host " + host.get_name() + " went off, and has a page cache; turn off hosts without one only");
    for (const auto* disk : host.get_disks()) {
      auto owner = owners_.find(disk);
      if (owner != owners_.end())
        fail("host " + host.get_name() + " went off, and its disk " + disk->get_name() + " is below the page cache of " +
             owner->second->get_name() + "; turn off hosts whose disks no page cache uses only");
    }
  });
  sg4::Disk::on_state_change_cb([this](const sg4::Disk& disk) {
    auto owner = owners_.find(&disk);
    if (owner != owners_.end())
      fail("disk " + disk.get_name() + " of " + disk.get_host()->get_name() + " went off, and is below the page cache of " +
           owner->second->get_name() + "; leave its state profile out");
  });
}

/** A transfer over the network is held at the rate of its disk, which SimGrid's own models of the network can do alone. */
static void check_network(const sg4::Host& host, const Description& description)
{
  auto model     = simgrid::config::get_value<std::string>("network/model");
  bool has_rates = model != "ns-3" && model != "Constant";
  for (const auto& [_, disk] : description.disks)
    if (disk->get_host() != &host && not has_rates)
      throw Error(0, "disk " + disk->get_name() + " of " + disk->get_host()->get_name() + " cannot be below the page cache of " +
                         host.get_name() + ": SimGrid's network/model:" + model +
                         " does not tell the rate of a communication, nor lets it be held at one; take another network/model");
}

Cache& Plugin::add(sg4::Host* host, const Description& description)
{
  check_network(*host, description);
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
  auto& place = caches_[host] = std::make_unique<Cache>(host, description, in_order_.size());
  in_order_.push_back(place.get());
  touch(place->number());
  if (place->is_remote())
    remote_.push_back(place.get());
  for (const auto& disk : description.disks)
    owners_[disk.second] = host;
  return *place;
}

Cache* Plugin::find(const sg4::Host* host) const
{
  auto cache = caches_.find(host);
  return cache == caches_.end() ? nullptr : cache->second.get();
}

void Plugin::watch(const Transfer::Leg& leg, Cache* cache, std::uint64_t transfer)
{
  auto& watched = watched_[leg.activity->get_impl()] = {leg.activity, cache, transfer, rates_.size()};
  rates_.push_back({leg.action, NAN, &watched});
}

Cache* Plugin::release(Watched& watched)
{
  auto* cache = std::exchange(watched.cache, nullptr);
  if (cache != nullptr) {
    rates_.back().watched->at = watched.at;
    rates_[watched.at]        = rates_.back();
    rates_.pop_back();
  }
  return cache;
}

void Plugin::end(Watched& watched)
{
  auto* cache = release(watched);
  if (cache == nullptr)
    return;
  cache->ended(watched.transfer, watched.activity.get());
  ended_.add(cache->number());
}

void Plugin::unwatch(const simgrid::kernel::activity::ActivityImpl* activity)
{
  auto watched = watched_.find(activity);
  release(watched->second);
  over_.push_back(watched->second.activity);
  watched_.erase(watched);
}

/** When the last actor has ended, SimGrid lets what is under way end, and page caches are not asked any more. */
static bool has_actors()
{
  return sg4::Engine::get_instance()->get_actor_count() > 0;
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
  for (auto* cache : remote_)
    is_settled = cache->settle() && is_settled;
  if (not is_settled && ++rounds_ < MOST_ROUNDS)
    return false;
  rounds_ = 0;
  return true;
}

/** Finds the caches whose transfers go at other rates than when SimGrid shared its resources last. */
void Plugin::note_rates()
{
  for (auto& each : rates_) {
    double rate = each.action->get_rate();
    if (rate != each.rate) {
      each.rate = rate;
      touch(each.watched->cache->number());
    }
  }
}

double Plugin::share(double now)
{
  over_.clear();
  check();
  if (not has_actors())
    return -1;
  if (not ended_.is_empty()) {
    complete(now);
    return 0;
  }
  if (not settle())
    return 0;
  note_rates();
  for (std::size_t cache : touched_.take())
    in_order_[cache]->share(now);
  // Resources have to be shared anew, or actors can go on.
  if (not touched_.is_empty())
    return 0;
  double next = agenda_.next();
  if (not std::isfinite(next) || is_still(in_order_))
    return -1;
  return std::max(next - now, 0.0);
}

/** All of SimGrid's models have come to this time. What ends then is known, though SimGrid has not told it: so caches hear of it at this step,
 * and what they start has its share at the next one. */
void Plugin::come_to(double now)
{
  if (not has_actors())
    return;
  for (auto* model : sg4::Engine::get_instance()->get_all_models())
    for (auto& action : *model->get_finished_action_set()) {
      auto watched = watched_.find(action.get_activity());
      if (watched != watched_.end())
        end(watched->second);
    }
  complete(now);
  for (std::size_t cache : agenda_.take(now))
    if (not touched_.has(cache))
      in_order_[cache]->advance(now, {});
}

/** Tells caches of the transfers that have ended at this instant, when all of them have. */
void Plugin::complete(double now)
{
  for (std::size_t cache : ended_.take())
    in_order_[cache]->complete(now);
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

#include "cache.hpp"

#include <algorithm>
#include <utility>

#include "versions.hpp"

namespace sg4 = simgrid::s4u;
using simgrid::kernel::actor::simcall_answered;

namespace pagecast {

class Under_way final : public Operation {
public:
  Outcome wait() override
  {
    if (not is_over_) {
      over_->acquire();
      over_->release(); // for others that wait
    }
    return outcome_;
  }
  bool test() const override { return is_over_; }
  void end(const Outcome& outcome)
  {
    outcome_ = outcome;
    is_over_ = true;
    over_->release();
  }

private:
  sg4::SemaphorePtr over_ = sg4::Semaphore::create(0);
  bool is_over_           = false;
  Outcome outcome_{};
};

Cache::Cache(sg4::Host* host, const Description& description, std::size_t number) : host_(host), number_(number)
{
  std::vector<pagecast_option> options;
  for (const auto& [key, text] : description.options)
    options.push_back({key.c_str(), text.c_str()});
  char message[1024] = "";
  auto status = pagecast_create(description.machine.c_str(), description.model.c_str(), options.data(), options.size(),
                                nullptr, nullptr, message, sizeof message, &handle_);
  if (status != PAGECAST_OK)
    throw Error(status, "the page cache of " + host->get_name() + ": " + explained(description, message));
  for (std::uint32_t device = 0; device < pagecast_device_count(handle_); device++) {
    auto disk = description.disks.find(pagecast_device_name(handle_, device));
    disks_.push_back(disk == description.disks.end() ? nullptr : disk->second);
  }
}

Cache::~Cache()
{
  pagecast_destroy(handle_);
}

bool Cache::is_remote() const
{
  return std::any_of(disks_.begin(), disks_.end(), [this](const sg4::Disk* disk) { return disk && disk->get_host() != host_; });
}

void Cache::touch()
{
  Plugin::get().touch(number_);
}

void Cache::check(pagecast_status status) const
{
  if (status != PAGECAST_OK)
    throw Error(status, host_->get_name() + ": " + pagecast_error_text(handle_));
}

void Cache::add_file(const std::string& path, std::int64_t size, std::int64_t cached, std::int64_t dirty)
{
  simcall_answered([&] {
    check(pagecast_add_file(handle_, sg4::Engine::get_clock(), path.c_str(), size, cached, dirty));
    touch();
  });
}

aid_t Cache::caller() const
{
  if (sg4::this_actor::is_maestro())
    throw Error(0, host_->get_name() + ": operations are those of actors; call it in the code of one");
  return sg4::this_actor::get_pid();
}

static std::uint32_t flags_of(const How& how)
{
  return (how.direct ? PAGECAST_O_DIRECT : 0) | (how.sync ? PAGECAST_O_SYNC : 0) | (how.dsync ? PAGECAST_O_DSYNC : 0) |
         (how.append ? PAGECAST_O_APPEND : 0) | (how.dontcache ? PAGECAST_RWF_DONTCACHE : 0);
}

OperationPtr Cache::read_async(const std::string& path, std::int64_t bytes, const How& how)
{
  if (how.append)
    throw Error(0, host_->get_name() + ": a read of " + path + " cannot append");
  return begin({how.fresh ? PAGECAST_READ_FRESH : PAGECAST_READ, path.c_str(), how.offset, bytes, how.call_bytes,
                flags_of(how)});
}

OperationPtr Cache::write_async(const std::string& path, std::int64_t bytes, const How& how)
{
  if (bytes == REST)
    throw Error(PAGECAST_BAD_SIZE, host_->get_name() + ": a write to " + path +
                                       " is of so many bytes; REST is for reads, and a write at the end of a file is How::append");
  if (how.append && how.offset != 0)
    throw Error(0, host_->get_name() + ": a write to " + path + " appends or has an offset, not both");
  return begin({PAGECAST_WRITE, path.c_str(), how.offset, bytes, how.call_bytes, flags_of(how)});
}

OperationPtr Cache::fsync_async(const std::string& path)
{
  return begin({PAGECAST_FSYNC, path.c_str(), 0, 0, 0, 0});
}

OperationPtr Cache::sync_async()
{
  return begin({PAGECAST_SYNC, "", 0, 0, 0, 0});
}

OperationPtr Cache::run_async(const std::string& operation)
{
  aid_t actor = caller();
  return simcall_answered([this, actor, &operation] {
    std::uint32_t task = idle_task(actor);
    check(pagecast_begin_text(handle_, sg4::Engine::get_clock(), task, operation.c_str()));
    return under_way(task);
  });
}

void Cache::set_priority(const std::string& ionice)
{
  aid_t actor = caller();
  simcall_answered([&] {
    idle_task(actor);
    for (std::uint32_t task : tasks_[actor])
      check(pagecast_set_priority(handle_, task, ionice.c_str()));
    priorities_[actor] = ionice;
  });
}

void Cache::set_seed(std::uint64_t seed)
{
  simcall_answered([&] { check(pagecast_set_seed(handle_, seed)); });
}

Latency Cache::latency(const std::string& actor, const std::string& path, const std::string& operation)
{
  auto any = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
  pagecast_latency latency;
  simcall_answered([&] { check(pagecast_get_latency(handle_, any(actor), any(path), any(operation), &latency)); });
  return {latency.count, latency.bytes, latency.mean_s, latency.p50_s, latency.p90_s, latency.p99_s, latency.p99_9_s, latency.max_s};
}

void Cache::unlink(const std::string& path)
{
  begin({PAGECAST_UNLINK, path.c_str(), 0, 0, 0, 0})->wait();
}

void Cache::truncate(const std::string& path, std::int64_t size)
{
  begin({PAGECAST_TRUNCATE, path.c_str(), 0, size, 0, 0})->wait();
}

void Cache::drop_caches()
{
  begin({PAGECAST_DROP_CACHES, "", 0, 0, 0, 0})->wait();
}

void Cache::allocate(std::int64_t bytes)
{
  begin({PAGECAST_ALLOCATE, "", 0, bytes, 0, 0})->wait();
}

void Cache::free(std::int64_t bytes)
{
  pagecast_operation operation{PAGECAST_FREE, "", 0, bytes, 0, 0};
  aid_t actor = caller();
  simcall_answered([this, actor, bytes, &operation] {
    // All is also what threads of the actor hold that have nothing to do.
    auto tasks = bytes == REST ? tasks_[actor] : std::vector<std::uint32_t>{idle_task(actor)};
    for (std::uint32_t task : tasks)
      if (not operations_.count(task))
        begin_in_maestro(task, operation);
  });
}

Levels Cache::levels()
{
  pagecast_levels levels;
  simcall_answered([&] { check(pagecast_get_levels(handle_, sg4::Engine::get_clock(), &levels)); });
  return {levels.total, levels.anonymous, levels.cached, levels.dirty, levels.writeback};
}

FileLevels Cache::file(const std::string& path)
{
  pagecast_file_levels levels;
  simcall_answered([&] { check(pagecast_get_file_levels(handle_, sg4::Engine::get_clock(), path.c_str(), &levels)); });
  return {levels.size, levels.cached, levels.dirty};
}

OperationPtr Cache::begin(const pagecast_operation& operation)
{
  aid_t actor = caller();
  return simcall_answered([this, actor, &operation] { return begin_in_maestro(idle_task(actor), operation); });
}

OperationPtr Cache::begin_in_maestro(std::uint32_t task, const pagecast_operation& operation)
{
  check(pagecast_begin(handle_, sg4::Engine::get_clock(), task, &operation));
  return under_way(task);
}

OperationPtr Cache::under_way(std::uint32_t task)
{
  auto under_way    = std::make_shared<Under_way>();
  operations_[task] = under_way;
  touch();
  obey();
  return under_way;
}

std::uint32_t Cache::idle_task(aid_t actor)
{
  auto& tasks = tasks_[actor];
  for (std::uint32_t task : tasks)
    if (not operations_.count(task))
      return task;
  std::uint32_t task;
  auto name = sg4::Actor::by_pid(actor)->get_name();
  check(pagecast_add_named_task(handle_, name.c_str(), &task));
  tasks.push_back(task);
  auto priority = priorities_.find(actor);
  if (priority != priorities_.end())
    check(pagecast_set_priority(handle_, task, priority->second.c_str()));
  return task;
}

void Cache::forget(aid_t actor)
{
  auto tasks = tasks_.find(actor);
  if (tasks == tasks_.end())
    return;
  for (std::uint32_t task : tasks->second) {
    if (operations_.count(task))
      orphans_.insert(task);
    else
      remove(task);
  }
  tasks_.erase(tasks);
  priorities_.erase(actor);
}

void Cache::remove(std::uint32_t task)
{
  check(pagecast_remove_task(handle_, sg4::Engine::get_clock(), task));
  touch();
}

bool Cache::obey()
{
  bool any = false;
  pagecast_order order;
  std::int32_t has_order;
  for (;;) {
    check(pagecast_next_order(handle_, &order, &has_order));
    if (not has_order)
      return any;
    any = true;
    carry_out(order);
  }
}

void Cache::carry_out(const pagecast_order& order)
{
  switch (order.kind) {
    case PAGECAST_START: {
      auto* disk = disks_[order.device];
      if (disk == nullptr)
        throw Error(0, host_->get_name() + ": SimGrid has no disk " + pagecast_device_name(handle_, order.device));
      Plugin::get().check_route(*host_, *disk);
      auto& transfer = transfers_.emplace(order.transfer, Transfer(order, disk, host_)).first->second;
      for (const auto& leg : transfer.legs())
        Plugin::get().watch(leg, this, order.transfer);
      break;
    }
    case PAGECAST_LIMIT:
      transfers_.at(order.transfer).limit(order.limit);
      break;
    case PAGECAST_SHORTEN:
      transfers_.at(order.transfer).shorten(static_cast<double>(order.bytes));
      break;
    case PAGECAST_CANCEL: {
      auto transfer = transfers_.find(order.transfer);
      for (const auto& leg : transfer->second.legs())
        Plugin::get().unwatch(leg.activity->get_impl());
      transfer->second.cancel();
      transfers_.erase(transfer);
      break;
    }
    default:
      done(order);
  }
}

void Cache::done(const pagecast_order& order)
{
  auto operation = operations_.find(order.task);
  auto under_way = std::move(operation->second);
  operations_.erase(operation);
  if (orphans_.erase(order.task))
    remove(order.task);
  const double* parts_s = order.parts_s;
  under_way->end({parts_s[PAGECAST_CPU_COPY], parts_s[PAGECAST_PAGE_ALLOCATION], parts_s[PAGECAST_DEVICE_READ],
                  parts_s[PAGECAST_DEVICE_WRITE], parts_s[PAGECAST_QUEUEING], parts_s[PAGECAST_THROTTLED],
                  parts_s[PAGECAST_RECLAIM], parts_s[PAGECAST_JOURNAL], parts_s[PAGECAST_SLEEP], parts_s[PAGECAST_WAIT],
                  order.from_cache, order.from_device});
}

void Cache::ended(std::uint64_t number, const sg4::Activity* activity)
{
  touch();
  auto transfer = transfers_.find(number);
  transfer->second.ended(activity);
  if (not transfer->second.is_over())
    return;
  transfers_.erase(transfer);
  completed_.push_back(number);
}

void Cache::complete(double now)
{
  std::sort(completed_.begin(), completed_.end());
  for (std::uint64_t number : completed_)
    check(pagecast_completed(handle_, now, number));
  completed_.clear();
  obey();
}

bool Cache::settle()
{
  bool is_settled = true;
  for (auto& [_, transfer] : transfers_)
    is_settled = transfer.settle() && is_settled;
  return is_settled;
}

void Cache::share(double now)
{
  news_.clear();
  for (auto& [number, transfer] : transfers_) {
    double rate;
    if (transfer.has_news(&rate))
      news_.push_back({number, rate});
  }
  advance(now, news_);
}

void Cache::advance(double now, const std::vector<pagecast_rate>& rates)
{
  check(pagecast_advance(handle_, now, rates.data(), rates.size()));
  if (obey())
    return touch();
  double next;
  check(pagecast_next_call(handle_, &next));
  Plugin::get().set_time(number_, next);
}

} // namespace pagecast

// SPDX-License-Identifier: MIT
// Work is cut into jobs of one module, or a part of a large one; threads take the largest first; the results
// are put together in the order of the profile, so the table does not depend on who was faster. Context:
// viewer.
#include "viewer/symbol/resolver.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "viewer/load/start_thread.h"
#include "viewer/symbol/jit_names.h"
#include "viewer/symbol/module_names.h"
#include "viewer/symbol/special_sites.h"
#include "viewer/symbol/table_builder.h"

namespace varve::symbol {
namespace {

// Below this a part costs more to open the module a second time than it saves.
constexpr size_t kSitesWorthAThread = 3000;
constexpr unsigned kMaxThreads = 8;

struct Job {
  ModuleId module;
  std::vector<uint64_t> vaddrs;
  std::vector<SiteId> sites;  // same order
  ModuleNames names;
};

unsigned thread_count(const ResolveOptions& options) {
  if (options.threads) return options.threads;
  return std::clamp(std::thread::hardware_concurrency(), 1u, kMaxThreads);
}

class Resolver {
 public:
  Resolver(const load::Profile& profile, const std::vector<bool>& wanted, const ResolveOptions& options,
           const ProgressCallback& progress, OpenedModules* kept)
      : profile_(profile),
        wanted_(wanted),
        options_(options),
        progress_(progress),
        opened_(kept ? *kept : none_),
        server_(options.debuginfod_budget),
        builder_(profile.sites.size()) {}

  SymbolTable run() {
    sort_sites();
    make_jobs();
    work();
    for (Job& job : jobs_) merge(job);
    // All images of a process have one map: they come one after the other, so that it is read once.
    std::ranges::stable_sort(anonymous_, {}, [this](const auto& each) { return map_of(each.first); });
    for (auto& [module, sites] : anonymous_) name_anonymous(module, sites);
    for (SiteId site : special_) name_special(site);
    return std::move(builder_).finish();
  }

 private:
  void sort_sites() {
    by_module_.resize(profile_.modules.size());
    for (uint32_t i = 0; i < profile_.sites.size(); ++i) {
      const load::Site& site = profile_.sites[i];
      if (!wanted_[i]) continue;
      if (site.special() || site.module.index() >= by_module_.size())
        special_.push_back({i});
      else
        by_module_[site.module.index()].push_back({i});
    }
    for (auto& sites : by_module_)
      std::sort(sites.begin(), sites.end(), [&](SiteId a, SiteId b) {
        return profile_.sites[a.index()].vaddr < profile_.sites[b.index()].vaddr;
      });
  }

  void make_jobs() {
    for (uint32_t m = 0; m < by_module_.size(); ++m) {
      std::vector<SiteId>& sites = by_module_[m];
      if (sites.empty()) continue;
      if (profile_.modules[m].anonymous) {
        anonymous_.emplace_back(ModuleId{m}, std::move(sites));
        continue;
      }
      size_t parts = std::clamp<size_t>(sites.size() / kSitesWorthAThread, 1, thread_count(options_));
      for (size_t part = 0; part < parts; ++part)
        add_job({m}, std::span(sites).subspan(sites.size() * part / parts, sites.size() * (part + 1) / parts -
                                                                               sites.size() * part / parts));
    }
  }

  void add_job(ModuleId module, std::span<const SiteId> sites) {
    Job job{module, {}, {sites.begin(), sites.end()}, {}};
    for (SiteId site : sites) job.vaddrs.push_back(profile_.sites[site.index()].vaddr.value);
    jobs_.push_back(std::move(job));
  }

  void work() {
    std::vector<Job*> order;
    for (Job& job : jobs_) order.push_back(&job);
    std::stable_sort(order.begin(), order.end(),
                     [](Job* a, Job* b) { return a->sites.size() > b->sites.size(); });
    std::vector<uint64_t> code_start = code_starts();
    for (Job& job : jobs_) total_ += job.sites.size();
    std::atomic<size_t> next = 0;
    auto take = [&] {
      for (size_t i; (i = next++) < order.size();) {
        Job& job = *order[i];
        const load::Module& module = profile_.modules[job.module.index()];
        Debuginfod* server = options_.debuginfod ? &server_ : nullptr;
        auto opened = opened_.take(profile_, job.module, options_, server);
        job.names = name_module(*opened, module, code_start[job.module.index()], job.vaddrs, options_.lines);
        opened_.give_back(job.module, std::move(opened));
        finished(job, module.path);
      }
    };
    std::vector<std::jthread> workers;
    for (size_t i = 0; i < std::min<size_t>(thread_count(options_), order.size()); ++i)
      load::start_thread(workers, take);
    if (workers.empty()) take();
    tell_until_done(order.size());
  }

  void finished(const Job& job, std::string_view module) {
    std::lock_guard lock(progress_mutex_);
    done_ += job.sites.size();
    ++jobs_done_;
    last_module_ = module;
    changed_.notify_one();
  }

  /// Tells at every change, and while nothing changes often enough that whoever listens can show that time
  /// passes.
  void tell_until_done(size_t jobs) {
    constexpr std::chrono::milliseconds kBeat(100);
    std::unique_lock lock(progress_mutex_);
    for (size_t told = 0; told < jobs;) {
      changed_.wait_for(lock, kBeat, [&] { return jobs_done_ != told; });
      told = jobs_done_;
      ResolveProgress now{done_, total_, last_module_};
      if (!progress_) continue;
      lock.unlock();
      progress_(now);
      lock.lock();
    }
  }

  /// Lowest vaddr of each module's code, for modules whose file is gone.
  std::vector<uint64_t> code_starts() const {
    std::vector<uint64_t> starts(profile_.modules.size(), UINT64_MAX);
    for (const load::Mapping& mapping : profile_.mappings)
      for (const load::AddressRange& range : mapping.code)
        if (mapping.module.index() < starts.size()) {
          uint64_t& start = starts[mapping.module.index()];
          start = std::min(start, range.begin.value - mapping.bias);
        }
    return starts;
  }

  void merge(const Job& job) {
    const ModuleNames& names = job.names;
    std::vector<FunctionId> functions;
    for (const NamedFunction& function : names.functions)
      functions.push_back(builder_.function(job.module, function));
    std::vector<StringId> files;
    for (uint32_t i = 0; i < names.files.size(); ++i)
      files.push_back(builder_.strings().intern(names.files.text({i})));
    for (size_t i = 0; i < job.sites.size(); ++i) {
      std::vector<Frame> frames;
      for (uint32_t row = names.first[i]; row < names.first[i + 1]; ++row) {
        const NamedFrame& frame = names.frames[row];
        StringId file = frame.file.valid() ? files[frame.file.index()] : StringId{0};
        frames.push_back({functions[frame.function], file, frame.line, row + 1 < names.first[i + 1]});
      }
      builder_.frames(job.sites[i], std::move(frames));
    }
    if (job.module != last_quality_)
      builder_.quality({job.module, names.has_symtab, names.has_dwarf, names.note});
    last_quality_ = job.module;
  }

  const load::Process* process_of(ModuleId module) const {
    ProcessId process = profile_.modules[module.index()].process;
    const bool known = process.valid() && process.index() < profile_.processes.size();
    return known ? &profile_.processes[process.index()] : nullptr;
  }

  /// Whose map has the names of an anonymous module.
  std::pair<std::string_view, int32_t> map_of(ModuleId module) const {
    const load::Process* process = process_of(module);
    return process ? std::pair<std::string_view, int32_t>(process->host, process->pid)
                   : std::pair<std::string_view, int32_t>("", 0);
  }

  const JitNames& jit_names(ModuleId module) {
    const load::Process* process = process_of(module);
    if (!jit_names_ || jit_names_of_ != map_of(module))
      jit_names_ = process ? find_jit_names(profile_, *process) : JitNames();
    jit_names_of_ = map_of(module);
    return *jit_names_;
  }

  void name_anonymous(ModuleId module, const std::vector<SiteId>& sites) {
    const JitNames& names = jit_names(module);
    // By the place of their names: long ones are looked at once, at the lowest address.
    std::unordered_map<const char*, Frame> named;
    for (SiteId site : sites) {
      Address address = profile_.sites[site.index()].vaddr;
      const JitSymbol* symbol = names.map ? names.map->find(address) : nullptr;
      if (!symbol) {
        name_unknown_code(module, site);
        continue;
      }
      const auto [known, fresh] = named.try_emplace(symbol->name.data());
      if (fresh) known->second = jit_frame(module, *symbol);
      builder_.frames(site, {known->second});
    }
    builder_.quality({module, names.map.has_value(), false, names.note});
  }

  Frame jit_frame(ModuleId module, const JitSymbol& symbol) {
    JitName name = parse_jit_name(symbol.name);
    NamedFunction function;
    function.identity = std::string(symbol.name);  // compiled again elsewhere, it is the same function
    function.linkage = std::string(symbol.name);
    function.name = name.function;
    function.short_form = name.function;
    function.file = name.file;
    function.line = name.line;
    function.low = symbol.start;
    function.size = symbol.end - symbol.start;
    function.source = NameSource::kJit;
    FunctionId id = builder_.function(module, function);
    return {id, builder_.strings().intern(name.file), name.line, false};
  }

  void name_unknown_code(ModuleId module, SiteId site) {
    NamedFunction function;
    function.identity = function.name = function.short_form = "[unknown code]";
    builder_.frames(site, {{builder_.function(module, function), StringId{0}, 0, false}});
  }

  void name_special(SiteId site) {
    NamedFunction function;
    function.name = special_name(profile_.sites[site.index()].kind());
    function.identity = function.short_form = function.name;
    function.source = NameSource::kSpecial;
    builder_.frames(site, {{builder_.function(ModuleId::none(), function), StringId{0}, 0, false}});
  }

  const load::Profile& profile_;
  const std::vector<bool>& wanted_;
  const ResolveOptions& options_;
  const ProgressCallback& progress_;
  OpenedModules none_{0};
  OpenedModules& opened_;
  Debuginfod server_;
  TableBuilder builder_;
  std::vector<std::vector<SiteId>> by_module_;
  std::vector<std::pair<ModuleId, std::vector<SiteId>>> anonymous_;
  std::optional<JitNames> jit_names_;  // the last ones: a map may be large
  std::pair<std::string_view, int32_t> jit_names_of_;
  std::vector<SiteId> special_;
  std::vector<Job> jobs_;
  ModuleId last_quality_;
  std::mutex progress_mutex_;
  std::condition_variable changed_;
  size_t done_ = 0, total_ = 0, jobs_done_ = 0;
  std::string_view last_module_;  // of the profile
};

}  // namespace

SymbolTable resolve(const load::Profile& profile, const ResolveOptions& options,
                    const ProgressCallback& progress, OpenedModules* kept) {
  return resolve_some(profile, std::vector<bool>(profile.sites.size(), true), options, progress, kept);
}

SymbolTable resolve_some(const load::Profile& profile, const std::vector<bool>& wanted,
                         const ResolveOptions& options, const ProgressCallback& progress,
                         OpenedModules* kept) {
  return Resolver(profile, wanted, options, progress, kept).run();
}

}  // namespace varve::symbol

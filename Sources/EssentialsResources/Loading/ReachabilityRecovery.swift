import EssentialsHTTP
import EssentialsReachability
import EssentialsTools

/// Loads observed resources again when a server has become reachable, and pauses regular loads while it is not.
///
/// It loads the resources whose last load failed because of the network. Four loads run at a time, and they begin at
/// random times within two seconds, so that a program with many resources, or many programs with few, do not load all
/// at once. Regular loads resume at the same random times. The writes that are attached to the service are sent first.
final class ReachabilityRecovery: Sendable {
    private struct State {
        var observation: ReachabilityObservation?
        /// The last status; `nil` before the first one.
        var isReachable: Bool?
        var task: Task<Void, Never>?
        var isStopped = false
    }

    /// The maximum number of loads that run at the same time.
    static let maximumLoads = 4
    /// The time over which the loads begin.
    static let spread = Duration.seconds(2)

    private let polling: PollingTimer
    private let table: ResourceTable
    private let attachedWrites: AttachedWrites
    private let state = Mutex(State())

    init(_ polling: PollingTimer, _ table: ResourceTable, _ attachedWrites: AttachedWrites) {
        (self.polling, self.table, self.attachedWrites) = (polling, table, attachedWrites)
    }

    /// Begins to follow a reachability service.
    func follow(_ reachability: any ReachabilityService) {
        let observation = reachability.observe { [self] status in update(status.isReachable()) }
        let isLate = state.withLock { state in
            if !state.isStopped { state.observation = observation }
            return state.isStopped
        }
        if isLate { observation.cancel() }
    }

    /// Ends everything, because the service was closed or released.
    func stop() {
        let (observation, task) = state.withLock { state in
            state.isStopped = true
            return (state.observation.take(), state.task.take())
        }
        observation?.cancel()
        task?.cancel()
    }

    /// Records a status. The reachability service does not call this function twice at the same time.
    private func update(_ isReachable: Bool) {
        let (last, ended) = state.withLock { state -> (Bool?, Task<Void, Never>?) in
            let last = state.isReachable
            state.isReachable = isReachable
            return (last, isReachable ? nil : state.task.take())
        }
        ended?.cancel()
        guard (last ?? true) != isReachable else { return }
        polling.isReachable = isReachable
        guard isReachable else {
            for core in table.cores { core.note(isReachable: false) }
            return
        }
        state.withLock { state in
            if !state.isStopped { state.task = .counted { await self.recover() } }
        }
    }

    private func recover() async {
        let clock = polling.clock
        await attachedWrites.send(clock)
        guard !Task.isCancelled else { return }
        let start = clock.now
        let turns = table.cores.filter(\.waitsForReachability)
            .map { (core: $0, time: start + clock.random(in: .zero...Self.spread)) }
            .sorted { $0.time < $1.time }
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for (core, time) in turns {
                do { try await clock.sleep(until: time) } catch { return }
                if running == Self.maximumLoads {
                    await group.next()
                    running -= 1
                }
                guard !Task.isCancelled, let service = polling.service else { return }
                guard let run = service.loadReachable(core) else { continue }
                running += 1
                group.addTask { _ = await run.outcome() }
            }
        }
    }
}

extension HTTPResourceService {
    /// Loads a resource whose server is reachable again, if the network caused its last failure, and resumes its
    /// regular loads.
    ///
    /// - Returns: The running load; `nil` if there is none.
    fileprivate func loadReachable(_ known: ResourceCore) -> Load? {
        let environment = adoptEnvironment()
        let core = known.current
        let options = LoadOptions(backgroundOf: core, validates: false, self, in: environment)
        guard let load = core.beginReachableLoad(options, self) else { return core.newestLoad }
        load.start()
        return load
    }
}

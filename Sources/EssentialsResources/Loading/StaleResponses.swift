import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// The tasks that wait until a response cache replaces a stale response that a resource shows.
///
/// Each task holds its resource and the service, at most for ``patience``.
final class StaleResponses: Sendable {
    /// How long a response cache may take to validate a response in the background.
    static let patience = Duration.seconds(30)
    /// The maximum number of tasks. Beyond it, only the next load replaces a stale response.
    static let maximum = 1_024

    private struct State {
        var tasks: [ObjectIdentifier: (number: UInt64, task: Task<Void, Never>)] = [:]
        var last: UInt64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// The number of tasks.
    var count: Int { state.withLock { $0.tasks.count } }

    /// Starts a task for a resource, in place of its previous task.
    func add(_ core: ResourceCore, _ work: @escaping @Sendable () async -> Void) {
        let id = ObjectIdentifier(core)
        let replaced = state.withLock { state -> Task<Void, Never>? in
            guard !state.isClosed, state.tasks[id] != nil || state.tasks.count < Self.maximum else { return nil }
            state.last += 1
            let number = state.last
            let task = Task.counted {
                await work()
                self.remove(id, number)
            }
            return state.tasks.updateValue((number, task), forKey: id)?.task
        }
        replaced?.cancel()
    }

    private func remove(_ id: ObjectIdentifier, _ number: UInt64) {
        let removed = state.withLock { state in
            state.tasks[id]?.number == number ? state.tasks.removeValue(forKey: id) : nil
        }
        _ = consume removed
    }

    /// Ends all tasks, because the service was closed.
    func endAll() {
        let ended = state.withLock { state in
            state.isClosed = true
            defer { state.tasks = [:] }
            return state.tasks.values.map(\.task)
        }
        for task in ended { task.cancel() }
    }
}

extension HTTPResourceService {
    /// Shows the response with which the response cache replaces a stale one, unless the content changes before that.
    ///
    /// - Parameters:
    ///   - number: The number of the load that showed the stale response.
    ///   - load: The number that the cache has given to the stale response.
    func followUpdate(
        of core: ResourceCore, since number: UInt64, after load: UInt64, in environment: AdoptedEnvironment
    ) {
        guard let cache = responseCache(of: core), let url = try? table.base.requestURL(of: core.address) else {
            return
        }
        let updates = cache.updates(of: url, after: load)
        staleResponses.add(core) { [self] in
            await withTaskGroup { group in
                group.addTask { [self] in
                    for await response in updates where (200...299).contains(response.status.code) {
                        return await show(response, of: core, since: number, in: environment)
                    }
                }
                group.addTask { [clock] in try? await clock.sleep(for: StaleResponses.patience) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    private func show(
        _ response: DataResponse, of core: ResourceCore, since number: UInt64, in environment: AdoptedEnvironment
    ) async {
        guard !environment.hasEnded else { return }
        let configuration = effective(for: core)
        let places = cachePlaces(of: core, configuration, in: environment)
        let known = core.knownContent(hasResponseCache: true)?.body
        let exchange = ResourceExchange(
            service: self, core: core, environment: environment, configuration: configuration)
        // A response that cannot be read changes nothing. The next load reports the failure.
        guard let reply = try? await exchange.reply(with: response, knownBody: known, caches: places?.caches ?? [])
        else { return }
        adoptEnvironment()
        switch reply {
        case .loaded(let result):
            let loaded = LoadedResponse(result, configuration.freshness, self)
            core.commit(loaded, isOwn: true, places?.changes(for: loaded, self), .update(since: number), self)
        case .notModified(let confirmation):
            core.confirm(confirmation, configuration.freshness, places, .update(since: number), self)
        }
    }
}

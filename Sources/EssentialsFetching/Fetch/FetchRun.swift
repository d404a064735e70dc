import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// Performs a fetch for one iteration: it takes the steps that ``FetchMachine`` returns, and returns the values.
///
/// If only the cache or only the server is needed, it is called in the task of the iteration. If both are needed at
/// once, each of them has a task, which is cancelled with this object.
final class FetchRun: EmissionRun {
    private enum Reply: Sendable {
        case cache(FetchEmission?)
        case server(ServedModel)
    }

    private typealias Replies = Mailbox<BoundedQueue<Reply>>

    private let fetch: any FetchWork
    private let isShared: Bool
    private var machine: FetchMachine
    private var steps: FetchMachine.Steps = []
    private(set) var operation: FetchOperation?
    private var cached: FetchEmission?
    private var served: ServedModel?
    private var failure: RequestFailure?
    /// The replies of the tasks in the order of their arrival, if there are tasks.
    private var replies: Replies?
    private var serverTask: Task<Void, Never>?
    private var cacheTask: Task<Void, Never>?

    init(_ fetch: any FetchWork, isShared: Bool) {
        (self.fetch, self.isShared) = (fetch, isShared)
        machine = FetchMachine(fetch.source, fetch.options, hasCache: fetch.hasCache)
    }

    deinit {
        cancelTasks()
        // The loop was left after a value of the server, which is stored nevertheless.
        if !steps.isDisjoint(with: Self.changes), let change = change() { Task { await change() } }
    }

    func next() async throws(RequestFailure) -> FetchEmission? {
        if operation == nil {
            operation = fetch.beginOperation()
            steps = machine.begin()
        }
        if Task.isCancelled, !machine.hasEnded { leave() }
        while true {
            if !steps.isDisjoint(with: Self.emissions), let emission = emission() { return emission }
            if !steps.isDisjoint(with: Self.changes), let change = change() { await Self.perform(change) }
            if !steps.isDisjoint(with: [.end, .fail]) { return try end() }
            await ask()
        }
    }

    // MARK: Steps

    private static var emissions: FetchMachine.Steps { [.emitCached, .emitCachedWithFailure, .emitServed] }
    private static var changes: FetchMachine.Steps { [.save, .delete] }

    /// The next value to emit. A value of the server is stored when the next value is requested.
    private func emission() -> FetchEmission? {
        if !steps.isDisjoint(with: [.emitCached, .emitCachedWithFailure]) {
            if steps.contains(.emitCachedWithFailure) { cached?.failure = failure }
            steps.subtract([.emitCached, .emitCachedWithFailure])
            return cached
        }
        steps.remove(.emitServed)
        return switch served {
        case .value(let emission, _), .nothing(let emission): emission
        case .empty, .gone, .failure, nil: nil
        }
    }

    /// The change of the cache that comes next.
    private func change() -> (@Sendable () async -> Void)? {
        let isSave = steps.contains(.save)
        steps.subtract(Self.changes)
        guard let operation else { return nil }
        guard isSave else { return { [fetch] in await fetch.delete(in: operation) } }
        guard case .value(let emission, let storage)? = served else { return nil }
        return { [fetch] in await fetch.save(emission, storage, in: operation) }
    }

    /// Performs a change in a separate task, so that a cancelled iteration loses no value and does not wait.
    private static func perform(_ change: @escaping @Sendable () async -> Void) async {
        let end = OneShot<Void>()
        // Most caches reply without switching to another thread.
        Task.immediate {
            await change()
            end.provide(())
        }
        await end.valueUnlessCancelled()
    }

    private func end() throws(RequestFailure) -> FetchEmission? {
        let failure = steps.contains(.fail) ? failure : nil
        steps = .end
        if let failure { throw failure }
        return nil
    }

    private func leave() {
        cancelTasks()
        failure = RequestFailure(.cancelled, "The fetch was cancelled.")
        steps = machine.leave()
    }

    // MARK: Calling the cache and the server

    /// Calls the cache or the server, or waits for their replies, until there are further steps.
    private func ask() async {
        let asked = steps.intersection([.askServer, .askCache])
        steps.subtract(asked)
        if let operation {
            switch asked {
            case .askServer: return received(await fetch.serve(in: operation, isShared: isShared))
            case .askCache: return received(await fetch.load(in: operation))
            case []: break
            default: askBoth(in: operation)
            }
        }
        // A reply that has already arrived counts even in a cancelled task.
        let arrived = replies?.change { $0.take() }
        switch arrived == nil ? await replies?.next() : arrived {
        case .cache(let model): received(model)
        case .server(let served): received(served)
        case nil: leave()
        }
    }

    private func received(_ served: ServedModel) {
        self.served = served
        failure = served.failure
        steps = machine.server(served.reply)
    }

    private func received(_ loaded: FetchEmission?) {
        // A cancelled cache may return nothing or throw, which does not count as a miss.
        guard !Task.isCancelled else { return leave() }
        cached = loaded
        steps = machine.cache(loaded.map { .hit(age: $0.age) } ?? .miss)
    }

    /// Calls the cache and the server, each in a task that begins now.
    private func askBoth(in operation: FetchOperation) {
        let replies = Replies(BoundedQueue(limit: 2, .dropsNewest))
        self.replies = replies
        // A cache in memory replies at once. Its value therefore comes first if the first value is wanted.
        let isRace = fetch.source == .both
        if isRace { cacheTask = Self.load(fetch, operation, into: replies) }
        serverTask = Task.immediate { [fetch, isShared] in
            replies.put(.server(await fetch.serve(in: operation, isShared: isShared)))
        }
        if !isRace { cacheTask = Self.load(fetch, operation, into: replies) }
    }

    private static func load(
        _ fetch: any FetchWork, _ operation: FetchOperation, into replies: Replies
    ) -> Task<Void, Never> {
        Task.immediate { _ = replies.put(.cache(await fetch.load(in: operation))) }
    }

    private func cancelTasks() {
        serverTask?.cancel()
        cacheTask?.cancel()
    }
}

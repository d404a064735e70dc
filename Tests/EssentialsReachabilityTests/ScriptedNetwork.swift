import EssentialsTools

@testable import EssentialsReachability

/// A network that a test controls: the statuses of addresses, and events that report changes.
final class ScriptedNetwork: NetworkEvents, RouteLookup {
    private struct State {
        var status: ReachabilityStatus
        var statuses: [NetworkAddress: ReachabilityStatus] = [:]
        var changes: [NetworkChange] = []
        var lookups: [[NetworkAddress]] = []
        var closeCount = 0
    }

    private let state: Mutex<State>
    private let channel: WakeChannel

    /// Creates a network in which all addresses have this status.
    init(_ status: ReachabilityStatus) throws {
        state = Mutex(State(status: status))
        channel = try WakeChannel()
    }

    /// The number of `close` calls: one for the events, and one for the routes.
    var closeCount: Int { state.withLock { $0.closeCount } }
    var lookups: [[NetworkAddress]] { state.withLock { $0.lookups } }

    func change(to status: ReachabilityStatus, of address: NetworkAddress? = nil) {
        state.withLock { state in
            if let address { state.statuses[address] = status } else { state.status = status }
        }
        tell(.changed)
    }

    func tell(_ change: NetworkChange) {
        state.withLock { state in
            guard state.closeCount == 0 else { return }
            state.changes.append(change)
            channel.signal()
        }
    }

    // MARK: For the tracker

    var descriptor: Int32 { channel.descriptor }

    func drain() -> NetworkChange {
        channel.drain()
        return state.withLock { state in
            defer { state.changes = [] }
            return state.changes.contains(.lost) ? .lost : state.changes.last ?? .none
        }
    }

    func statuses(of addresses: [NetworkAddress]) -> [ReachabilityStatus] {
        state.withLock { state in
            state.lookups.append(addresses)
            return addresses.map { state.statuses[$0] ?? state.status }
        }
    }

    func close() {
        let isFirst = state.withLock { state in
            state.closeCount += 1
            return state.closeCount == 1
        }
        if isFirst { channel.close() }
    }
}

/// Returns results in the order in which they were given. Without one it waits for the next.
actor ScriptedResolver: AddressResolver {
    private struct Failed: Error {}

    private var answers: [[NetworkAddress]?]
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private(set) var names: [String] = []

    init(_ answers: [[NetworkAddress]?] = []) { self.answers = answers }

    /// Adds a result; `nil` is a failure.
    func answer(_ addresses: [NetworkAddress]?) {
        answers.append(addresses)
        if !waiting.isEmpty { waiting.removeFirst().resume() }
    }

    func addresses(of name: String) async throws -> [NetworkAddress] {
        names.append(name)
        while answers.isEmpty { await withCheckedContinuation { waiting.append($0) } }
        guard let answer = answers.removeFirst() else { throw Failed() }
        return answer
    }
}

/// The system's clock, which reports its sleeps.
struct WatchedClock: Clock {
    private let system = ContinuousClock()
    private let report: AsyncStream<String>.Continuation
    let sleeps: AsyncStream<String>

    init() { (sleeps, report) = AsyncStream.makeStream() }

    var now: ContinuousClock.Instant { system.now }
    var minimumResolution: Duration { system.minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        report.yield("begins")
        do {
            try await system.sleep(until: deadline, tolerance: tolerance)
            report.yield("ends")
        } catch {
            report.yield("is cancelled")
            throw error
        }
    }
}

/// A clock that stands still until a test advances it.
final class StandingClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var lastNumber = 0
        var sleepers: [Int: Sleeper] = [:]
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func takeWatchers() -> [CheckedContinuation<Void, Never>] {
            let count = sleepers.count
            defer { watchers.removeAll { $0.count == count } }
            return watchers.filter { $0.count == count }.map(\.continuation)
        }
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try Task.checkCancellation()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isDone, watchers) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
                    guard !Task.isCancelled, deadline > state.now else { return (true, []) }
                    state.sleepers[number] = Sleeper(deadline: deadline, continuation: continuation)
                    return (false, state.takeWatchers())
                }
                if isDone { continuation.resume() }
                for watcher in watchers { watcher.resume() }
            }
            try Task.checkCancellation()
        } onCancel: {
            let (sleeper, watchers) = state.withLock { state in
                (state.sleepers.removeValue(forKey: number), state.takeWatchers())
            }
            sleeper?.continuation.resume(throwing: CancellationError())
            for watcher in watchers { watcher.resume() }
        }
    }

    /// Waits until a number of tasks sleep.
    func waitForSleepers(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.sleepers.count != count { state.watchers.append((count, continuation)) }
                return state.sleepers.count == count
            }
            if isDone { continuation.resume() }
        }
    }

    func advance(by duration: Duration) {
        let (done, watchers) = state.withLock { state in
            state.now.offset += duration
            let done = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in done.keys { state.sleepers[number] = nil }
            return (done.values.map(\.continuation), state.takeWatchers())
        }
        for continuation in done { continuation.resume() }
        for watcher in watchers { watcher.resume() }
    }
}

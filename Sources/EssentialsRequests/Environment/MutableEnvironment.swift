public import EssentialsHTTP
import EssentialsTools

/// An environment that the application changes while it runs.
///
/// ```swift
/// let environment = try MutableEnvironment("https://api.example.com/v1/")
/// try environment.set(baseURL: "https://backup.example.com/v1/")
/// ```
///
/// Requests that are submitted after a change use the new environment. The service's `onEnvironmentChange` decides what
/// happens to running requests. If all environments are known in advance, use ``SwitchableEnvironment``, which selects
/// one by its name. The environment can be used from any thread.
public final class MutableEnvironment: EnvironmentService {
    private struct State {
        var current: EnvironmentSnapshot
        var observers: [UInt64: AsyncStream<EnvironmentSnapshot>.Continuation] = [:]
        var nextObserver: UInt64 = 0
    }

    private let state: Mutex<State>
    /// The number of changes. It is stored only under the lock of the state, so that it never belongs to another snapshot
    /// than the one that the lock protects.
    private let changeCount = Atomic<UInt64>(0)

    /// Creates an environment with its initial values.
    public init(_ snapshot: EnvironmentSnapshot) { state = Mutex(State(current: snapshot)) }

    /// Creates an environment with its initial base URL.
    ///
    /// - Throws: `invalidRequest` if the URL is invalid.
    public convenience init(
        _ baseURL: String, name: String = "", headerFields: HTTPFields = [:], trust: TrustPolicy? = nil
    ) throws(RequestFailure) {
        self.init(try ConstantEnvironment(baseURL, name: name, headerFields: headerFields, trust: trust).snapshot)
    }

    deinit { for observer in state.withLock({ $0.observers.values }) { observer.finish() } }

    /// Changes the base URL and keeps the name, the header fields and the trust policy.
    ///
    /// Observers are notified if the new URL differs from the current one.
    ///
    /// - Throws: `invalidRequest` if the URL is invalid.
    public func set(baseURL: String) throws(RequestFailure) {
        let url = try RequestURL(baseURL)
        change { $0.baseURL = url }
    }

    /// Replaces the environment, and notifies observers if the new one differs from the current one.
    public func set(_ snapshot: EnvironmentSnapshot) { change { $0 = snapshot } }

    private func change(_ change: (inout EnvironmentSnapshot) -> Void) {
        state.withLock { state in
            var changed = state.current
            change(&changed)
            guard state.current != changed else { return }
            state.current = changed
            // After the snapshot: whoever reads this version finds this snapshot or a later one.
            changeCount.add(1, ordering: .releasing)
            // Under the lock, so that concurrent changes arrive in the order in which they took effect.
            for observer in state.observers.values { observer.yield(changed) }
        }
    }

    /// The current environment.
    public var snapshot: EnvironmentSnapshot { state.withLock { $0.current } }
    /// The current base URL.
    public var baseURL: RequestURL { snapshot.baseURL }
    /// The current name.
    public var name: String { snapshot.name }
    /// The current header fields.
    public var headerFields: HTTPFields { snapshot.headerFields }
    /// The current trust policy.
    public var trust: TrustPolicy? { snapshot.trust }
    /// How requests to the current environment are sent.
    public var settings: RequestSettings { snapshot.settings }
    /// The number of changes so far; see the protocol. Replacing the environment by an equal one is no change.
    public var version: UInt64? { changeCount.load(ordering: .acquiring) }

    /// A new stream of all later environments; see the protocol.
    public var changes: AsyncStream<EnvironmentSnapshot> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: EnvironmentSnapshot.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.nextObserver += 1
            state.observers[state.nextObserver] = continuation
            return state.nextObserver
        }
        continuation.onTermination = { [weak self] _ in self?.forget(number) }
        return stream
    }

    private func forget(_ observer: UInt64) {
        // Released outside the lock, because the end of a continuation calls `onTermination`.
        _ = state.withLock { $0.observers.removeValue(forKey: observer) }
    }
}

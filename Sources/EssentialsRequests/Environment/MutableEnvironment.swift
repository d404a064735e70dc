public import EssentialsHTTP
import Synchronization

/// An environment that the application changes while it runs.
///
/// ```swift
/// let environment = try MutableEnvironment("https://api.example.com/v1/")
/// try environment.set(baseURL: "https://backup.example.com/v1/")
/// ```
///
/// Requests that are submitted after a change use the new environment. The service's `onEnvironmentChange` decides what
/// becomes of those that run. Where all environments are known beforehand, ``SwitchableEnvironment`` selects one by its
/// name. Callable from any thread.
public final class MutableEnvironment: EnvironmentService {
    private struct State {
        var current: EnvironmentSnapshot
        var observers: [UInt64: AsyncStream<EnvironmentSnapshot>.Continuation] = [:]
        var nextObserver: UInt64 = 0
    }

    private let state: Mutex<State>

    /// Makes an environment with its first values.
    public init(_ snapshot: EnvironmentSnapshot) { state = Mutex(State(current: snapshot)) }

    /// Makes an environment from its first base URL.
    ///
    /// - Throws: `invalidRequest` with what is wrong about the URL.
    public convenience init(
        _ baseURL: String, name: String = "", headerFields: HTTPFields = [:], trust: TrustPolicy? = nil
    ) throws(RequestFailure) {
        self.init(try ConstantEnvironment(baseURL, name: name, headerFields: headerFields, trust: trust).snapshot)
    }

    deinit { for observer in state.withLock({ $0.observers.values }) { observer.finish() } }

    /// Puts another base URL in force. Name, header fields and trust policy stay.
    ///
    /// Observers are notified if the URL differs from the one in force.
    ///
    /// - Throws: `invalidRequest` with what is wrong about the URL.
    public func set(baseURL: String) throws(RequestFailure) {
        let url = try RequestURL(baseURL)
        change { $0.baseURL = url }
    }

    /// Puts another environment in force, and notifies observers if it differs from the one before.
    public func set(_ snapshot: EnvironmentSnapshot) { change { $0 = snapshot } }

    private func change(_ change: (inout EnvironmentSnapshot) -> Void) {
        state.withLock { state in
            var changed = state.current
            change(&changed)
            guard state.current != changed else { return }
            state.current = changed
            // Under the lock, so that two changes at once arrive in the order in which they took effect.
            for observer in state.observers.values { observer.yield(changed) }
        }
    }

    /// The environment in force.
    public var snapshot: EnvironmentSnapshot { state.withLock { $0.current } }
    /// The base URL in force.
    public var baseURL: RequestURL { snapshot.baseURL }
    /// The name in force.
    public var name: String { snapshot.name }
    /// The header fields in force.
    public var headerFields: HTTPFields { snapshot.headerFields }
    /// The trust policy in force.
    public var trust: TrustPolicy? { snapshot.trust }

    /// The environments that come into force from now on; see the protocol.
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
        // Freed outside of the lock: a continuation's end calls back.
        _ = state.withLock { $0.observers.removeValue(forKey: observer) }
    }
}

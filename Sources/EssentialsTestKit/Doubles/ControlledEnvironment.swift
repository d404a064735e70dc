public import EssentialsHTTP
public import EssentialsRequests
import Synchronization

/// An environment that is what a test tells it.
///
/// ```swift
/// let environment = try ControlledEnvironment("https://api.test/v1/")
/// try environment.set(baseURL: server.url)
/// ```
public final class ControlledEnvironment: EnvironmentService {
    private struct State {
        var snapshot: EnvironmentSnapshot
        var observers: [AsyncStream<EnvironmentSnapshot>.Continuation] = []
    }

    private let state: Mutex<State>

    /// Makes one with its first environment.
    public init(_ snapshot: EnvironmentSnapshot) { state = Mutex(State(snapshot: snapshot)) }

    /// Makes one with its first base URL.
    ///
    /// - Throws: `invalidRequest` with what is wrong about the URL.
    public convenience init(_ baseURL: String) throws(RequestFailure) {
        self.init(EnvironmentSnapshot(baseURL: try RequestURL(baseURL)))
    }

    deinit { for observer in state.withLock({ $0.observers }) { observer.finish() } }

    /// Puts another environment in force, and tells all observers.
    public func set(_ snapshot: EnvironmentSnapshot) {
        state.withLock { state in
            state.snapshot = snapshot
            for observer in state.observers { observer.yield(snapshot) }
        }
    }

    /// Puts another base URL in force.
    ///
    /// - Throws: `invalidRequest` with what is wrong about the URL.
    public func set(baseURL: String) throws(RequestFailure) {
        var changed = snapshot
        changed.baseURL = try RequestURL(baseURL)
        set(changed)
    }

    /// The environment that was set last.
    public var snapshot: EnvironmentSnapshot { state.withLock { $0.snapshot } }
    /// Its base URL.
    public var baseURL: RequestURL { snapshot.baseURL }
    /// Its name.
    public var name: String { snapshot.name }
    /// Its fields.
    public var headerFields: HTTPFields { snapshot.headerFields }
    /// Its policy.
    public var trust: TrustPolicy? { snapshot.trust }

    /// What is set from now on; see the protocol.
    public var changes: AsyncStream<EnvironmentSnapshot> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: EnvironmentSnapshot.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.observers.append(continuation) }
        return stream
    }
}

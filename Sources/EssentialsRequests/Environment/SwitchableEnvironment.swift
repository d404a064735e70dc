public import EssentialsHTTP

/// A set of named environments, one of which is selected at a time.
///
/// ```swift
/// let environment = try SwitchableEnvironment(
///     [
///         EnvironmentSnapshot(name: "production", baseURL: RequestURL("https://api.example.com/v1/")),
///         EnvironmentSnapshot(name: "staging", baseURL: RequestURL("https://staging.example.com/v1/")),
///     ])
/// try environment.select("staging")
/// ```
///
/// The service's `onEnvironmentChange` decides what happens to running requests after a switch. If the URLs are not
/// known in advance, use ``MutableEnvironment``. The environment can be used from any thread.
public final class SwitchableEnvironment: EnvironmentService {
    /// The environments that can be selected, in the order of the initialiser.
    public let environments: [EnvironmentSnapshot]
    private let current: MutableEnvironment

    /// Creates an environment from a list.
    ///
    /// - Parameters:
    ///   - environments: At least one environment. Each needs a different name.
    ///   - current: The name of the environment to select. The default is `nil`, which means the first one.
    /// - Throws: `invalidRequest` if the list is empty, if two environments have the same name, or if none has the name
    ///   `current`.
    public init(_ environments: [EnvironmentSnapshot], current: String? = nil) throws(RequestFailure) {
        guard let first = environments.first else {
            throw RequestFailure(.invalidRequest, "There is no environment to select.", remedy: "Provide at least one.")
        }
        var names: Set<String> = []
        for environment in environments where !names.insert(environment.name).inserted {
            throw RequestFailure(
                .invalidRequest, "Two environments have the name “\(environment.name)”.",
                remedy: "Give each environment a different name.")
        }
        self.environments = environments
        let selected = try current.map { name throws(RequestFailure) in try Self.find(name, in: environments) }
        self.current = MutableEnvironment(selected ?? first)
    }

    /// Selects the environment for all requests that are submitted from now on.
    ///
    /// - Throws: `invalidRequest` with the list of known names if no environment has this name.
    public func select(_ name: String) throws(RequestFailure) {
        current.set(try Self.find(name, in: environments))
    }

    /// The current environment.
    public var snapshot: EnvironmentSnapshot { current.snapshot }
    /// The base URL of the current environment.
    public var baseURL: RequestURL { snapshot.baseURL }
    /// The name of the current environment.
    public var name: String { snapshot.name }
    /// The header fields of the current environment.
    public var headerFields: HTTPFields { snapshot.headerFields }
    /// The trust policy of the current environment.
    public var trust: TrustPolicy? { snapshot.trust }
    /// How requests to the current environment are sent.
    public var settings: RequestSettings { snapshot.settings }
    /// The number of switches so far; see the protocol. Selecting the current environment again is no switch.
    public var version: UInt64? { current.version }

    /// A new stream of all later environments; see the protocol.
    public var changes: AsyncStream<EnvironmentSnapshot> { current.changes }

    private static func find(
        _ name: String, in environments: [EnvironmentSnapshot]
    ) throws(RequestFailure) -> EnvironmentSnapshot {
        if let found = environments.first(where: { $0.name == name }) { return found }
        let names = environments.map { "“\($0.name)”" }.joined(separator: ", ")
        throw RequestFailure(
            .invalidRequest, "There is no environment called “\(name)”.", remedy: "Name one of \(names).")
    }
}

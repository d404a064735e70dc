public import EssentialsHTTP

/// One of several named environments at a time.
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
/// The service's `onEnvironmentChange` decides what a switch does to requests that run. If the URLs are not known in
/// advance, use ``MutableEnvironment``. Callable from any thread.
public final class SwitchableEnvironment: EnvironmentService {
    /// What can be selected, in the order in which it was given.
    public let environments: [EnvironmentSnapshot]
    private let current: MutableEnvironment

    /// Makes an environment from those that can be selected.
    ///
    /// - Parameters:
    ///   - environments: At least one, each with another name.
    ///   - current: The name of the one in force; the first when nil.
    /// - Throws: `invalidRequest` when there is none, two have one name, or none is called `current`.
    public init(_ environments: [EnvironmentSnapshot], current: String? = nil) throws(RequestFailure) {
        guard let first = environments.first else {
            throw RequestFailure(.invalidRequest, "There is no environment to select.", remedy: "Give at least one.")
        }
        var names: Set<String> = []
        for environment in environments where !names.insert(environment.name).inserted {
            throw RequestFailure(
                .invalidRequest, "Two environments are called “\(environment.name)”.",
                remedy: "Give each a name of its own.")
        }
        self.environments = environments
        let selected = try current.map { name throws(RequestFailure) in try Self.find(name, in: environments) }
        self.current = MutableEnvironment(selected ?? first)
    }

    /// Puts another environment in force for the requests that are submitted from now on.
    ///
    /// - Throws: `invalidRequest` with the names that there are, when none is called so.
    public func select(_ name: String) throws(RequestFailure) {
        current.set(try Self.find(name, in: environments))
    }

    /// The environment in force.
    public var snapshot: EnvironmentSnapshot { current.snapshot }
    /// The base URL of the environment in force.
    public var baseURL: RequestURL { snapshot.baseURL }
    /// The name of the environment in force.
    public var name: String { snapshot.name }
    /// The fields of the environment in force.
    public var headerFields: HTTPFields { snapshot.headerFields }
    /// The policy of the environment in force.
    public var trust: TrustPolicy? { snapshot.trust }

    /// The environments that come into force from now on; see the protocol.
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

public import EssentialsHTTP

/// What an environment sets for its requests, instead of the configuration of the service.
///
/// ```swift
/// var stages = StageSettings()
/// stages.retry = .attempts(5)
/// let staging = EnvironmentSnapshot(name: "staging", baseURL: url, stages: stages)
/// ```
///
/// A request's own settings win over those of its environment, which win over those of the service.
public struct StageSettings: Sendable, Hashable {
    private struct Values: Sendable, Hashable {
        var retry: RetryPolicy?
    }

    /// It is an object, because every request copies its environment, and few environments have settings.
    private final class Storage: Sendable {
        let values: Values

        init(_ values: Values) { self.values = values }
    }

    /// `nil` for the default of each property.
    private var storage: Storage?
    private var values: Values {
        get { storage?.values ?? Values() }
        set { storage = newValue == Values() ? nil : Storage(newValue) }
    }

    /// Creates settings with the default of each property.
    public init() {}

    /// The retry policy. The default is `nil`, which means the policy of the service.
    public var retry: RetryPolicy? {
        get { storage?.values.retry }
        set { values.retry = newValue }
    }

    /// Whether both have the same settings.
    public static func == (one: StageSettings, other: StageSettings) -> Bool {
        one.storage === other.storage || one.values == other.values
    }

    /// Hashes the settings.
    public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

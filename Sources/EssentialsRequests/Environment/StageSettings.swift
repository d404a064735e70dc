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
///
/// They are for the server of the environment: they apply to a request, and to each redirect, whose URL has the origin of
/// the environment's base URL. A redirect to another origin has the settings of the service, and so has a request whose
/// own base names another server.
///
/// A request keeps the settings of the environment that was current when it was submitted.
public struct StageSettings: Sendable, Hashable {
    private struct Values: Sendable, Hashable {
        var retry: RetryPolicy?
        var limits: OriginLimits?
        var cookies: CookieChoice?
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

    /// Whether all properties have their default.
    var isEmpty: Bool { storage == nil }

    /// Creates settings with the default of each property.
    public init() {}

    /// The retry policy. The default is `nil`, which means the policy of the service.
    public var retry: RetryPolicy? {
        get { storage?.values.retry }
        set { values.retry = newValue }
    }

    /// The limits of the environment's origin; `OriginLimits()` means no limits. The default is `nil`, which means the
    /// limits of the service.
    ///
    /// Each service counts by itself, and different limits count separately: if two environments have the same origin and
    /// different limits, a switch between them begins with unused limits. The counts of 64 different limits are kept, so
    /// that a switch back finds a circuit as it was.
    public var limits: OriginLimits? {
        get { storage?.values.limits }
        set { values.limits = newValue }
    }

    /// The cookies of the environment's origin. The default is `nil`, which means those of the service.
    public var cookies: CookieChoice? {
        get { storage?.values.cookies }
        set { values.cookies = newValue }
    }

    /// Whether both have the same settings.
    public static func == (one: StageSettings, other: StageSettings) -> Bool {
        one.storage === other.storage || one.values == other.values
    }

    /// Hashes the settings.
    public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

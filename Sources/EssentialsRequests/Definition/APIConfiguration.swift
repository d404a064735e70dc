public import EssentialsHTTP
import EssentialsTools

/// How the requests of a definition are sent. A component without its own configuration inherits that of its parent.
///
/// ```swift
/// static var configuration: APIConfiguration {
///     var configuration = APIConfiguration()
///     configuration.options.totalTimeout = .seconds(5)
///     configuration.appendsTrailingSlash = true
///     return configuration
/// }
/// ```
///
/// To change only a part, begin with `Parent.configuration`. The ``settings`` can be set as if they were properties of the
/// configuration: `configuration.retry = .never`.
@dynamicMemberLookup
public struct APIConfiguration: Sendable {
    private struct Values: Sendable {
        var options = TransportOptions()
        var expectedStatus = StatusExpectation.success
        var appendsTrailingSlash = false
        var settings = RequestSettings()
    }

    /// `nil` for the default of each property. It is an object, because a configuration is part of every request.
    private var storage: Shared<Values>?
    private var values: Values {
        get { storage?.values ?? Values() }
        set { storage = Shared(newValue) }
    }

    /// Creates a configuration with the default of each property.
    public init() {}

    /// Deadlines, limits, protocol and trust.
    public var options: TransportOptions {
        get { values.options }
        set { values.options = newValue }
    }

    /// The statuses that are a success. Others fail as `status`. The default is 200 to 299.
    public var expectedStatus: StatusExpectation {
        get { values.expectedStatus }
        set { values.expectedStatus = newValue }
    }

    /// Whether the path of the URL ends with a slash, also if the definition has no path of its own. The default is `false`.
    public var appendsTrailingSlash: Bool {
        get { storage?.values.appendsTrailingSlash ?? false }
        set { values.appendsTrailingSlash = newValue }
    }

    /// How the requests are sent, such as their retry policy. What is not set is left to the environment and the service.
    public var settings: RequestSettings {
        get { storage?.values.settings ?? RequestSettings() }
        set { values.settings = newValue }
    }

    /// A setting of the requests.
    public subscript<Value>(dynamicMember setting: WritableKeyPath<RequestSettings, Value>) -> Value {
        get { settings[keyPath: setting] }
        set { settings[keyPath: setting] = newValue }
    }
}

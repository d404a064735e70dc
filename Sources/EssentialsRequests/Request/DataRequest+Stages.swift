public import EssentialsHTTP

/// What one request sets for the stages of its service, instead of its environment and its service.
///
/// It is an object, so that a request without any of it stays small.
final class RequestStageSettings: Sendable {
    struct Values: Sendable, Hashable {
        var retry: RetryPolicy?
        var isIdempotent: Bool?
        var idempotencyKey: IdempotencyKey?
        var usesCookies = true
        var joins: Bool?
    }

    let values: Values

    init(_ values: Values) { self.values = values }
}

extension DataRequest {
    /// The settings for the stages.
    private(set) var stageValues: RequestStageSettings.Values {
        get { stageSettings?.values ?? RequestStageSettings.Values() }
        set { stageSettings = newValue == RequestStageSettings.Values() ? nil : RequestStageSettings(newValue) }
    }

    /// How a failed request is sent again. The default is `nil`, which means the policy of the environment or the
    /// service.
    public var retry: RetryPolicy? {
        get { stageSettings?.values.retry }
        set { stageValues.retry = newValue }
    }

    /// Whether the server may process the request twice with the same effect as once. The default is `nil`, which means
    /// that the method decides (RFC 9110, 9.2.2).
    ///
    /// With `true`, a POST is retried like a PUT. With `false`, a request is never sent again if the server may have
    /// processed it, not even by the transport on a connection that the server has closed.
    public var isIdempotent: Bool? {
        get { stageSettings?.values.isIdempotent }
        set { stageValues.isIdempotent = newValue }
    }

    /// Whether cookies are sent with the request and stored from its responses. The default is `true`. It has no effect
    /// if the service has no cookies.
    public var usesCookies: Bool {
        get { stageSettings?.values.usesCookies ?? true }
        set { stageValues.usesCookies = newValue }
    }

    /// Whether the request shares an exchange with equal requests that run at the same time. The default is `nil`, which
    /// means the value of ``HTTPDataRequestService/Configuration/joinsEqualRequests``.
    ///
    /// Both requests have to allow it. It has no effect on requests that never share, such as a POST, a streamed response
    /// and a download, nor if an interceptor of the service prevents joining.
    public var joins: Bool? {
        get { stageSettings?.values.joins }
        set { stageValues.joins = newValue }
    }

    /// The key by which the server recognizes the request if it is sent again. The default is `nil`, which means no key.
    public var idempotencyKey: IdempotencyKey? {
        get { stageSettings?.values.idempotencyKey }
        set { stageValues.idempotencyKey = newValue }
    }
}

public import EssentialsRequests

/// A value that a fetch has emitted, with its source.
///
/// ```swift
/// for try await coins in service.coins() {
///     show(coins.value, isOutdated: coins.source == .cache, age: coins.age)
///     if let failure = coins.failure { showHint(failure.message) }
/// }
/// ```
public struct Emission<Value: Sendable>: Sendable {
    /// Where a value came from.
    public enum Source: Sendable, Hashable {
        /// The cache of models.
        case cache
        /// The server, or the response cache of the data-request service on its behalf.
        case backend
    }

    /// The value.
    public var value: Value
    /// Where the value came from.
    public var source: Source
    /// The time since the server sent the value: zero for a response of the server, more for a response from a response
    /// cache. It is `nil` if it is unknown, because the clock was set back.
    public var age: Duration?
    /// The failure of the server that this cached value covers; see ``FetchSource/backendElseCache``. It is `nil` for
    /// all other values.
    public var failure: RequestFailure?

    /// Creates an emission, for test doubles.
    public init(_ value: Value, from source: Source, age: Duration? = .zero, failure: RequestFailure? = nil) {
        self.value = value
        self.source = source
        self.age = age
        self.failure = failure
    }
}

extension Emission: Equatable where Value: Equatable {}

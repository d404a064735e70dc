import EssentialsHTTP
import EssentialsRequests
public import FoundationEssentials

/// A model with the time at which the server sent it.
///
/// ```swift
/// try await cache.save(CachedModel(coins, date: clock.date), for: ModelKey("coins"))
/// ```
public struct CachedModel<Value: Sendable>: Sendable {
    /// The model.
    public var value: Value
    /// When the model was received, by the wall clock, because a model outlives the process.
    public var date: Date
    /// Whether a cache may keep the model only in memory, and not in a store that outlives the process. The default is
    /// `false`.
    ///
    /// Fetches set it for responses with `Cache-Control: no-store`, and for responses to requests with credentials
    /// while their service has no partition; see ``FetchDefaults/storesSensitiveResponses``.
    public var isMemoryOnly: Bool
    /// The provenance of a fetched model; `nil` for a model that the application saves itself.
    var provenance: ModelProvenance?

    /// Creates a cached model.
    public init(_ value: Value, date: Date, isMemoryOnly: Bool = false) {
        self.value = value
        self.date = date
        self.isMemoryOnly = isMemoryOnly
    }

    /// The time since the model was received. The age is unknown, and `nil`, if the date is not a valid date, or lies
    /// in the future because the clock was set back.
    public func age(at now: Date) -> Duration? { Duration.since(date, at: now) }
}

extension CachedModel: Equatable where Value: Equatable {
    /// Compares all public properties.
    public static func == (one: CachedModel, other: CachedModel) -> Bool {
        one.value == other.value && one.date == other.date && one.isMemoryOnly == other.isMemoryOnly
    }
}

/// The provenance of a fetched model. Caches compare it with later removals.
final class ModelProvenance: Sendable {
    /// When the fetch began.
    let begun: Epoch
    /// The origin to which the fetch has sent credentials without an account; `nil` for every other fetch.
    let credentials: Origin?
    /// The reference is weak, because a cache must not keep credentials alive.
    private weak let scope: CredentialScope?

    init(begun: Epoch, credentials: Origin?, scope: CredentialScope) {
        (self.begun, self.credentials) = (begun, credentials)
        self.scope = scope
    }

    /// Whether the credentials of the fetch were cleared or replaced, so that its model is not stored any more.
    var hasEnded: Bool { scope?.hasEnded ?? (credentials != nil) }

    /// Whether a cached model with this provenance must not be shown any more.
    var isHidden: Bool { credentials != nil && hasEnded }
}

extension ModelProvenance: CustomReflectable {
    /// The mirror is empty, so that no credentials are shown.
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension Duration {
    /// The time since a date; `nil` if it is negative, or so long that a date must be wrong.
    static func since(_ date: Date, at now: Date) -> Duration? {
        let seconds = now.timeIntervalSince(date)
        return seconds >= 0 && seconds < 0x1p60 ? .seconds(seconds) : nil
    }
}

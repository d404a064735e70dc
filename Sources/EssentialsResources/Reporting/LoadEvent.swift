import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// Something that happens to a resource and its loads, as a ``LoadObserver`` is told it. It answers why a resource was loaded,
/// and why it was not.
///
/// Each load has exactly one event ``Kind/began(_:)``, which is its first, and exactly one ``Kind/ended(_:)``, which is its
/// last: also if it is cancelled, joined, or ended by an entity cache.
///
/// ```swift
/// func observe(_ event: LoadEvent) {
///     if case .began(let reason) = event.kind { print(event.resource, "is loaded:", reason) }
/// }
/// ```
public struct LoadEvent: Sendable {
    /// The number of the load in its resource. A load with a greater number began later. It is 0 for events of no single load:
    /// ``Kind/skipped(_:)``, ``Kind/changed(_:)`` and ``Kind/stored(_:)``.
    public let load: UInt64
    /// When it happened.
    public let instant: ContinuousClock.Instant
    /// How long the resource is not loaded from now on unless somebody insists, because it is fresh or has just failed. It is
    /// `nil` if the next caller loads it, and negative if that time is over.
    public internal(set) var freshFor: Duration?
    /// What happened.
    public let kind: Kind
    /// The monotonic time until which the resource is fresh.
    let freshUntil: Duration?
    private let address: ResourceURL

    init(_ kind: Kind, of address: ResourceURL, load: UInt64, freshUntil: Duration?) {
        (self.kind, self.address, self.load, self.freshUntil) = (kind, address, load, freshUntil)
        instant = .now
    }

    /// The URL of the resource, without its query and without credentials.
    public var resource: String { "\(address)" }

    /// What happened. New kinds may be added, so an observer has a `default`.
    public enum Kind: Sendable {
        /// A load has begun.
        case began(Reason)
        /// Another caller waits for the load, whose response will be new enough.
        case joined
        /// The load asks the data-request service, because no entity cache has fresh content. A load without entity caches asks at
        /// once.
        case requested
        /// The load has ended.
        case ended(Outcome)
        /// A load was not begun.
        case skipped(Skip)
        /// The resource has changed: its content, its freshness or its failure. The events `attached`, `progress`, `requested`,
        /// `cancelled` and `superseded`, with which nothing of that changes, are not among them.
        case changed(ResourceEvent)
        /// Whether an entity cache stores the response that has become the content. Each cache of the resource's pipeline is told.
        /// The cache is written afterwards, unless its entities are removed before. If that fails, `HTTPResourceService.cacheProblems`
        /// counts it.
        case stored(Storing)
    }

    /// Why a load has begun.
    public enum Reason: Sendable, Hashable {
        /// The application has loaded the resource, whether it is fresh or not.
        case requested
        /// There is no content.
        case missing
        /// The content is no longer fresh.
        case stale
        /// The content is older than the caller allows.
        case tooOld
        /// The content was marked as outdated.
        case invalidated
        /// The last load has failed, and the time until the next attempt is over.
        case failed
        /// The content cannot be shown as the type that is asked for, because the body was not kept.
        case notKept
        /// It is a regular load.
        case regular
        /// The server can be reached again.
        case reachable
        /// A write has found that another client has changed the resource.
        case written
    }

    /// What an entity cache does with a response.
    public struct Storing: Sendable, Hashable {
        /// The stage of the pipeline that has the cache.
        public let stage: String
        /// Why the response is not stored; `nil` if it is. What was stored before is removed then.
        public let refusal: Refusal?

        init(stage: String, refusal: Refusal?) { (self.stage, self.refusal) = (stage, refusal) }

        /// The same, but not stored.
        func refused(_ refusal: Refusal) -> Storing { Storing(stage: stage, refusal: self.refusal ?? refusal) }

        /// Why a response is not stored.
        public enum Refusal: String, Error, Sendable, Hashable {
            /// It is no whole entity: another status than 200, 203 or 204, or a value that cannot be encoded.
            case unfit
            /// The server forbids it (`no-store`; RFC 9111, 5.2.2.5).
            case forbidden
            /// It may be for one account only, and no account was entered.
            case personal
            /// It depends on more than the request (`Vary: *`; RFC 9111, 4.1).
            case varies
            /// The type of its value has no name that is the same in another run.
            case unnamed
            /// The account or the environment that it was requested for has ended.
            case ended
        }
    }

    /// Why a load was not begun.
    public enum Skip: Sendable, Hashable {
        /// The content is fresh, or young enough for the caller.
        case fresh
        /// The last load has failed, and the time until the next attempt has not passed.
        case failedRecently(RequestFailure)
        /// The resource would be loaded again for its observers after a change of account or environment, but it has none.
        case unobserved
    }

    /// How a load has ended.
    public enum Outcome: Sendable, Hashable {
        /// Its response is the content.
        case loaded
        /// The server, or the response cache, has confirmed the content.
        case confirmed
        /// An entity cache had content that is good enough, so nothing was requested.
        case cached
        /// It has failed.
        case failed(RequestFailure)
        /// It has a response or a failure, and the resource stays as it is, because something newer has changed it.
        case superseded
        /// It has an answer only for the tasks that waited for it, and the resource stays as it is.
        case answered
        /// It was cancelled: by its callers, because nothing needed it any more, or because the resource was wiped.
        case cancelled
    }
}

/// Failures have neither the header fields nor the bodies of their responses.
extension LoadEvent: CustomStringConvertible, CustomReflectable {
    /// The resource, the number of the load and what happened, without secrets.
    public var description: String { "\(resource) \(load): \(kind)" }
    /// The properties for debuggers and `dump`, also without secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["resource": resource, "load": load, "kind": kind, "freshFor": freshFor as Any])
    }
}

extension ResourceEvent {
    /// The event for load observers; `nil` if content, freshness and failure stay as they are.
    var reported: ResourceEvent? {
        switch self {
        case .attached, .requested, .cancelled, .superseded, .progress: nil
        case .newContent, .notModified, .invalidated, .layered, .wiped: self
        case .failed(let failure): .failed(failure.withoutContent)
        case .undone(let failure): .undone(failure.withoutContent)
        }
    }
}

extension LoadEvent.Storing.Refusal {
    init(_ refusal: EntityCacheRules.Refusal) {
        self =
            switch refusal {
            case .unfit: .unfit
            case .noStore: .forbidden
            case .personal: .personal
            case .varies: .varies
            }
    }
}

extension LoadEvent.Outcome {
    /// The outcome for load observers.
    var reported: LoadEvent.Outcome {
        if case .failed(let failure) = self { .failed(failure.withoutContent) } else { self }
    }
}

extension RequestFailure {
    /// The failure without the header fields and the body of its response, which can be secret.
    var withoutContent: RequestFailure {
        let inner = underlying as? RequestFailure
        guard response != nil || !earlierFailures.isEmpty || inner != nil else { return self }
        return changed { content in
            content.response = content.response.map {
                FailedResponse(head: HTTPResponse(status: $0.head.status), body: Data())
            }
            content.earlier = content.earlier.map(\.withoutContent)
            if let inner { content.underlying = inner.withoutContent }
        }
    }
}

import EssentialsHTTP
import EssentialsTools

/// The part of a resource's state that does not depend on the type of its content.
struct ResourceFacts: Sendable {
    /// Counts the changes of the resource, from 0.
    var version: UInt64
    /// The version at which the content was last replaced or removed.
    var contentVersion: UInt64 = 0
    /// The metadata of the content; `nil` without content.
    var entity: Entity?
    /// Where the content came from; `nil` without content.
    var provenance: Provenance?
    /// The monotonic time at which the content was received, confirmed or set.
    var contentTime: Duration? {
        get { contentTimeInNanoseconds.optionalDuration }
        set { contentTimeInNanoseconds = newValue?.wholeNanoseconds ?? .min }
    }
    /// The failure of the last load; `nil` after a success, an override or a wipe.
    var failure: RequestFailure?
    /// The monotonic time of ``failure``.
    var failureTime: Duration? {
        get { failureTimeInNanoseconds.optionalDuration }
        set { failureTimeInNanoseconds = newValue?.wholeNanoseconds ?? .min }
    }
    /// The monotonic time until which the resource is fresh; `nil` if it is not.
    var freshUntil: Duration? {
        get { freshUntilInNanoseconds.optionalDuration }
        set { freshUntilInNanoseconds = newValue?.wholeNanoseconds ?? .min }
    }
    /// Whether an invalidation is in effect.
    var isInvalid = false
    /// Whether the content came from a GET request of this resource, so that its validator may be sent. This is `false`
    /// after an override, or after a load with another request.
    var isOfServer = false
    /// The number of optimistic layers in the content of one view. It is zero in the facts that all views share.
    var pendingLayers: UInt8 = 0
    /// The progress of the newest load, if an observer has requested it. It fills a gap in the layout.
    var progress = LoadProgress.none
    /// The number of running loads.
    var loads = 0

    // They have a third of the size of optional durations, because every resource has two copies of them.
    private var contentTimeInNanoseconds = Int64.min
    private var failureTimeInNanoseconds = Int64.min
    private var freshUntilInNanoseconds = Int64.min

    init(version: UInt64 = 0) { self.version = version }

    /// Whether no load is needed. After a failure, the retry time counts too.
    ///
    /// - Parameter maximumAge: The age up to which content is fresh; `nil` means that ``freshUntil`` decides.
    func isFresh(at now: Duration, _ maximumAge: Duration?) -> Bool {
        let isFresh = freshUntil.map { now <= $0 } ?? false
        guard let maximumAge else { return isFresh }
        guard !isInvalid else { return false }
        let isYoung = contentTime.map { now - $0 <= maximumAge } ?? false
        return isYoung || (failure != nil && isFresh)
    }

    /// Whether the resource was loaded or its content was set.
    var wasLoaded: Bool { entity != nil || failure != nil || loads > 0 }

    /// Whether the last load failed because of the network.
    var isFailedByNetwork: Bool { failure?.isOfNetwork ?? false }

    /// Records that the content was received, confirmed or set.
    ///
    /// - Parameters:
    ///   - time: The monotonic time since which the content has its age.
    ///   - freshUntil: The end of freshness, unless an invalidation is in effect.
    mutating func confirm(at time: Duration, _ freshUntil: Duration?, isInvalid: Bool) {
        (contentTime, failure, failureTime) = (time, nil, nil)
        self.isInvalid = isInvalid
        self.freshUntil = isInvalid ? nil : freshUntil
    }

    /// Marks the content as outdated.
    mutating func expire() {
        isInvalid = true
        freshUntil = nil
    }
}

extension Int64 {
    /// The duration of this many nanoseconds; `nil` for the smallest number.
    fileprivate var optionalDuration: Duration? { self == .min ? nil : .nanoseconds(self) }
}

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Decides how long the content of a resource is fresh, so that `loadIfNeeded` sends nothing.
///
/// Ages are measured on a monotonic clock. Dates are used only for content that outlives the process; see
/// ``PersistedTime``. The deadline is computed once for each outcome, so that a check is one comparison.
package struct FreshnessRules: Sendable, Hashable {
    /// How long content is fresh.
    package enum Expiration: Sendable, Hashable {
        /// For this time.
        case after(Duration)
        /// As long as the server says, or for this time if it says nothing.
        case byServer(otherwise: Duration)
    }

    /// The last outcome of a resource. A cancelled load is none.
    package enum Outcome: Sendable, Hashable {
        /// The resource was never loaded.
        case none
        /// It has content, which was received, set or read.
        case content(Content)
        /// A load failed. The content of an earlier outcome is not fresh any more.
        case failure(time: Duration, retryAfter: Duration?)
    }

    /// The longest time for which a server can prevent loads with `Retry-After`. Beyond it the field is more likely a mistake
    /// than a wish.
    package static let maximumRetryAfter = Duration.seconds(3_600)

    /// Facts about content.
    package struct Content: Sendable, Hashable {
        /// When it was received, set or read.
        package var time: Duration
        /// The age that it had at that time. Zero if it came from the server.
        package var age = Duration.zero
        /// Whether a cache sent it although it was stale, because the server could not be reached.
        package var isStale = false
        /// How long it is fresh according to the server (RFC 9111, 4.2.1); `nil` if the server says nothing.
        package var serverLifetime: Duration?

        package init(
            time: Duration, age: Duration = .zero, isStale: Bool = false, serverLifetime: Duration? = nil
        ) {
            (self.time, self.age, self.isStale, self.serverLifetime) = (time, age, isStale, serverLifetime)
        }
    }

    /// How long content is fresh. The default is 30 seconds.
    package var expiration = Expiration.after(.seconds(30))
    /// How long a failure, or a stale response, prevents a load. The default is one second.
    package var retryTime = Duration.seconds(1)

    package init(expiration: Expiration = .after(.seconds(30)), retryTime: Duration = .seconds(1)) {
        (self.expiration, self.retryTime) = (expiration, retryTime)
    }

    /// The last moment at which an outcome is fresh; `nil` if it never is.
    package func deadline(of outcome: Outcome) -> Duration? {
        switch outcome {
        case .none: return nil
        case .failure(let time, let retryAfter):
            return time + Self.bounded(max(retryTime, min(retryAfter ?? .zero, Self.maximumRetryAfter)))
        case .content(let content):
            if content.isStale { return content.time + Self.bounded(retryTime) }
            // The server wants to be asked for each use.
            if isByServer, content.serverLifetime == .zero { return nil }
            return content.time + Self.bounded(limit(of: content)) - Self.bounded(content.age)
        }
    }

    /// Whether an outcome is fresh. At the deadline it still is.
    package func isFresh(_ outcome: Outcome, isInvalid: Bool, now: Duration) -> Bool {
        guard !isInvalid, let deadline = deadline(of: outcome) else { return false }
        return now <= deadline
    }

    /// Whether the fields of responses matter.
    package var isByServer: Bool {
        if case .byServer = expiration { true } else { false }
    }

    private func limit(of content: Content) -> Duration {
        switch expiration {
        case .after(let limit): limit
        case .byServer(let otherwise): content.serverLifetime ?? otherwise
        }
    }

    /// A duration between zero and some hundred years, so that sums do not overflow.
    private static func bounded(_ duration: Duration) -> Duration { min(max(duration, .zero), .seconds(1 << 34)) }
}

/// When content was stored that outlives the process.
package struct PersistedTime: Sendable, Hashable {
    /// The date at which it was stored.
    package var date: Date
    /// The age that it had then.
    package var age = Duration.zero

    package init(date: Date, age: Duration = .zero) { (self.date, self.age) = (date, age) }

    /// The age at a date; `nil` if the clock went back since, so that the age is unknown and the content is stale.
    package func age(at now: Date) -> Duration? {
        let passed = now.timeIntervalSince(date)
        // The limit is some hundred years.
        guard passed.isFinite, passed >= 0, age >= .zero else { return nil }
        return min(age, .seconds(1 << 34)) + .seconds(min(passed, 0x1p34))
    }

    /// The content as it counts after it was read.
    ///
    /// - Parameters:
    ///   - time: The present time on the monotonic clock.
    ///   - now: The present date.
    ///   - serverLifetime: How long it is fresh according to the server.
    package func content(
        readAt time: Duration, now: Date, serverLifetime: Duration? = nil
    ) -> FreshnessRules.Outcome {
        guard let age = age(at: now) else { return .none }
        return .content(.init(time: time, age: age, serverLifetime: serverLifetime))
    }
}

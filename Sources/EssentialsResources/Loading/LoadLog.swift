import EssentialsHTTP
import EssentialsTools
import Logging

/// Logs at debug level why a resource was not loaded, with the resource's URL without its query.
struct LoadLog: Sendable {
    /// Why a resource was not loaded.
    enum Reason: Sendable {
        /// The content is fresh, or young enough for the caller.
        case fresh
        /// The last load has failed, and the retry time has not passed.
        case failedRecently
        /// A running load was joined, because its response is new enough.
        case joined
        /// A change would have loaded it for its observers, but it has none.
        case unobserved

        fileprivate var message: Logger.Message {
            switch self {
            case .fresh: "A resource is not loaded, because its content is fresh."
            case .failedRecently: "A resource is not loaded, because its last load has failed a moment ago."
            case .joined: "A resource is not loaded once more, because a load that runs is joined."
            case .unobserved: "A resource is not loaded again, because it has no observers."
            }
        }
    }

    private let logger: Logger
    /// Whether anything is logged. It is computed once, because each request for fresh content reads it.
    let isOn: Bool

    init(_ logger: Logger) {
        self.logger = logger
        isOn = logger.logLevel <= .debug
    }

    /// Logs why a resource is not loaded.
    ///
    /// - Parameter now: The current time, from which the remaining freshness is logged. `nil` leaves that out.
    func note(_ reason: Reason, _ core: ResourceCore, at now: Duration? = nil) {
        guard isOn else { return }
        let (address, facts) = (core.address, core.facts)
        var metadata: Logger.Metadata = ["category": "load", "resource": "\(address)"]
        if let now, let end = facts.freshUntil { metadata["freshFor"] = "\(end - now)" }
        if let failure = facts.failure { metadata["failure"] = "\(failure.reason.name)" }
        logger.debug(reason.message, metadata: metadata)
    }

    /// Logs why `loadIfNeeded` did not begin a load.
    func note(_ need: ResourceCore.Need, _ core: ResourceCore, at now: Duration) {
        guard isOn else { return }
        switch need {
        case .new: return
        case .running: note(.joined, core)
        case .nothing: note(core.flags.current.contains(.hasFailure) ? .failedRecently : .fresh, core, at: now)
        }
    }

    /// Logs that a load ended without a request, for example because a path has no base URL or the service was closed.
    func note(_ failure: RequestFailure, _ core: ResourceCore) {
        guard isOn else { return }
        switch failure.reason {
        case .closed, .invalidRequest, .hostRefused, .notCached: break
        default: return
        }
        var metadata: Logger.Metadata = [
            "category": "load", "resource": "\(core.address)", "failure": "\(failure.reason.name)",
        ]
        if case .unusable(let fault) = core.address.place { metadata["fault"] = "\(fault)" }
        logger.debug("A load has ended without a request to the server.", metadata: metadata)
    }
}

import EssentialsHTTP
import Logging

/// Logs at debug level why resources are loaded, why they are not, and what has become of them, with their URLs without queries.
struct LoadLog: LoadObserver {
    private let logger: Logger

    /// - Returns: `nil` if the logger does not want the messages.
    init?(_ logger: Logger) {
        guard logger.logLevel <= .debug else { return nil }
        self.logger = logger
    }

    func observe(_ event: LoadEvent) {
        var metadata: Logger.Metadata = ["category": "load", "resource": "\(event.resource)"]
        if let freshFor = event.freshFor { metadata["freshFor"] = "\(freshFor)" }
        if event.load != 0 { metadata["load"] = "\(event.load)" }
        switch event.kind {
        case .began(let reason):
            metadata["why"] = "\(reason)"
            logger.debug("A resource is loaded.", metadata: metadata)
        case .joined:
            logger.debug(
                "A resource is not loaded once more, because a load that runs is joined.", metadata: metadata)
        case .requested: break
        case .skipped(let skip): log(skip, metadata)
        case .ended(let outcome): log(outcome, metadata)
        case .changed(let change): log(change, metadata)
        case .stored(let storing):
            metadata["stage"] = "\(storing.stage)"
            guard let refusal = storing.refusal else {
                return logger.debug("A response is stored in an entity cache.", metadata: metadata)
            }
            metadata["why"] = "\(refusal)"
            logger.debug("A response is not stored in an entity cache.", metadata: metadata)
        }
    }

    private func log(_ skip: LoadEvent.Skip, _ metadata: Logger.Metadata) {
        switch skip {
        case .fresh: logger.debug("A resource is not loaded, because its content is fresh.", metadata: metadata)
        case .failedRecently(let failure):
            var metadata = metadata
            metadata["failure"] = "\(failure.reason.name)"
            logger.debug("A resource is not loaded, because its last load has failed a moment ago.", metadata: metadata)
        case .unobserved:
            logger.debug("A resource is not loaded again, because it has no observers.", metadata: metadata)
        }
    }

    private func log(_ outcome: LoadEvent.Outcome, _ metadata: Logger.Metadata) {
        var metadata = metadata
        guard case .failed(let failure) = outcome else {
            metadata["outcome"] = "\(outcome)"
            return logger.debug("A load has ended.", metadata: metadata)
        }
        metadata["failure"] = "\(failure.reason.name)"
        switch failure.reason {
        case .closed, .invalidRequest, .hostRefused, .notCached:
            logger.debug("A load has ended without a request to the server.", metadata: metadata)
        default: logger.debug("A load has failed.", metadata: metadata)
        }
    }

    private func log(_ change: ResourceEvent, _ metadata: Logger.Metadata) {
        var metadata = metadata
        switch change {
        case .newContent(let provenance):
            metadata["from"] = "\(provenance)"
            logger.debug("A resource has new content.", metadata: metadata)
        case .notModified: logger.debug("The content of a resource is confirmed.", metadata: metadata)
        case .invalidated: logger.debug("A resource is marked as outdated.", metadata: metadata)
        case .wiped(let reason):
            metadata["why"] = "\(reason)"
            logger.debug("A resource is wiped.", metadata: metadata)
        case .layered: logger.debug("A resource shows a change that the server has not confirmed.", metadata: metadata)
        case .undone(let failure):
            metadata["failure"] = "\(failure.reason.name)"
            logger.debug("A change of a resource is undone.", metadata: metadata)
        // The end of the load says it.
        case .failed, .attached, .requested, .cancelled, .superseded, .progress: break
        }
    }
}

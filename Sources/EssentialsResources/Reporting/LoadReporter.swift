/// Tells the load observers of a service, of which the log is the first.
final class LoadReporter: Sendable {
    private let observers: [any LoadObserver]
    private let time: ServiceTime

    /// - Returns: `nil` if nobody listens.
    init?(_ configuration: HTTPResourceService.Configuration, _ time: ServiceTime) {
        var observers = configuration.observers
        if let log = LoadLog(configuration.logger) { observers.insert(log, at: 0) }
        guard !observers.isEmpty else { return nil }
        (self.observers, self.time) = (observers, time)
    }

    /// Tells events of one resource. It is called without a lock.
    func tell(_ events: [LoadEvent]) {
        for var event in events {
            if let end = event.freshUntil { event.freshFor = end - time.now }
            for observer in observers { observer.observe(event) }
        }
    }
}

extension CoreState {
    /// The maximum number of waiting events, beyond which some are left out.
    private static let maximumReports = 1_024

    /// Adds an event for the load observers, if there are any. They are told when the lock has been released.
    mutating func report(_ kind: LoadEvent.Kind, load: UInt64 = 0) {
        guard isReported else { return }
        let event = LoadEvent(kind, of: address, load: load, freshUntil: freshUntil(of: kind))
        guard reports.count >= Self.maximumReports else { return reports.append(event) }
        switch kind {
        case .joined, .skipped: break
        case .changed:
            // The last change says what the resource has become.
            if case .changed? = reports.last?.kind { reports[reports.count - 1] = event } else { reports.append(event) }
        case .began, .requested, .ended, .stored: reports.append(event)
        }
    }

    /// The end of freshness, for events that say something about it.
    private func freshUntil(of kind: LoadEvent.Kind) -> Duration? {
        switch kind {
        case .changed, .skipped: facts.freshUntil
        default: nil
        }
    }

    /// Reports that no load is begun, because the content is fresh or the last load has just failed.
    ///
    /// - Parameter maximumAge: The age up to which the caller accepts content; `nil` without a limit.
    mutating func reportSkip(at now: Duration, _ maximumAge: Duration?) {
        guard isReported else { return }
        let isYoung = maximumAge.map { age in facts.contentTime.map { now - $0 <= age } ?? false } ?? false
        guard let failure = facts.failure, !isYoung else { return report(.skipped(.fresh)) }
        report(.skipped(.failedRecently(failure.withoutContent)))
    }

    /// Why a load is needed.
    ///
    /// - Parameters:
    ///   - isHere: Whether the content can be shown as the type that is asked for.
    ///   - maximumAge: The age up to which the caller accepts content; `nil` without a limit.
    func reason(isHere: Bool, _ maximumAge: Duration?) -> LoadEvent.Reason {
        if facts.isInvalid { return .invalidated }
        if facts.failure != nil { return .failed }
        if facts.entity == nil { return .missing }
        if !isHere { return .notKept }
        return maximumAge == nil ? .stale : .tooOld
    }
}

extension ResourceCore {
    /// Reports an event of no load.
    func report(_ skip: LoadEvent.Skip) {
        guard reporter != nil else { return }
        changing { $0.report(.skipped(skip)) }
    }

    /// Tells the waiting events in their order, without the lock. The first thread that finds nobody telling tells for all.
    func tellReports() {
        while true {
            let events = reading { state in
                if state.reports.isEmpty { state.isReporting = false }
                defer { state.reports = [] }
                return state.reports
            }
            guard !events.isEmpty else { return }
            reporter?.tell(events)
        }
    }
}

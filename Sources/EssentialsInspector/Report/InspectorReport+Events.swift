import EssentialsPersistence
import EssentialsRequests
import EssentialsResources
import EssentialsTools
import FoundationEssentials

extension InspectorReport {
    /// The last events of all layers, the oldest first.
    static func events(_ events: [Inspector.Event], _ date: (SteadyInstant) -> Date) -> [Event] {
        // The order of events at the same instant stays as it is.
        let times = events.map(\.time)
        let sorted = times.indices.sorted { (times[$0], $0) < (times[$1], $1) }
        return sorted.suffix(Inspector.maximumEvents).map { index in
            let at = (date(times[index]).timeIntervalSince1970 * 1_000).rounded()
            switch events[index] {
            case .request(let request):
                return Event(at: at, layer: "request", call: request.call.id.description, text: request.description)
            case .load(let load): return Event(at: at, layer: "load", call: nil, text: load.text)
            case .store(let store): return Event(at: at, layer: "store", call: nil, text: store.text)
            }
        }
    }
}

extension LoadEvent {
    /// The event in one line.
    fileprivate var text: String {
        let text =
            switch kind {
            case .began(let reason): "load \(load) began: \(reason)"
            case .joined: "load \(load) joined"
            case .stored(let storing):
                storing.refusal.map { "not stored in the cache of \(storing.stage): \($0)" }
                    ?? "stored in the cache of \(storing.stage)"
            case .requested: "load \(load) requested"
            case .ended(.failed(let failure)): "load \(load) failed: \(failure.reason)"
            case .ended(let outcome): "load \(load) ended: \(outcome)"
            case .skipped(.failedRecently(let failure)): "not loaded: failed recently, \(failure.reason)"
            case .skipped(let skip): "not loaded: \(skip)"
            case .changed(let event): "changed: \(event.name)"
            }
        return "\(resource): \(text)"
    }
}

extension ResourceEvent {
    /// The name of the event.
    fileprivate var name: String {
        switch self {
        case .attached: "attached"
        case .requested: "requested"
        case .newContent: "new content"
        case .notModified: "not modified"
        case .failed(let failure): "failed, \(failure.reason)"
        case .cancelled: "cancelled"
        case .superseded: "superseded"
        case .invalidated: "invalidated"
        case .layered: "layered"
        case .undone: "undone"
        case .wiped: "wiped"
        case .progress: "progress"
        }
    }
}

extension StoreEvent {
    /// The event in one line.
    fileprivate var text: String {
        let text =
            switch kind {
            case .opened: "opened"
            case .openingFailed(let reason): "not opened: \(reason.name)"
            case .discarded(let scope, let rows): "“\(scope)” was closed with \(rows) pending rows"
            case .closed: "closed"
            case .called(let call):
                "\(call.action.rawValue) in “\(call.scope)” took \(call.duration / .milliseconds(1)) ms"
                    + (call.failure.map { ", failed: \($0.name)" } ?? "")
            }
        return "\(store): \(text)"
    }
}

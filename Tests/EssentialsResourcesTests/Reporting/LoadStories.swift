import EssentialsTools

@testable import EssentialsResources

/// Keeps the load events of a service, as texts.
final class LoadStories: LoadObserver {
    private struct State {
        var events: [LoadEvent] = []
        var taken = 0
    }

    private let state = Mutex(State())

    func observe(_ event: LoadEvent) { state.withLock { $0.events.append(event) } }

    var events: [LoadEvent] { state.withLock { $0.events } }

    /// The events since the last call, of resources whose URLs contain a text.
    func take(of part: String = "") -> [String] {
        state.withLock { state in
            defer { state.taken = state.events.count }
            return state.events[state.taken...].filter { part.isEmpty || $0.resource.contains(part) }.map(Self.text)
        }
    }

    /// Waits until there are so many events since the last call of ``take()``.
    func wait(count: Int) async {
        while state.withLock({ $0.events.count - $0.taken }) < count { await Task.yield() }
    }

    /// Waits until a resource has new content.
    func wait(for resource: String, content provenance: Provenance) async {
        func isIt(_ event: LoadEvent) -> Bool {
            guard event.resource == resource, case .changed(.newContent(provenance)) = event.kind else { return false }
            return true
        }
        while !events.contains(where: isIt) { await Task.yield() }
    }

    private static func text(_ event: LoadEvent) -> String {
        let what =
            switch event.kind {
            case .began(let reason): "began, \(reason)"
            case .joined: "joined"
            case .requested: "requested"
            case .ended(.failed(let failure)): "failed, \(failure.reason.name)"
            case .ended(let outcome): "\(outcome)"
            case .skipped(.failedRecently(let failure)): "skipped after \(failure.reason.name)"
            case .skipped(let skip): "skipped, \(skip)"
            case .changed(.newContent(let provenance)): "new content, \(provenance)"
            case .changed(.failed(let failure)): "shows \(failure.reason.name)"
            case .changed(.undone(let failure)): "undone, \(failure.reason.name)"
            case .changed(let change): "\(change)"
            case .stored(let storing): "\(storing.stage): \(storing.refusal.map { "not stored, \($0)" } ?? "stored")"
            }
        return event.load == 0 ? what : "\(event.load): \(what)"
    }

    /// What is wrong with the events: each load begins once and ends once, and what belongs to it lies between.
    func problems(ofEnded isComplete: Bool = true) -> [String] {
        var (problems, begun, ended): ([String], Set<String>, Set<String>) = ([], [], [])
        for event in events {
            let load = "\(event.resource) \(event.load)"
            switch event.kind {
            case .began:
                if !begun.insert(load).inserted { problems.append("\(load) began twice") }
            case .ended:
                if !ended.insert(load).inserted { problems.append("\(load) ended twice") }
                if !begun.contains(load) { problems.append("\(load) ended before it began") }
            case .joined, .requested:
                if !begun.contains(load) || ended.contains(load) { problems.append("\(load): \(event.kind)") }
            case .skipped, .changed, .stored:
                if event.load != 0 { problems.append("\(load): \(event.kind)") }
            }
        }
        if isComplete { problems += begun.subtracting(ended).map { "\($0) did not end" } }
        return problems
    }
}

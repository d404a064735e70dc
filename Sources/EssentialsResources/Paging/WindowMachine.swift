/// How a list in pages is loaded again.
///
/// ```swift
/// try await films.refresh(.allThenSwap)
/// ```
public enum PageRefresh: Sendable, Hashable {
    /// The first page is loaded, and then the other pages are dropped.
    case first
    /// All shown pages are loaded in order. Each replaces the old page as soon as it is loaded.
    case all
    /// All shown pages are loaded in order, and replace the old pages together. If one fails, the list stays as it was.
    case allThenSwap
}

/// Decides which page of a list is loaded next, and which pages are shown.
///
/// Pages are numbered from 0 in the order of the list. The shown pages are a window with a maximum size. One operation
/// runs at a time: the same operation is joined, and another one waits. A failed operation can be repeated from the
/// page that failed. The machine owns no page and no task.
struct WindowMachine: Sendable {
    enum Operation: Sendable, Hashable {
        /// Show the page after the last one.
        case next
        /// Show the page before the first one.
        case previous
        case refresh(PageRefresh)
    }

    /// A page to load.
    struct Step: Sendable, Hashable {
        let operation: Operation
        let page: Int
        /// The number of the step, with which its outcome is reported.
        let ticket: UInt64
    }

    enum Decision: Sendable, Hashable {
        case begin(Step)
        /// The operation is already running.
        case join
        /// Another operation is running. Begin again when it has ended.
        case wait
        /// There is no such page.
        case end
    }

    enum Change: Sendable, Hashable {
        /// The outcome belongs to a step that no longer counts.
        case none
        /// The operation has ended, and the window is up to date.
        case done
        /// The operation continues.
        case goOn(Step)
    }

    let maximumPages: Int
    /// The pages that are shown.
    private(set) var window = 0..<0
    private(set) var running: Step?
    /// The last failed step, unless an operation began after it.
    private(set) var failed: Step?
    /// The number of the page after the last one that a refresh loads.
    private var target = 0
    private var lastTicket: UInt64 = 0

    init(maximumPages: Int) { self.maximumPages = max(1, maximumPages) }

    /// Begins an operation.
    ///
    /// - Parameter hasNext: Whether a page follows the last shown one. It is ignored if no page is shown.
    mutating func begin(_ operation: Operation, hasNext: Bool) -> Decision {
        if let running { return running.operation == operation ? .join : .wait }
        switch operation {
        case .next:
            guard window.isEmpty || hasNext else { return .end }
            return start(operation, window.upperBound)
        case .previous:
            guard window.lowerBound > 0 else { return .end }
            return start(operation, window.lowerBound - 1)
        case .refresh(.first):
            target = 1
            return start(operation, 0)
        case .refresh:
            target = max(window.upperBound, 1)
            return start(operation, window.lowerBound)
        }
    }

    /// Begins the failed step again.
    mutating func retry() -> Decision {
        if running != nil { return .join }
        guard let failed else { return .end }
        return start(failed.operation, failed.page)
    }

    /// Records that the page of a step was loaded.
    ///
    /// - Parameter hasNext: Whether a page follows it.
    mutating func loaded(_ ticket: UInt64, hasNext: Bool) -> Change {
        guard let step = running, step.ticket == ticket else { return .none }
        running = nil
        switch step.operation {
        case .next:
            let end = step.page + 1
            let start = window.isEmpty ? step.page : window.lowerBound
            window = max(start, end - maximumPages)..<end
        case .previous: window = step.page..<min(window.upperBound, step.page + maximumPages)
        case .refresh(let mode):
            if step.page + 1 < target, hasNext, case .begin(let next) = start(step.operation, step.page + 1) {
                return .goOn(next)
            }
            let start = mode == .first || window.isEmpty ? 0 : window.lowerBound
            window = start..<(step.page + 1)
        }
        return .done
    }

    /// Records that the page of a step could not be loaded.
    ///
    /// - Parameter isRepeatable: Whether ``retry()`` may repeat it.
    /// - Returns: Whether the step counts.
    mutating func failed(_ ticket: UInt64, isRepeatable: Bool) -> Bool {
        guard let step = running, step.ticket == ticket else { return false }
        running = nil
        failed = isRepeatable ? step : nil
        return true
    }

    /// Removes a page and all pages after it, because their content is gone. A running operation no longer counts.
    mutating func truncate(to page: Int) {
        window = page > window.lowerBound ? window.lowerBound..<min(page, window.upperBound) : 0..<0
        (running, failed) = (nil, nil)
    }

    private mutating func start(_ operation: Operation, _ page: Int) -> Decision {
        lastTicket += 1
        failed = nil
        let step = Step(operation: operation, page: page, ticket: lastTicket)
        running = step
        return .begin(step)
    }
}

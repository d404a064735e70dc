import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// The operations of a list.
extension PagedResource {
    typealias Operation = WindowMachine.Operation
    typealias Step = WindowMachine.Step

    /// The shown pages and their states at one moment.
    struct Shown {
        let contents: Contents
        let pages: [Resource<Page>]
        let states: [ResourceState<Page>]
        /// The number of the last page.
        var end: Int { contents.machine.window.upperBound - 1 }
    }

    /// The pages that are shown now. Pages that were wiped, and those after them, are removed. If the account or
    /// environment of a page was left, the list begins anew, because its other pages and addresses belonged to that
    /// account too.
    var shown: Shown {
        while true {
            let known = contents.withLock { $0 }
            let (pages, window) = (known.shownPages, known.machine.window)
            if known.places[window].contains(where: \.wasLeft) {
                changing { if $0.changes == known.changes { $0.restart(with: first) } }
                continue
            }
            let present = pages.map(\.state)
            if let gone = present.firstIndex(where: { $0.entity == nil }) {
                changing { if $0.changes == known.changes { $0.removePages(from: window.lowerBound + gone) } }
                continue
            }
            let frozen = known.frozen.flatMap { $0.count == pages.count ? $0 : nil }
            return Shown(contents: known, pages: pages, states: frozen ?? present)
        }
    }

    /// Changes the contents under the lock. Content that is no longer shown is released outside it.
    private func changing<Result>(_ change: (inout Contents) -> Result) -> Result {
        let (result, frozen, failure, built) = contents.withLock { contents in
            let (frozen, failure, built) = (contents.frozen, contents.failure, contents.built)
            return (change(&contents), frozen, failure, built)
        }
        _ = (consume frozen, consume failure, consume built)
        return result
    }

    /// The resources that a reader observes: the shown pages, or the first page if none is shown.
    var shownPages: [AnyResource] {
        let pages = contents.withLock { $0.shownPages }
        return pages.isEmpty ? [first.any] : pages.map(\.any)
    }

    func hasNext(_ shown: Shown) -> Bool {
        guard let page = shown.pages.last, let state = shown.states.last, state.content != nil else { return true }
        // If finding the next page fails, this page is not the last one, and `next()` throws the failure.
        do { return try next(after: page, state, shown.end) != nil } catch { return true }
    }

    /// Starts to load the first page if no page is shown. The load runs to its end even if no task waits.
    func loadForObserver() {
        guard shown.states.isEmpty else { return }
        do {
            _ = try begin(.next)
        } catch {
            changing { contents in
                contents.failure = error
                contents.changes &+= 1
            }
            signals.raise()
        }
    }

    /// Performs an operation, or waits for the same operation if it is already running.
    ///
    /// - Parameter operation: The operation; `nil` repeats the failed operation.
    @discardableResult
    func perform(_ operation: Operation?) async throws(RequestFailure) -> Bool {
        while !Task.isCancelled {
            let beginning = try begin(operation)
            guard let run = beginning.run else { return false }
            let outcome = await run.outcome.valueUnlessCancelled()
            guard beginning.isJoined else { continue }
            if let outcome { return try outcome.get() }
            run.leave()
        }
        throw LoadOutcome.cancelledFailure
    }

    private struct Beginning {
        /// The running operation; `nil` if there is nothing to do.
        var run: PageRun?
        /// Whether it is the requested operation. Otherwise the requested operation waits for its end.
        var isJoined = false
        /// The first step of an operation that has not run yet.
        var step: Step?
    }

    private func begin(_ operation: Operation?) throws(RequestFailure) -> Beginning {
        while true {
            let environment = first.service.adoptEnvironment()
            _ = try paging.sizeItem()
            let shown = shown
            // Finding the next page calls foreign code, so it is done without the lock.
            let next = operation == .next ? try nextPage(shown) : nil
            let beginning = changing { contents -> Beginning? in
                guard contents.changes == shown.contents.changes else { return nil }
                if contents.machine.running == nil, let next { contents.setPlace(shown.end + 1, to: next) }
                let decision =
                    operation.map { contents.machine.begin($0, hasNext: next != nil) } ?? contents.machine.retry()
                switch decision {
                case .end: return Beginning()
                case .join: return Beginning(run: contents.run, isJoined: contents.run?.join() ?? false)
                case .wait: return Beginning(run: contents.run)
                case .begin(let step):
                    contents.begin(step, isRetry: operation == nil, shown.states)
                    contents.run = PageRun()
                    return Beginning(run: contents.run, isJoined: true, step: step)
                }
            }
            guard let beginning else { continue }
            if let step = beginning.step, let run = beginning.run {
                signals.raise()
                run.start { [self] in await load(step, run, in: environment) }
            }
            return beginning
        }
    }

    /// The page after the last shown one; `nil` if there is none, or if it is already in the list.
    private func nextPage(_ shown: Shown) throws(RequestFailure) -> Resource<Page>? {
        guard let page = shown.pages.last, let state = shown.states.last,
            let next = try resource(after: page, state, shown.end)
        else { return nil }
        guard shown.end + 1 < Self.maximumLength else {
            throw RequestFailure(
                .tooLarge, "The list has more than \(Self.maximumLength) pages.",
                remedy: "Ask the server for larger pages, or for a part of the list.")
        }
        let address = Place(next).address
        return shown.contents.places.prefix(shown.end + 1).contains { $0.address == address } ? nil : next
    }

    private func next(
        after page: Resource<Page>, _ state: ResourceState<Page>, _ index: Int
    ) throws(RequestFailure) -> Paging<Page>.Next? {
        guard let content = state.content, let url = try? page.core.address.requestURL() else { return nil }
        let fields = DataResponse(headerFields: state.entity?.headerFields ?? [:])
        let response = DataResponse(fields.transportResponse, url: url)
        return try paging.next(after: .init(content, response: response, index: index))
    }

    /// Returns the page after a page; `nil` after the last one.
    ///
    /// - Throws: `protocolViolation` if the server sent a link that is not an http or https URL.
    private func resource(
        after page: Resource<Page>, _ state: ResourceState<Page>, _ index: Int
    ) throws(RequestFailure) -> Resource<Page>? {
        switch try next(after: page, state, index) {
        case nil: return nil
        case .cursor(let name, let value), .number(let name, let value): return page.page(with: name, value)
        case .link(let target):
            let url = try WebLink.url(of: target, relativeTo: page.core.address.requestURL())
            return self.page(at: .url(url.description), like: page)
        }
    }

    private func page(at address: ResourceAddress, like page: Resource<Page>) -> Resource<Page> {
        let found: Resource<Page> = page.service.resource(at: address, variant: page.core.variant).resource()
        // The settings of a definition are meant for the servers of its environment.
        if found.core.address.isBelowBase { found.core.define(as: page.core) }
        return found
    }

    /// Loads the pages of an operation, all in the environment and with the credentials in which it began.
    private func load(_ begun: Step, _ run: PageRun, in environment: AdoptedEnvironment) async {
        var step: Step? = begun
        while let present = step {
            do throws(RequestFailure) {
                step = try await loadPage(of: present, in: environment)
                if step == nil { run.outcome.provide(.success(true)) }
            } catch {
                step = nil
                changing { $0.fail(present, error) }
                run.outcome.provide(.failure(error))
            }
            signals.raise()
        }
    }

    /// Loads the page of a step, and adds it to the list.
    ///
    /// - Returns: The next step of the operation.
    private func loadPage(of step: Step, in environment: AdoptedEnvironment) async throws(RequestFailure) -> Step? {
        try first.service.checkAdopted(environment)
        let page = try page(of: step)
        if case .refresh = step.operation {
            _ = try await page.load(in: environment)
        } else {
            _ = try await page.loadUnlessFresh(in: environment)
        }
        let state = page.state
        guard state.content != nil else { throw LoadOutcome.cancelledFailure }
        let next = try resource(after: page, state, step.page)
        switch changing({ $0.take(page, step, next: next) }) {
        case .none: throw LoadOutcome.cancelledFailure
        case .done: return nil
        case .goOn(let step): return step
        }
    }

    /// The page of a step. A refresh follows the pages that it has loaded.
    private func page(of step: Step) throws(RequestFailure) -> Resource<Page> {
        let (place, refreshed) = contents.withLock { contents in
            (contents.places.indices.contains(step.page) ? contents.places[step.page] : nil, contents.refreshed.last)
        }
        if let refreshed, let next = try resource(after: refreshed, refreshed.state, step.page - 1) { return next }
        guard let place else { throw LoadOutcome.cancelledFailure }
        return place.page ?? page(at: place.address, like: first)
    }
}

/// One operation of a list, and the number of its waiting callers. It is cancelled when no caller waits any more.
final class PageRun: Sendable {
    let outcome = OneShot<Result<Bool, RequestFailure>>()
    /// The first waiting caller is the task or the observer that begins the operation. The observer does not leave.
    private let state = Mutex<(waiting: Int, task: Task<Void, Never>?)>((1, nil))

    func start(_ work: @escaping @Sendable () async -> Void) {
        let task = Task { await work() }
        state.withLock { $0.task = task }
    }

    /// Adds a waiting caller.
    ///
    /// - Returns: `false` if the operation was cancelled.
    func join() -> Bool {
        state.withLock { state in
            if state.waiting > 0 { state.waiting += 1 }
            return state.waiting > 0
        }
    }

    func leave() {
        let abandoned = state.withLock { state in
            state.waiting -= 1
            return state.waiting == 0 ? state.task : nil
        }
        abandoned?.cancel()
    }
}

extension PagedResource.Contents {
    var shownPages: [Resource<Page>] { places[machine.window].compactMap(\.page) }

    /// Sets the page at a place. If the page differs from the previous one, the places after it are forgotten.
    fileprivate mutating func setPlace(_ index: Int, to page: Resource<Page>) {
        let place = PagedResource.Place(page)
        if places.indices.contains(index), places[index].address == place.address { return }
        places.removeLast(max(places.count - index, 0))
        places.append(place)
    }

    /// Removes wiped pages, and all pages after them.
    fileprivate mutating func removePages(from page: Int) {
        machine.truncate(to: page)
        places.removeLast(max(places.count - max(page, 1), 0))
        (frozen, refreshed) = (nil, [])
        changes &+= 1
    }

    /// Removes all pages and their addresses.
    fileprivate mutating func restart(with first: Resource<Page>) {
        machine.truncate(to: 0)
        places = [.init(first)]
        (frozen, refreshed, failure, built) = (nil, [], nil, nil)
        changes &+= 1
    }

    fileprivate mutating func begin(_ step: WindowMachine.Step, isRetry: Bool, _ states: [ResourceState<Page>]) {
        changes &+= 1
        failure = nil
        guard !isRetry else { return }
        refreshed = []
        switch step.operation {
        // After a failed refresh, the states from before it are shown until another operation succeeds.
        case .refresh(.first), .refresh(.allThenSwap): frozen = frozen ?? states
        case .refresh(.all), .next, .previous: break
        }
    }

    /// Adds a loaded page to the list.
    fileprivate mutating func take(
        _ page: Resource<Page>, _ step: WindowMachine.Step, next: Resource<Page>?
    ) -> WindowMachine.Change {
        // A page of the new list that links back to the list is its last page.
        let hasNext = next.map { next in next != page && !refreshed.contains(next) } ?? false
        let change = machine.loaded(step.ticket, hasNext: hasNext)
        guard change != .none else { return change }
        changes &+= 1
        guard case .refresh(let mode) = step.operation else {
            places[step.page].show(page)
            finish()
            return change
        }
        refreshed.append(page)
        if mode == .all, places.indices.contains(step.page) { places[step.page] = .init(page) }
        if change == .done {
            places = places.prefix(machine.window.lowerBound) + refreshed.map { .init($0) }
            finish()
        }
        return change
    }

    /// Ends an operation that has succeeded.
    private mutating func finish() {
        (frozen, refreshed, run) = (nil, [], nil)
        for index in places.indices where !machine.window.contains(index) { places[index].page = nil }
    }

    fileprivate mutating func fail(_ step: WindowMachine.Step, _ failure: RequestFailure) {
        guard machine.failed(step.ticket, isRepeatable: true) else { return }
        changes &+= 1
        run = nil
        self.failure = failure.reason == .cancelled ? nil : failure
    }
}

extension Resource {
    /// Returns the page of a list that a parameter selects. It is loaded with the settings of the same definition.
    func page(with name: String, _ value: String) -> Resource {
        let page = withParam(name, value)
        page.core.define(as: core)
        return page
    }
}

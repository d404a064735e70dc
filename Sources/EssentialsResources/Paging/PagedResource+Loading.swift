import EssentialsHTTP
import EssentialsTools

/// What is shown of a list.
struct ShownPages<Page: Sendable, Item: Sendable>: Sendable {
    /// The number of the first shown page.
    let start: Int
    let pages: [Resource<Page>]
    let states: [ResourceState<Page>]
    let changes: UInt64
    let isLoading: Bool
    let failure: RequestFailure?
    let built: PagedState<Item>?
}

/// The operations of a list.
extension PagedResource {
    /// What is shown now. Pages that were wiped, and those after them, are removed. If their account or environment was
    /// left, the list begins anew: also what is shown in their place, and the addresses of others, belonged to it.
    var shown: ShownPages<Page, Item> {
        while true {
            let (known, pages) = contents.withLock { ($0, $0.shownPages) }
            if known.places[known.machine.window].contains(where: \.wasLeft) {
                changing { if $0.changes == known.changes { $0.restart(with: first) } }
                continue
            }
            let present = pages.map(\.state)
            let start = known.machine.window.lowerBound
            if let gone = present.firstIndex(where: { $0.entity == nil }) {
                changing { if $0.changes == known.changes { $0.removePages(from: start + gone) } }
                continue
            }
            return ShownPages(
                start: start, pages: pages,
                states: known.frozen.flatMap { $0.count == pages.count ? $0 : nil } ?? present,
                changes: known.changes, isLoading: known.machine.running != nil, failure: known.failure,
                built: known.built)
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

    /// The resources that a reader observes: the shown pages, or the first one.
    var shownPages: [AnyResource] {
        let pages = contents.withLock { $0.shownPages }
        return pages.isEmpty ? [first.any] : pages.map(\.any)
    }

    func hasNext(_ shown: ShownPages<Page, Item>) -> Bool {
        guard let page = shown.pages.last, let state = shown.states.last, let content = state.content else {
            return true
        }
        guard let url = try? page.core.address.requestURL() else { return false }
        let index = shown.start + shown.states.count - 1
        let fields = state.entity?.headerFields ?? [:]
        return rules.step(.init(content: content, headerFields: fields, url: url, index: index)) != nil
    }

    /// Starts to load the first page, if none is shown. It ends also if nobody waits.
    func loadForObserver() {
        guard shown.states.isEmpty else { return }
        _ = try? begin(.next, isStarted: true)
    }

    /// Performs an operation, or waits for the same one that runs.
    ///
    /// - Parameter operation: The operation; `nil` repeats what has failed.
    @discardableResult
    func perform(_ operation: PagingMachine.Operation?) async throws(RequestFailure) -> Bool {
        while true {
            guard !Task.isCancelled else { throw LoadOutcome.cancelledFailure }
            switch try begin(operation, isStarted: false) {
            case .end: return false
            case .changed: continue
            case .wait(let run): await run.ended()
            case .run(let run):
                if let outcome = await run.outcome() { return try outcome.get() }
            }
        }
    }

    private enum Beginning {
        case run(PageRun)
        /// Another operation runs.
        case wait(PageRun)
        case end
        /// The list has changed meanwhile.
        case changed
    }

    private func begin(
        _ operation: PagingMachine.Operation?, isStarted: Bool
    ) throws(RequestFailure) -> Beginning {
        let environment = first.service.adoptEnvironment()
        let shown = shown
        // Rules are foreign code and are called without the lock.
        let next = operation == .next ? try nextPage(shown) : nil
        let (beginning, step) = changing { contents -> (Beginning, PagingMachine.Step?) in
            guard contents.changes == shown.changes else { return (.changed, nil) }
            let window = contents.machine.window
            if contents.machine.running == nil, let next, !window.isEmpty {
                contents.setPlace(window.upperBound, to: next)
            }
            let hasNext = window.isEmpty || next != nil
            let decision = operation.map { contents.machine.begin($0, hasNext: hasNext) } ?? contents.machine.retry()
            switch decision {
            case .end: return (.end, nil)
            case .join: return (contents.run.map { .run($0) } ?? .end, nil)
            case .wait: return (contents.run.map { .wait($0) } ?? .end, nil)
            case .begin(let step):
                contents.begin(step, isRetry: operation == nil, shown.states)
                let run = PageRun(isStarted: isStarted)
                contents.run = run
                return (.run(run), step)
            }
        }
        if let step, case .run(let run) = beginning {
            signals.raise()
            run.start { [self] in await load(step, run, in: environment) }
        }
        return beginning
    }

    /// The page after the last one that is shown; `nil` if there is none, or if it is in the list already.
    private func nextPage(_ shown: ShownPages<Page, Item>) throws(RequestFailure) -> Resource<Page>? {
        guard let page = shown.pages.last, let state = shown.states.last else { return nil }
        let index = shown.start + shown.states.count - 1
        let next = try rules.next(after: page, state, index: index)
        guard next == nil || index + 1 < Self.maximumLength else {
            throw RequestFailure(
                .tooLarge, "The list has more than \(Self.maximumLength) pages.",
                remedy: "Ask the server for larger pages, or for a part of the list.")
        }
        guard let next, !contents.withLock({ $0.leadsBack(to: next, before: $0.machine.window.upperBound) }) else {
            return nil
        }
        return next
    }

    /// Loads the pages of an operation, all of them in the environment and with the credentials in which it began.
    private func load(_ begun: PagingMachine.Step, _ run: PageRun, in environment: AdoptedEnvironment) async {
        var step = begun
        do throws(RequestFailure) {
            while true {
                try first.service.checkAdopted(environment)
                let page = try page(of: step)
                if case .refresh = step.operation {
                    _ = try await page.load(in: environment)
                } else {
                    _ = try await page.loadUnlessFresh(in: environment)
                }
                guard let next = try finish(step, page) else { break }
                step = next
            }
            run.end(.success(true))
        } catch {
            changing { $0.fail(step, error) }
            run.end(.failure(error))
        }
        signals.raise()
    }

    /// The page of a step.
    private func page(of step: PagingMachine.Step) throws(RequestFailure) -> Resource<Page> {
        let (place, refreshed) = contents.withLock { contents in
            (contents.places.indices.contains(step.page) ? contents.places[step.page] : nil, contents.refreshed.last)
        }
        if let refreshed, case .refresh = step.operation,
            let next = try rules.next(after: refreshed, refreshed.state, index: step.page - 1)
        {
            return next
        }
        guard let place else { throw LoadOutcome.cancelledFailure }
        return place.page
            ?? first.service.resource(at: place.address, variant: first.core.variant).resource(as: Page.self)
    }

    /// Takes a loaded page into the list.
    ///
    /// - Returns: The next step of the operation.
    private func finish(
        _ step: PagingMachine.Step, _ page: Resource<Page>
    ) throws(RequestFailure) -> PagingMachine.Step? {
        let state = page.state
        guard state.content != nil else { throw LoadOutcome.cancelledFailure }
        let next = try rules.next(after: page, state, index: step.page)
        let change = changing { contents in contents.take(page, step, next: next) }
        switch change {
        case .none: throw LoadOutcome.cancelledFailure
        case .done: return nil
        case .goOn(let step):
            signals.raise()
            return step
        }
    }
}

extension PagedResource.Contents {
    var shownPages: [Resource<Page>] { places[machine.window].compactMap(\.page) }

    /// Whether a page is in the list already, so that it would make the list endless.
    fileprivate func leadsBack(to page: Resource<Page>, before end: Int) -> Bool {
        let address = PagedResource.Place(page).address
        return places.prefix(end).contains { $0.address == address }
    }

    /// Sets the page at a place. If it is another one than before, those after it are forgotten.
    fileprivate mutating func setPlace(_ index: Int, to page: Resource<Page>) {
        let place = PagedResource.Place(page)
        if places.indices.contains(index), places[index].address == place.address { return }
        places.removeLast(max(places.count - index, 0))
        places.append(place)
    }

    /// Removes pages that were wiped, and all after them.
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

    fileprivate mutating func begin(
        _ step: PagingMachine.Step, isRetry: Bool, _ states: [ResourceState<Page>]
    ) {
        changes &+= 1
        failure = nil
        guard !isRetry else { return }
        refreshed = []
        switch step.operation {
        // What a failed refresh has left is shown until another operation succeeds.
        case .refresh(.first), .refresh(.allThenSwap): frozen = frozen ?? states
        case .refresh(.all), .next, .previous: break
        }
    }

    /// Takes a loaded page into the list.
    fileprivate mutating func take(
        _ page: Resource<Page>, _ step: PagingMachine.Step, next: Resource<Page>?
    ) -> PagingMachine.Change {
        // A page of the new list that leads back is its last one.
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

    fileprivate mutating func fail(_ step: PagingMachine.Step, _ failure: RequestFailure) {
        guard machine.failed(step.ticket, isRepeatable: true) else { return }
        changes &+= 1
        run = nil
        self.failure = failure.reason == .cancelled ? nil : failure
    }
}

public import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools

/// A list that the server divides into pages.
///
/// ```swift
/// let films = PagedResource(service.resource("films", as: [Film].self), by: .link())
/// try await films.next()                                  // loads the first page, then the one after the last
/// for await state in films.states(loading: .ifNeeded) { draw(state.items) }
/// try await films.refresh(.allThenSwap)
/// ```
///
/// Each page is a resource of its own, with the configuration and the freshness of resources, so a page that is in
/// memory and fresh needs no request. If a page is changed or loaded elsewhere, the list changes too. Pages that were
/// wiped are not shown any more.
///
/// A page that links back to a page of the list counts as the last one, so a server cannot cause an endless list of the
/// same pages. A page on another origin is loaded like any resource there: without credentials, and only from listed
/// hosts.
///
/// One operation runs at a time. Tasks that call the same operation wait for it together, and it is cancelled only when
/// no task waits for it any more. Other operations wait for their turn. After a failure the list stays, and the same
/// call or ``retry()`` repeats the page that failed.
///
/// It can be used from any task and thread.
public final class PagedResource<Page: Sendable, Item: Sendable & Identifiable>: Sendable where Item.ID: Sendable {
    /// A place in the list whose address is known.
    struct Place: Sendable {
        let address: ResourceAddress
        /// The page, if it is shown or being loaded. Other pages are not kept in memory.
        var page: Resource<Page>?
        /// The first version of the account and environment to which the page belongs.
        private var firstVersion: UInt64

        init(_ page: Resource<Page>) {
            let core = page.core
            (address, self.page) = (.url(core.address.text), page)
            firstVersion = core.flags.firstVersion
        }

        /// Shows a page here.
        mutating func show(_ page: Resource<Page>) {
            self.page = page
            firstVersion = page.core.flags.firstVersion
        }

        /// Whether the account or environment of the page was left after the page was shown.
        var wasLeft: Bool { page.map { $0.core.flags.firstVersion != firstVersion } ?? false }
    }

    struct Contents: Sendable {
        var machine: WindowMachine
        /// The known pages, beginning with the first page.
        var places: [Place]
        /// The pages that the current refresh has loaded.
        var refreshed: [Resource<Page>] = []
        /// The states that are shown instead of the current ones, until all pages are replaced together.
        var frozen: [ResourceState<Page>]?
        /// Counts the changes of the list, apart from changes of its pages.
        var changes: UInt64 = 0
        var failure: RequestFailure?
        var run: PageRun?
        /// The state that was built last.
        var built: PagedState<Item>?
    }

    /// The maximum number of pages of a list, shown or not. The addresses of all of them are kept.
    public static var maximumLength: Int { 10_000 }

    /// The first page, with the size of a page if the paging has one.
    public let first: Resource<Page>
    let paging: Paging<Page>
    private let items: @Sendable (Page) -> [Item]
    let contents: Mutex<Contents>
    /// The signals of the readers of the states.
    let signals = ChangeSignals()

    /// Creates a list. It loads nothing yet.
    ///
    /// - Parameters:
    ///   - first: The first page.
    ///   - paging: How the page after a page is found.
    ///   - maximumPages: The maximum number of shown pages. Beyond it, pages at the far end are dropped; ``previous()``
    ///     or ``next()`` can load them again.
    ///   - items: Returns the items of a page. It is called without a lock.
    public init(
        _ first: Resource<Page>, by paging: Paging<Page>, maximumPages: Int = 64,
        items: @escaping @Sendable (Page) -> [Item]
    ) {
        // An invalid size makes the first load fail.
        let size = try? paging.sizeItem()
        self.first = size.map { first.page(with: $0.name, $0.value) } ?? first
        (self.paging, self.items) = (paging, items)
        contents = Mutex(Contents(machine: WindowMachine(maximumPages: maximumPages), places: [Place(self.first)]))
    }

    // MARK: State

    /// The current state. Reading it sends nothing and waits for nothing.
    public var state: PagedState<Item> {
        let shown = shown
        // A change of the list weighs more than a change of a page, because it can replace pages by others.
        let known = shown.contents
        let version =
            (known.changes << 32) &+ shown.states.reduce(0) { $0 &+ $1.version } &+ UInt64(shown.states.count)
        if let built = known.built, built.version == version { return built }
        var ids: Set<Item.ID> = []
        let all = shown.states.flatMap { $0.content.map(items) ?? [] }.filter { ids.insert($0.id).inserted }
        let state = PagedState(
            items: all, pageCount: shown.states.count, hasNext: hasNext(shown),
            hasPrevious: known.machine.window.lowerBound > 0, isLoading: known.machine.running != nil,
            failure: known.failure, version: version)
        let released = contents.withLock { contents in
            defer { contents.built = state }
            return contents.built
        }
        _ = consume released
        return state
    }

    /// The states: the current one, then the newest one after each change.
    ///
    /// - Parameter loading: Whether the first page is also loaded if no page is shown when the observation begins.
    public func states(loading: ObserverLoading = .none) -> States { States(list: self, loading: loading) }

    /// The states without a load; see ``states(loading:)``.
    public var states: States { states() }

    // MARK: Loading

    /// Loads the page after the last one, or the first page if none is shown.
    ///
    /// - Returns: Whether there was a page to load.
    /// - Throws: The failures of ``Resource/loadIfNeeded(priority:)``; `protocolViolation` for an invalid link;
    ///   `tooLarge` for a link or a cursor that is too long, and if the list has ``maximumLength`` pages.
    @discardableResult
    public func next() async throws(RequestFailure) -> Bool { try await perform(.next) }

    /// Loads the page before the first shown one, which was dropped earlier.
    ///
    /// - Returns: Whether there was a page to load.
    /// - Throws: The failures of ``Resource/loadIfNeeded(priority:)``.
    @discardableResult
    public func previous() async throws(RequestFailure) -> Bool { try await perform(.previous) }

    /// Loads pages again, even if they are fresh. The cursors and links of the new pages lead to the pages after them.
    ///
    /// All pages are loaded in the environment and with the credentials with which the operation began.
    ///
    /// - Throws: The failures of ``Resource/load(_:priority:)``; `protocolViolation` for an invalid link;
    ///   `authorization` if the credentials were cleared or replaced between two pages, and `cancelled` if another
    ///   environment or partition was entered.
    public func refresh(_ mode: PageRefresh = .allThenSwap) async throws(RequestFailure) {
        try await perform(.refresh(mode))
    }

    /// Repeats the last failed operation, from the page that failed. Pages that it has already loaded are not loaded
    /// again.
    ///
    /// - Returns: Whether there was such an operation.
    /// - Throws: The failures of the operation.
    @discardableResult
    public func retry() async throws(RequestFailure) -> Bool { try await perform(nil) }
}

extension PagedResource where Page == [Item] {
    /// Creates a list whose pages are arrays of its items.
    public convenience init(_ first: Resource<Page>, by paging: Paging<Page>, maximumPages: Int = 64) {
        self.init(first, by: paging, maximumPages: maximumPages) { $0 }
    }
}

extension PagedResource: CustomStringConvertible {
    /// The URL of the first page for logs, without credentials.
    public var description: String { "pages of \(first)" }
}

public import EssentialsHTTP

extension PageSequence where Model: Sequence {
    /// The items of all pages as one sequence.
    ///
    /// ```swift
    /// for try await user in requests.pages(of: .get("users"), as: [User].self).items { show(user) }
    /// ```
    public var items: PageItems<Model, Model> { PageItems(pages: self) { $0 } }
}

extension PageSequence {
    /// The items of all pages as one sequence.
    ///
    /// ```swift
    /// let list = requests.pages(of: .get("users"), as: UserList.self, by: .cursor("after", in: \.cursor))
    /// for try await user in list.items(\.users) { show(user) }
    /// ```
    ///
    /// - Parameter items: Returns the items of one page.
    public func items<Items: Sequence>(_ items: @escaping @Sendable (Model) -> Items) -> PageItems<Model, Items> {
        PageItems(pages: self, items: items)
    }
}

/// The items of all pages of a list, created by ``PageSequence/items(_:)``.
///
/// A page is requested when the items of the page before it are used up, so the failure of a page is thrown in place of
/// its first item.
public struct PageItems<Model: Sendable, Items: Sequence>: AsyncSequence, Sendable {
    /// An item of a page.
    public typealias Element = Items.Element
    /// The failure that ends the list early.
    public typealias Failure = RequestFailure

    private let pages: PageSequence<Model>
    private let items: @Sendable (Model) -> Items

    init(pages: PageSequence<Model>, items: @escaping @Sendable (Model) -> Items) {
        self.pages = pages
        self.items = items
    }

    /// Begins with the first item of the first page.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(pages: pages.makeAsyncIterator(), items: items)
    }

    /// Goes through the items and requests the pages one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var pages: PageSequence<Model>.AsyncIterator
        fileprivate let items: @Sendable (Model) -> Items
        private var current: Items.Iterator?

        fileprivate init(pages: PageSequence<Model>.AsyncIterator, items: @escaping @Sendable (Model) -> Items) {
            self.pages = pages
            self.items = items
        }

        /// The next item; `nil` after the last one and after a failure.
        ///
        /// - Throws: The failures of ``DataRequestService/pages(of:as:by:maximumPages:)``.
        public mutating func next() async throws(RequestFailure) -> Items.Element? {
            try await next(isolation: #isolation)
        }

        /// The next item, read on the caller's actor. A `for` loop calls this method.
        ///
        /// - Throws: The same failures as ``next()``.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RequestFailure) -> Items.Element? {
            while true {
                if let item = current?.next() { return item }
                current = nil
                guard let page = try await pages.next(isolation: actor) else { return nil }
                current = items(page.model).makeIterator()
            }
        }
    }
}

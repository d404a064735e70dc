public import EssentialsHTTP

extension PageSequence where Model: Sequence {
    /// The items of all pages as one sequence.
    ///
    /// ```swift
    /// for try await user in requests.pages(of: .get("users"), as: [User].self).items { show(user) }
    /// ```
    public var items: Items<Model> { items { $0 } }
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
    public func items<Part: Sequence>(_ items: @escaping @Sendable (Model) -> Part) -> Items<Part> {
        Items(pages: self, items: items)
    }

    /// The items of all pages of a list, created by ``items(_:)``.
    ///
    /// A page is requested when the items of the page before it are used up, so the failure of a page is thrown in place
    /// of its first item.
    public struct Items<Part: Sequence>: AsyncSequence, Sendable {
        /// An item of a page.
        public typealias Element = Part.Element
        /// The failure that ends the list early.
        public typealias Failure = RequestFailure

        fileprivate let pages: PageSequence
        fileprivate let items: @Sendable (Model) -> Part

        /// Begins with the first item of the first page.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(pages: pages.makeAsyncIterator(), items: items)
        }

        /// Goes through the items and requests the pages one after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var pages: PageSequence.AsyncIterator
            fileprivate let items: @Sendable (Model) -> Part
            fileprivate var current: Part.Iterator?

            /// The next item; `nil` after the last one and after a failure.
            ///
            /// - Throws: The failures of ``DataRequestService/pages(of:as:by:maximumPages:)``.
            public mutating func next() async throws(RequestFailure) -> Part.Element? {
                try await next(isolation: #isolation)
            }

            /// The next item, read on the caller's actor. A `for` loop calls this method.
            ///
            /// - Throws: The same failures as ``next()``.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(RequestFailure) -> Part.Element? {
                while true {
                    if let item = current?.next() { return item }
                    current = nil
                    guard let page = try await pages.next(isolation: actor) else { return nil }
                    current = items(page.model).makeIterator()
                }
            }
        }
    }
}

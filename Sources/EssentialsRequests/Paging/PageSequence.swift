public import EssentialsHTTP

extension DataRequestService {
    /// The pages of a list, each requested when the loop asks for it.
    ///
    /// ```swift
    /// for try await page in requests.pages(of: .get("users"), as: [User].self) {
    ///     print(page.index, page.model.count, page.response.status.code)
    /// }
    /// for try await user in requests.pages(of: .get("users"), as: [User].self).items { show(user) }
    /// ```
    ///
    /// The first failure ends the sequence. Besides the failures of ``model(of:as:)``, it can be
    ///
    /// - `hostRefused` for a link to another origin, and `invalidRequest` for one that leaves the path of the base URL;
    /// - `hostRefused` if the environment's base URL has changed since the first page of a list by cursor or number;
    /// - `protocolViolation` for a link that is not a URL, and for a link or a cursor that an earlier page had;
    /// - `tooLarge` if there are more pages than `maximumPages`.
    ///
    /// - Parameters:
    ///   - request: The request for the first page. If it cannot be built, the first page fails.
    ///   - type: The model type of a page.
    ///   - paging: How the next page is requested. The default is a `Link` field with the relation `next`.
    ///   - maximumPages: The maximum number of pages. To stop earlier without a failure, use `prefix(_:)` or leave the
    ///     loop.
    public func pages<Model: Decodable & Sendable>(
        of request: some BuildableRequest, as type: Model.Type = Model.self, by paging: Paging<Model> = .link(),
        maximumPages: Int = PageSequence<Model>.standardMaximum
    ) -> PageSequence<Model> {
        PageSequence(
            requests: self, machine: PageMachine(first: request, paging: paging, maximumPages: maximumPages)
        ) { requests, request throws(RequestFailure) in
            try await requests.response(to: request, as: type)
        }
    }
}

/// The pages of a list, created by ``DataRequestService/pages(of:as:by:maximumPages:)``.
///
/// One request is sent for each page that the loop asks for, and nothing is sent in advance. Each iteration begins with
/// the first page. Delivered pages are not kept. If the calling task is cancelled, the next page fails as `cancelled`.
/// After the last page and after a failure, the iterator returns `nil`.
public struct PageSequence<Model: Sendable>: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = Paging<Model>.Page
    /// The failure that ends the list early.
    public typealias Failure = RequestFailure

    typealias Fetch =
        @Sendable (any DataRequestService, DataRequest) async throws(RequestFailure) -> ModelResponse<Model>

    /// The default for the maximum number of pages: 1,000.
    public static var standardMaximum: Int { 1_000 }

    fileprivate let requests: any DataRequestService
    fileprivate let machine: PageMachine<Model>
    fileprivate let fetch: Fetch

    /// Begins with the first page.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self, machine: machine) }

    /// Requests the pages one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pages: PageSequence
        fileprivate var machine: PageMachine<Model>
        /// For whom the pages are requested, from the first one on.
        fileprivate var scope: CredentialScope?

        /// The next page; `nil` after the last one and after a failure.
        ///
        /// - Throws: The failures of ``DataRequestService/pages(of:as:by:maximumPages:)``.
        public mutating func next() async throws(RequestFailure) -> Element? {
            try await next(isolation: #isolation)
        }

        /// The next page, decoded on the caller's actor if it is small. A `for` loop calls this method.
        ///
        /// - Throws: The same failures as ``next()``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(RequestFailure) -> Element? {
            guard var request = try machine.next() else { return nil }
            if scope == nil { scope = pages.requests.sender?.scope(of: request) }
            request.scope = scope
            let received: ModelResponse<Model>
            do throws(RequestFailure) {
                if Task.isCancelled { throw RequestFailure(.cancelled, "The request was cancelled.") }
                received = try await pages.fetch(pages.requests, request)
            } catch {
                throw machine.explained(error)
            }
            return try machine.received(received, to: request)
        }
    }
}

extension PageSequence: CustomReflectable {
    /// The maximum number of pages, for debuggers and `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["maximumPages": machine.maximumPages]) }
}

import EssentialsHTTP

/// How the next page of a list is found: by a link, a cursor or a number.
///
/// ```swift
/// requests.pages(of: .get("users"), as: [User].self)                                  // Link: <…>; rel=next
/// requests.pages(of: .get("users"), as: UserList.self, by: .link(in: \.next))         // {"next": "/users?page=2", …}
/// requests.pages(of: .get("users"), as: UserList.self, by: .cursor("after", in: \.cursor))
/// requests.pages(of: .get("users"), as: [User].self, by: .number("page", size: ("per_page", 50)))
/// ```
///
/// The same value describes the pages of requests and of resources, a ``PageSequence`` and a `PagedResource`.
public struct Paging<Model: Sendable>: Sendable {
    /// One page of a list.
    public struct Page: Sendable {
        /// The decoded body.
        public let model: Model
        /// The whole response. For a page of a `PagedResource` it has the header fields and the URL, but no body.
        public let response: DataResponse
        /// The number of pages before this one.
        public let index: Int

        /// Creates a page, for tests of closures that end a list.
        public init(_ model: Model, response: DataResponse = DataResponse(), index: Int = 0) {
            self.model = model
            self.response = response
            self.index = index
        }
    }

    /// A query parameter that counts pages or items.
    struct Numbering: Sendable {
        let name: String
        let first: Int
        let step: Int
        let size: (name: String, count: Int)?
        let isLast: @Sendable (Page) -> Bool
    }

    enum Rule: Sendable {
        /// The target of the link to the next page.
        case link(@Sendable (Page) -> String?)
        case cursor(String, @Sendable (Page) -> String?)
        case number(Numbering)
    }

    let rule: Rule

    // MARK: Links

    /// The URL of the next page is in the `Link` field of each page (RFC 8288). A page without the link is the last.
    ///
    /// A ``PageSequence`` requests it with the credentials, so it has to lead to the environment's origin, and below its
    /// base URL. With ``PathResolution/rfc3986`` it may leave the path of the base URL, as every path may then. Its query
    /// replaces the query of the request. A `PagedResource` loads it like any resource with this URL.
    ///
    /// - Parameter relation: The relation type of the link. A link with an anchor that is another resource does not count.
    public static func link(relation: String = "next") -> Paging {
        Paging(rule: .link { $0.response.link(rel: relation)?.target })
    }

    /// The URL of the next page is in the model. A page with `nil` or an empty text is the last; see
    /// ``link(relation:)``.
    ///
    /// - Parameter next: Returns an absolute URL, or a reference relative to the URL of the page.
    public static func link(in next: @escaping @Sendable (Model) -> String?) -> Paging {
        Paging(rule: .link { nonEmpty(next($0.model)) })
    }

    // MARK: Cursors

    /// A cursor in the model is the value of a query parameter for the next page.
    ///
    /// The first page is requested without a change. A page with `nil` or an empty text is the last.
    ///
    /// - Parameters:
    ///   - name: The name of the query parameter.
    ///   - next: Returns the cursor of the next page.
    public static func cursor<Cursor: LosslessStringConvertible & SendableMetatype>(
        _ name: String, in next: @escaping @Sendable (Model) -> Cursor?
    ) -> Paging {
        Paging(rule: .cursor(name) { page in nonEmpty(next(page.model)?.description) })
    }

    /// A cursor in the response, such as a header field, is the value of a query parameter for the next page; see
    /// ``cursor(_:in:)``.
    public static func cursor(
        _ name: String, inResponse next: @escaping @Sendable (DataResponse) -> String?
    ) -> Paging {
        Paging(rule: .cursor(name) { nonEmpty(next($0.response)) })
    }

    private static func nonEmpty(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }

    // MARK: Numbers

    /// A query parameter has the number of the page, until a closure accepts a page as the last.
    ///
    /// A ``PageSequence`` adds the number to the request of the first page. The first page of a `PagedResource` is a
    /// resource that others use too, so it keeps its URL without the number.
    ///
    /// - Parameters:
    ///   - name: The name of the query parameter.
    ///   - first: The number of the first page.
    ///   - step: The difference between two numbers: 1 for pages, the size of a page for offsets.
    ///   - size: The name and the value of a query parameter for the size of a page. The default is `nil`, which means
    ///     that it is not sent.
    ///   - isLast: Whether no page follows this one.
    public static func number(
        _ name: String = "page", from first: Int = 1, step: Int = 1, size: (name: String, count: Int)? = nil,
        isLast: @escaping @Sendable (Page) -> Bool
    ) -> Paging {
        Paging(rule: .number(Numbering(name: name, first: first, step: step, size: size, isLast: isLast)))
    }

    /// A query parameter has the number of the page, and the model knows how many pages there are; see
    /// ``number(_:from:step:size:isLast:)``.
    public static func number(
        _ name: String = "page", from first: Int = 1, step: Int = 1, size: (name: String, count: Int)? = nil,
        pageCount: @escaping @Sendable (Model) -> Int
    ) -> Paging {
        number(name, from: first, step: step, size: size) { $0.index + 1 >= pageCount($0.model) }
    }

    /// A query parameter has the number of the page, and the model knows how many items all pages have together; see
    /// ``number(_:from:step:size:isLast:)``. The server has to accept the size of a page, because the number of pages is
    /// computed from it.
    public static func number(
        _ name: String = "page", from first: Int = 1, step: Int = 1, size: (name: String, count: Int),
        itemCount: @escaping @Sendable (Model) -> Int
    ) -> Paging {
        number(name, from: first, step: step, size: size) { page in
            let (requested, isBeyond) = (page.index + 1).multipliedReportingOverflow(by: size.count)
            return isBeyond || requested >= itemCount(page.model)
        }
    }
}

extension Paging where Model: Collection {
    /// A query parameter has the number of the page, until a page is empty; see
    /// ``number(_:from:step:size:isLast:)``. The empty page belongs to the list too.
    public static func number(
        _ name: String = "page", from first: Int = 1, step: Int = 1, size: (name: String, count: Int)? = nil
    ) -> Paging {
        number(name, from: first, step: step, size: size) { $0.model.isEmpty }
    }
}

extension Paging {
    /// What leads to the page after a page.
    package enum Next: Sendable, Hashable {
        /// The target of a link, which can be relative to the URL of the page.
        case link(String)
        /// The name of a query item, and a cursor as its value.
        case cursor(String, String)
        /// The name of a query item, and a number as its value.
        case number(String, String)
    }

    /// Decides what leads to the page after a page, for lists of requests and of resources.
    ///
    /// - Returns: `nil` after the last page.
    /// - Throws: `tooLarge` for a link or a cursor that is too long, and for a number that does not fit into an `Int`.
    package func next(after page: Page) throws(RequestFailure) -> Next? {
        switch rule {
        case .link(let target): return try checked(target(page), "link", page).map { .link($0) }
        case .cursor(let name, let cursor): return try checked(cursor(page), "cursor", page).map { .cursor(name, $0) }
        case .number(let numbering):
            guard !numbering.isLast(page) else { return nil }
            let (offset, isBeyond) = (page.index + 1).multipliedReportingOverflow(by: numbering.step)
            let (number, isBeyondToo) = numbering.first.addingReportingOverflow(offset)
            guard !isBeyond, !isBeyondToo else {
                throw RequestFailure(
                    .tooLarge, "The number after page \(page.index + 1) does not fit into an Int.",
                    remedy: "Begin with a smaller number, or use a smaller step.",
                    host: page.response.url?.origin.host.text)
            }
            return .number(numbering.name, "\(number)")
        }
    }

    /// The query item for the size of a page, which the first page needs too; `nil` if the size is not sent.
    ///
    /// - Throws: `invalidRequest` if the size is below 1.
    package func sizeItem() throws(RequestFailure) -> (name: String, value: String)? {
        guard case .number(let numbering) = rule, let size = numbering.size else { return nil }
        guard size.count > 0 else {
            throw RequestFailure(
                .invalidRequest, "A page of \(size.count) items was requested.",
                remedy: "Request at least one item for each page.")
        }
        return (size.name, "\(size.count)")
    }

    /// The text of a link or a cursor. Its length is limited, because texts are kept to recognise repetitions.
    private func checked(_ text: String?, _ kind: String, _ page: Page) throws(RequestFailure) -> String? {
        guard let text, text.utf8.count > ResourceURL.maximumBytes else { return text }
        throw RequestFailure(
            .tooLarge, "The \(kind) after page \(page.index + 1) is longer than \(ResourceURL.maximumBytes) bytes.",
            remedy: "Report this to the operators of the server: it has to fit into a URL.", phase: .receiving,
            host: page.response.url?.origin.host.text)
    }
}

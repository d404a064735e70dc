/// How the next page of a list is requested: by a link, a cursor or a number.
///
/// ```swift
/// requests.pages(of: .get("users"), as: [User].self)                                  // Link: <…>; rel=next
/// requests.pages(of: .get("users"), as: UserList.self, by: .link(in: \.next))         // {"next": "/users?page=2", …}
/// requests.pages(of: .get("users"), as: UserList.self, by: .cursor("after", in: \.cursor))
/// requests.pages(of: .get("users"), as: [User].self, by: .number("page", size: ("per_page", 50)))
/// ```
///
/// Header fields, body, options, expected statuses and error model of the request are the same for every page.
public struct Paging<Model: Sendable>: Sendable {
    /// A page of this model.
    public typealias Page = PageSequence<Model>.Page

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
    /// The link has to lead to the environment's origin, and below its base URL, because it is requested with the
    /// credentials. With ``PathResolution/rfc3986`` it may leave the path of the base URL, as every path may then. Its
    /// query replaces the query of the request.
    ///
    /// - Parameter relation: The relation type of the link.
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
    /// ``number(_:from:step:size:isLast:)``. The empty page is an element of the sequence too.
    public static func number(
        _ name: String = "page", from first: Int = 1, step: Int = 1, size: (name: String, count: Int)? = nil
    ) -> Paging {
        number(name, from: first, step: step, size: size) { $0.model.isEmpty }
    }
}

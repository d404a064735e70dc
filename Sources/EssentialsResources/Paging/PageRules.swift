import EssentialsHTTP

/// How the page after a page is found.
///
/// ```swift
/// let byLink = PageRules<[User]>.link()
/// let byCursor = PageRules<UserList>.cursor("after") { $0.nextCursor }
/// let byNumber = PageRules<[Film]>.number("page", from: 1) { page in page.isEmpty }
/// ```
///
/// A page that leads to a page of the list is the last one, so a server cannot cause an endless list of the same pages. A
/// page on another origin is loaded like any resource there: without credentials, and from listed hosts only.
public struct PageRules<Page: Sendable>: Sendable {
    /// Where the next page is.
    enum Step: Sendable, Hashable {
        /// At a reference, relative to the URL of the page.
        case reference(String)
        /// At the URL of the page with another query item.
        case parameter(String, String)
    }

    /// A page that was loaded.
    struct Loaded: Sendable {
        let content: Page
        let headerFields: HTTPFields
        let url: RequestURL
        /// The number of the page from 0.
        let index: Int
    }

    let step: @Sendable (Loaded) -> Step?

    /// The URL of a link in the `Link` field ([RFC 8288](https://www.rfc-editor.org/rfc/rfc8288)). A page without the link
    /// is the last one. Links of which the anchor is another resource do not count.
    ///
    /// - Parameter relation: The relation type of the link.
    public static func link(relation: String = "next") -> PageRules {
        PageRules { page in
            page.headerFields.links.first { $0.hasRelation(relation) && $0.belongs(to: page.url) }
                .map { .reference($0.target) }
        }
    }

    /// A URL in the content, which may be relative.
    ///
    /// - Parameter reference: Returns the URL; `nil` or an empty text for the last page.
    public static func link(in reference: @escaping @Sendable (Page) -> String?) -> PageRules {
        PageRules { page in reference(page.content).filled.map { .reference($0) } }
    }

    /// The same URL with a cursor from the content.
    ///
    /// - Parameters:
    ///   - parameter: The query item for the cursor.
    ///   - cursor: Returns the cursor; `nil` or an empty text for the last page.
    public static func cursor(
        _ parameter: String, in cursor: @escaping @Sendable (Page) -> String?
    ) -> PageRules {
        PageRules { page in cursor(page.content).filled.map { .parameter(parameter, $0) } }
    }

    /// The same URL with the next number, of a page or of its first item.
    ///
    /// ```swift
    /// let lines = PageRules<[String]>.number("offset", from: 0, step: 100) { $0.count < 100 }
    /// ```
    ///
    /// - Parameters:
    ///   - parameter: The query item for the number.
    ///   - start: The number of the first page.
    ///   - step: How much a page adds.
    ///   - isLast: Whether a page is the last one.
    public static func number(
        _ parameter: String, from start: Int = 1, step: Int = 1, isLast: @escaping @Sendable (Page) -> Bool
    ) -> PageRules {
        PageRules { page in
            guard !isLast(page.content) else { return nil }
            let (product, overflows) = step.multipliedReportingOverflow(by: page.index + 1)
            let (number, exceeds) = start.addingReportingOverflow(product)
            return overflows || exceeds ? nil : .parameter(parameter, String(number))
        }
    }
}

extension Optional<String> {
    /// The text; `nil` if it is empty.
    fileprivate var filled: String? { self?.isEmpty == true ? nil : self }
}

extension PageRules {
    /// The resource of the page after a page; `nil` after the last one.
    ///
    /// - Throws: `protocolViolation` if the server sent a link that is not an http or https URL.
    func next(
        after page: Resource<Page>, _ state: ResourceState<Page>, index: Int
    ) throws(RequestFailure) -> Resource<Page>? {
        guard let content = state.content, let url = try? page.core.address.requestURL() else { return nil }
        let fields = state.entity?.headerFields ?? [:]
        switch step(Loaded(content: content, headerFields: fields, url: url, index: index)) {
        case nil: return nil
        case .parameter(let name, let value): return page.withParam(name, value)
        case .reference(let reference):
            let target = try WebLink.url(of: reference, relativeTo: url)
            return page.service.resource(at: .url(target.description), variant: page.core.variant)
                .resource(as: Page.self)
        }
    }
}

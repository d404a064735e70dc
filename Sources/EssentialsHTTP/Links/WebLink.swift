/// One link of a `Link` header field (RFC 8288, 3).
///
/// ```swift
/// // Link: <https://api.example.com/users?page=2>; rel="next", </style.css>; rel=preload; as=style
/// for link in response.headerFields.links where link.hasRelation("next") {
///     print(try link.url(relativeTo: responseURL))        // https://api.example.com/users?page=2
/// }
/// ```
///
/// Fields are parsed as RFC 8288, appendix B describes: a link that can be parsed is kept, and everything after text
/// that is not a link is ignored. A malformed field is not an error.
public struct WebLink: Sendable, Hashable {
    /// A target attribute or any other parameter of a link.
    public struct Parameter: Sendable, Hashable {
        /// The name in lower case, such as `title` or `title*`.
        public let name: String
        /// The value, without quotation marks and decoded; empty if the parameter has none.
        public let value: String

        /// Creates a parameter. The name is converted to lower case.
        public init(name: String, value: String) {
            self.name = name.lowercased()
            self.value = value
        }
    }

    /// The maximum number of links that are read from the fields of one message. Further ones are ignored.
    public static let maximumLinks = 256
    /// The maximum number of relations, and the maximum number of parameters, of one link. Further ones are ignored.
    public static let maximumParameters = 64
    /// The maximum number of bytes that are read from the fields of one message. Later fields are ignored.
    public static let maximumBytes = 64 << 10

    /// The target as the server sent it: an absolute URL or a relative reference. ``url(relativeTo:)`` resolves it.
    public let target: String
    /// The relation types in lower case, such as `next`, in order and without repetitions. An extension relation type
    /// is a URL (RFC 8288, 2.1.2).
    public let relations: [String]
    /// All parameters except `rel`, in order. A parameter that a link may have only once has its first value.
    ///
    /// A parameter whose name ends with `*` has the text that its extended value means (RFC 8187, 3.2). It is left out
    /// if it cannot be decoded.
    public let parameters: [Parameter]

    /// Creates a link, for test doubles. Relation types are converted to lower case.
    public init(_ target: String, relations: [String], parameters: [Parameter] = []) {
        self.target = target
        var seen: [String] = []
        for relation in relations.prefix(Self.maximumParameters).map({ $0.lowercased() })
        where !seen.contains(relation) {
            seen.append(relation)
        }
        self.relations = seen
        self.parameters = parameters
    }

    /// The first value of a parameter; `nil` if there is none. Names are not case-sensitive.
    public subscript(name: String) -> String? {
        let name = name.lowercased()
        return parameters.first { $0.name == name }?.value
    }

    /// Whether the link has a relation type. Relation types are not case-sensitive (RFC 8288, 2.1).
    public func hasRelation(_ relation: String) -> Bool { relations.contains(relation.lowercased()) }

    /// A label for people: the value of `title*` if there is one, otherwise of `title` (RFC 8288, 3.4.1).
    public var title: String? { self["title*"] ?? self["title"] }
    /// The languages of the target, in order (RFC 8288, 3.4.1).
    public var languages: [String] { parameters.filter { $0.name == "hreflang" }.map(\.value) }
    /// The media type that the target is expected to have; `nil` without a valid one.
    public var type: MediaType? { self["type"].flatMap { MediaType(parsing: $0) } }
    /// The resource that the link belongs to, as the server sent it. `nil` means the resource of the response (RFC
    /// 8288, 3.2).
    public var anchor: String? { self["anchor"] }

    /// The absolute URL of the target (RFC 3986, 5.2). A fragment is dropped.
    ///
    /// The result can be at any origin. A program that sends credentials has to check that first.
    ///
    /// - Parameter base: The URL of the response.
    /// - Throws: `protocolViolation` if the target is not a URL, if it has another scheme than `http` and `https`, or
    ///   if it contains credentials.
    public func url(relativeTo base: RequestURL) throws(RequestFailure) -> RequestURL {
        try Self.url(of: target, relativeTo: base)
    }

    /// Resolves a reference that a response contains; see ``url(relativeTo:)``.
    package static func url(of reference: String, relativeTo base: RequestURL) throws(RequestFailure) -> RequestURL {
        do {
            return try URLReference(reference).resolved(against: base)
        } catch {
            throw RequestFailure(
                .protocolViolation, "\(base.origin) sent a link that is not an http or https URL.",
                remedy: "Report this to the operators of the server: the target of a link is a URL (RFC 3986) without "
                    + "credentials.",
                phase: .receiving, host: base.origin.host.text)
        }
    }

    /// Whether the link belongs to the resource with this URL: it has no anchor, or one that leads there.
    package func belongs(to url: RequestURL) -> Bool {
        guard let anchor else { return true }
        // A fragment names a part of the resource, which has its own links.
        return !anchor.utf8.contains(UInt8(ascii: "#")) && (try? Self.url(of: anchor, relativeTo: url)) == url
    }
}

extension HTTPFields {
    /// The links of all `Link` fields, in order (RFC 8288, 3). They are parsed at each access.
    ///
    /// ```swift
    /// let stylesheets = response.headerFields.links.filter { $0.hasRelation("stylesheet") }
    /// ```
    public var links: [WebLink] {
        guard let name = Self.link else { return [] }
        var links: [WebLink] = []
        var bytes = 0
        for field in self[fields: name] {
            bytes += field.withUnsafeBytesOfValue(\.count)
            guard bytes <= WebLink.maximumBytes, links.count < WebLink.maximumLinks else { break }
            var reader = WebLinkReader(field.withUnsafeBytesOfValue { Array($0) })
            while links.count < WebLink.maximumLinks, let link = reader.next() { links.append(link) }
        }
        return links
    }

    private static let link = HTTPField.Name("Link")
}

extension WebLink: CustomReflectable {
    /// The properties for debuggers and `dump`, without the queries of the target and the anchor.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "target": RequestFailure.shown(target), "relations": relations,
                "parameters": parameters.map(\.name),
            ])
    }
}

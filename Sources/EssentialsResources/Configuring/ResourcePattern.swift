public import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// Selects resources by their URLs, for configurations, invalidations and wipes.
///
/// ```swift
/// try service.configure("/users/*") { $0.expiration = .seconds(300) }              // one segment
/// try service.configure("/users/**") { $0.expiration = .seconds(300) }             // any depth
/// try service.configure("https://*.example.com/**") { $0.expiration = .seconds(9) }   // hosts outside the base
/// try service.invalidate(.regex(/orders\/\d+/))
/// try service.wipe(.matching { $0.isForeign })
/// ```
///
/// A literal is a pattern with wildcards. `*` matches any characters of one segment, or none. `**` matches slashes as
/// well. `/**/` also matches a single slash. `?` matches one character except a slash. The pattern must match the whole
/// path below the base URL. Its leading slash is optional, and queries are ignored. Without a scheme it matches no URL
/// outside the base URL. With `http://` or `https://` it must match the whole URL. Matching takes time linear in the
/// length of the URL.
public struct ResourcePattern: Sendable {
    private enum Kind: Sendable {
        case glob(Glob)
        case regex(SearchedRegex)
        case predicate(@Sendable (ResourceURL) -> Bool)
        case url(ResourceURL)
        case all
        case malformed(RequestFailure)
    }

    private let kind: Kind
    /// The pattern for logs.
    public let description: String

    private init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }

    /// Creates a pattern with wildcards.
    ///
    /// - Throws: `invalidRequest` if the pattern is malformed: three stars in a row, a control character, more than
    ///   1,024 bytes, a scheme other than `http` and `https`, no host after a scheme, `**` in a host, credentials, or a
    ///   `%` that begins no escape in a pattern with a scheme.
    public init(_ glob: String) throws(RequestFailure) { self.init(.glob(try Glob(glob)), glob) }

    /// Selects the resources whose whole URL, including the query, contains a match of a regular expression.
    ///
    /// The time depends on the expression. Searches of one pattern run one after another.
    public static func regex<Output>(_ regex: sending Regex<Output>) -> ResourcePattern {
        ResourcePattern(.regex(SearchedRegex(regex)), "(regular expression)")
    }

    /// Selects the resources whose URLs satisfy a predicate. It is called on any thread, and must not call the service.
    public static func matching(_ predicate: @escaping @Sendable (ResourceURL) -> Bool) -> ResourcePattern {
        ResourcePattern(.predicate(predicate), "(predicate)")
    }

    /// All resources, including those outside the base URL, which `"/**"` does not match.
    public static var all: ResourcePattern { ResourcePattern(.all, "(all)") }

    /// The resource with exactly this URL.
    public static func url(_ url: ResourceURL) -> ResourcePattern { ResourcePattern(.url(url), "\(url)") }

    /// One resource with all of its variants. Wildcards and queries in its URL have no meaning. The pattern moves with
    /// the base URL, like the resource.
    ///
    /// ```swift
    /// try service.configure(.resource(cart)) { $0.expiration = .seconds(5) }
    /// ```
    public static func resource<Content>(_ resource: Resource<Content>) -> ResourcePattern { .resource(resource.any) }

    /// One resource with all of its variants, like the function for typed resources.
    public static func resource(_ resource: AnyResource) -> ResourcePattern {
        resource.service.checkEnvironment()
        return .url(resource.core.address)
    }

    /// Why the literal is malformed; `nil` for other patterns. A malformed pattern matches nothing.
    var problem: RequestFailure? {
        if case .malformed(let failure) = kind { failure } else { nil }
    }

    /// Whether the pattern selects a resource.
    func matches(_ url: ResourceURL, below base: ResourceBase) -> Bool {
        switch kind {
        case .glob(let glob): glob.matches(url, below: base)
        case .regex(let regex): regex.isFound(in: url.text)
        case .predicate(let predicate): predicate(url)
        case .url(let selected): url == selected
        case .all: true
        case .malformed: false
        }
    }

    /// The pattern after a change of the base: an exact URL moves with the base.
    func moved(from old: ResourceBase, to new: ResourceBase) -> ResourcePattern {
        if case .url(let url) = kind { .url(new.url(moving: url, from: old)) } else { self }
    }
}

extension ResourcePattern: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates a pattern with wildcards. If it is malformed, the function that receives it throws the reason.
    public init(stringLiteral glob: String) {
        do throws(RequestFailure) {
            try self.init(glob)
        } catch {
            self.init(.malformed(error), glob)
        }
    }
}

/// A regular expression that any thread can use.
private final class SearchedRegex: Sendable {
    private let isFound: Mutex<(String) -> Bool>

    init<Output>(_ regex: sending Regex<Output>) {
        // An expression may contain code of the caller, whose calls the mutex serialises.
        isFound = Mutex({ text in text.contains(regex) })
    }

    func isFound(in text: String) -> Bool { isFound.withLock { $0(text) } }
}

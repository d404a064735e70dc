public import EssentialsHTTP

/// The base of a request's path: the environment of the service that sends it, or a URL of its own.
///
/// ```swift
/// request.base = "https://status.example.com/v2/"
/// ```
///
/// A base of its own with another origin than the service's environment names a foreign server. A request to it carries
/// no header fields of the environment, its trust policy is not the environment's, and interceptors neither change it
/// nor receive its outcome: what they add is meant for the servers of the environment. With the same origin only the
/// path differs.
///
/// ``pinned(to:)`` is the environment of the service too, but only for as long as it is a certain one. With ``anyServer`` the
/// path is a whole URL, and the request carries nothing of the service's.
///
/// A base is created from text without throwing, so that it can be a constant. Sending a request with an invalid base
/// fails as `invalidRequest`.
public struct RequestBase: Sendable, Hashable {
    /// Indirect, so that a copy is one reference.
    private indirect enum Content: Hashable {
        case current
        case pinned(EnvironmentSnapshot, WholeURL?)
        case url(RequestURL)
        /// The path is a whole URL on any server.
        case anyServer
        case own(EnvironmentSnapshot)
        case invalid(message: String, remedy: String?)
    }

    /// A whole URL that is the path of a request, so that it is not parsed again when the request is sent.
    private struct WholeURL: Hashable {
        let text: String
        let url: RequestURL
    }

    private let content: Content

    private init(_ content: Content) { self.content = content }

    /// The environment of the service that sends the request.
    public static let environment = RequestBase(.current)

    /// The environment of the service that sends the request, which must be equal to the given one.
    ///
    /// A request that was made for one environment, such as a request to a URL below its base, then never reaches the
    /// servers of another one, and never carries another one's header fields, credentials, trust policy or settings. If
    /// the environment is no longer the current one when the request is sent, the request fails at once as `cancelled`,
    /// and no interceptor sees it. This does not depend on the service's `onEnvironmentChange`, which decides about a
    /// change after that, as for every other request to the environment. After a change back, the request is sent again.
    ///
    /// ```swift
    /// var request = DataRequest(.get, "users/7")
    /// request.base = .pinned(to: environment.snapshot)
    /// ```
    ///
    /// The path may also be a whole URL below the environment's base URL; see ``DataRequest/pinned(to:at:)``.
    public static func pinned(to environment: EnvironmentSnapshot) -> RequestBase {
        RequestBase(.pinned(environment, nil))
    }

    /// A pinned base for a request whose path is a whole URL.
    ///
    /// - Parameter path: The text of the URL, as it is in the path of the request.
    static func pinned(to environment: EnvironmentSnapshot, at url: RequestURL, path: String) -> RequestBase {
        RequestBase(.pinned(environment, WholeURL(text: path, url: url)))
    }

    /// The URL that a path is; `nil` if it has to be parsed, because the path was changed or never was a known URL.
    func knownURL(of path: String) -> RequestURL? {
        guard case .pinned(_, let whole?) = content, whole.text == path else { return nil }
        return whole.url
    }

    /// A URL. Its query is part of every request with this base.
    public init(_ url: RequestURL) { self.init(.url(url)) }

    /// No base: the path is a whole URL on any server; see
    /// ``DataRequest/init(_:at:parameters:headerFields:expecting:options:)-(_,RequestURL,_,_,_,_)``.
    public static let anyServer = RequestBase(.anyServer)

    /// Whether the path is a whole URL on any server.
    package var isAnyServer: Bool {
        if case .anyServer = content { true } else { false }
    }

    /// A URL as text. Invalid text fails when a request is built.
    public init(_ text: String) {
        do throws(RequestFailure) {
            self.init(.url(try RequestURL(text)))
        } catch {
            self.init(.invalid(message: error.message, remedy: error.remedy))
        }
    }

    /// An environment of its own, with its header fields and trust policy.
    public init(_ environment: EnvironmentSnapshot) { self.init(.own(environment)) }

    /// The current environment of an environment service, read now.
    public init(_ environment: any EnvironmentService) { self.init(.own(environment.snapshot)) }

    /// Whether the base is the environment of the service that sends the request, pinned or not.
    public var isEnvironment: Bool {
        switch content {
        case .current, .pinned: true
        case .url, .anyServer, .own, .invalid: false
        }
    }

    /// Whether a request with this base may be sent by a service whose environment is the given one. Only a pinned base can
    /// forbid it.
    package func permits(_ environment: EnvironmentSnapshot) -> Bool {
        guard case .pinned(let pinned, _) = content else { return true }
        return pinned == environment
    }

    /// The URL; `nil` if the environment of the service decides, or if the path alone does.
    ///
    /// - Throws: `invalidRequest` if the base was created from invalid text.
    public var url: RequestURL? {
        get throws(RequestFailure) {
            switch content {
            case .current, .anyServer: nil
            case .url(let url): url
            case .pinned(let environment, _), .own(let environment): environment.baseURL
            case .invalid(let message, let remedy): throw RequestFailure(.invalidRequest, message, remedy: remedy)
            }
        }
    }

    /// The environment that the base names; `nil` if it is a URL, or if the environment of the service decides.
    var ownEnvironment: EnvironmentSnapshot? {
        switch content {
        case .pinned(let environment, _), .own(let environment): environment
        case .current, .url, .anyServer, .invalid: nil
        }
    }

    /// Whether the base is the environment of the service that sends the request.
    ///
    /// - Parameter current: The environment of the service.
    /// - Throws: `cancelled` if the base is pinned to another environment than the current one.
    func isOf(_ current: EnvironmentSnapshot) throws(RequestFailure) -> Bool {
        switch content {
        case .current: return true
        case .pinned(let pinned, _):
            guard pinned == current else { throw Self.hasChanged(from: pinned) }
            return true
        case .url, .anyServer, .own, .invalid: return false
        }
    }

    /// The environment for a request.
    ///
    /// - Parameter current: The environment of the service.
    /// - Throws: `invalidRequest` if the base was created from invalid text, and `cancelled` if it is pinned to another
    ///   environment than the current one.
    fileprivate func environment(in current: EnvironmentSnapshot) throws(RequestFailure) -> RequestEnvironment {
        if try isOf(current) { return RequestEnvironment(snapshot: current, isForeign: false) }
        switch content {
        case .current, .pinned: return RequestEnvironment(snapshot: current, isForeign: false)
        case .url(let url):
            guard url.origin == current.baseURL.origin else {
                return RequestEnvironment(snapshot: EnvironmentSnapshot(baseURL: url), isForeign: true)
            }
            var same = current
            same.baseURL = url
            return RequestEnvironment(snapshot: same, isForeign: false)
        case .anyServer:
            return RequestEnvironment(snapshot: EnvironmentSnapshot(baseURL: .nowhere), isForeign: true)
        case .own(let own):
            return RequestEnvironment(snapshot: own, isForeign: own.baseURL.origin != current.baseURL.origin)
        case .invalid(let message, let remedy): throw RequestFailure(.invalidRequest, message, remedy: remedy)
        }
    }

    private static func hasChanged(from environment: EnvironmentSnapshot) -> RequestFailure {
        RequestFailure(
            .cancelled, "The environment for which the request was made is no longer the current one.",
            remedy: "Make the request again in the current environment.", host: environment.baseURL.origin.host.text)
    }
}

/// The environment of one request.
struct RequestEnvironment: Sendable {
    var snapshot: EnvironmentSnapshot
    /// Whether the request goes to another origin than the service's environment.
    var isForeign: Bool
}

extension DataRequest {
    /// The environment for the request.
    ///
    /// - Parameter current: The environment of the service.
    /// - Throws: `invalidRequest` for invalid text, and `cancelled` if the base is pinned to another environment than the
    ///   current one.
    func environment(in current: EnvironmentSnapshot) throws(RequestFailure) -> RequestEnvironment {
        guard base.isAnyServer else { return try base.environment(in: current) }
        return RequestEnvironment(snapshot: EnvironmentSnapshot(baseURL: try RequestURL(path)), isForeign: true)
    }
}

extension DataRequest {
    /// Whether a graceful shutdown waits for the request, as it or its environment says; `nil` if neither does.
    ///
    /// - Parameter current: The environment of the service.
    func finishesDuringShutdown(in current: EnvironmentSnapshot) -> Bool? {
        if let own = settings.finishesOnShutdown { return own }
        if base.isEnvironment { return current.settings.finishesOnShutdown }
        return (try? environment(in: current))?.snapshot.settings.finishesOnShutdown
    }
}

extension RequestURL {
    /// The URL with the query of its base before its own.
    func keepingQuery(of base: RequestURL) throws(RequestFailure) -> RequestURL {
        guard let kept = base.query, !kept.isEmpty else { return self }
        guard let own = query, !own.isEmpty else { return appending(encodedQuery: String(kept)) }
        let separator = kept.utf8.last == UInt8(ascii: "&") ? "" : "&"
        return try RequestURL(origin: origin, path: "\(path)?\(kept)\(separator)\(own)")
    }
}

extension RequestBase: ExpressibleByStringLiteral {
    /// Creates a base from a URL as text. An invalid URL fails when a request is built.
    public init(stringLiteral text: String) { self.init(text) }
}

extension RequestBase: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL without its query, or “the environment” if it is not pinned.
    public var description: String {
        switch content {
        case .current: "the environment"
        case .anyServer: "any server"
        case .url(let url): url.redacted
        case .pinned(let environment, _), .own(let environment): environment.baseURL.redacted
        case .invalid: "an invalid URL"
        }
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Empty, so that no query is shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

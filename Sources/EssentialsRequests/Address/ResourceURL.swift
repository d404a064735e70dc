public import EssentialsHTTP

/// The address of a resource: a URL in canonical form, by which resources are compared.
///
/// Two spellings of one URL give equal values (RFC 3986, 6.2.2 and 6.2.3): scheme and host are compared in lower case,
/// escapes in upper case, and a default port, a fragment and dot segments do not count. The order of query items counts.
/// Internationalized host names are written as A-labels (`xn--bcher-kva.example`). Other forms are not converted: a host
/// outside ASCII fails with `invalidRequest` and this advice, as everywhere in the package.
///
/// A text that is no `http` or `https` URL, or that contains credentials, is an address as well. Its loads fail with
/// `invalidRequest`, and its description does not show the credentials.
///
/// ```swift
/// try service.configure(.matching { url in url.isBelowBase }) { $0.expiration = .seconds(300) }
/// try service.wipe(.matching { url in "\(url)" == "https://api.example.com/v1/users/7" })
/// ```
public struct ResourceURL: Sendable, Hashable {
    /// The maximum length of a URL in bytes. Loads of a longer one fail.
    package static let maximumBytes = 64 << 10

    /// Where a URL lies, which decides how it is loaded.
    package enum Place: Sendable, Hashable {
        /// Below the base URL.
        case below
        /// On the origin of the base URL, outside its path. It is loaded like one of another origin.
        case sameOrigin
        /// On another origin.
        case otherOrigin
        /// Nowhere: its loads fail.
        case unusable(Fault)
    }

    /// Why the loads of a URL fail.
    package enum Fault: Sendable, Hashable {
        /// The path is below a base URL that does not exist.
        case noBase
        /// The optional URL was `nil`.
        case noURL
        /// The path has a segment `.` or `..`, which servers and proxies would resolve (RFC 3986, 6.2.2.3).
        case dotSegment
        /// The text is no `http` or `https` URL, or contains credentials.
        case malformed
        /// The URL is longer than ``ResourceURL/maximumBytes``. The text is shortened.
        case tooLong
    }

    /// The canonical text of the whole URL, which is the identity. For unusable URLs the text as it was given or built.
    package let text: String
    /// Where the URL lies.
    package let place: Place

    /// Creates an address whose text is already canonical.
    package init(canonical text: String, place: Place) {
        (self.text, self.place) =
            text.utf8.count <= Self.maximumBytes
            ? (text, place) : (Self.shortened(text), .unusable(.tooLong))
    }

    /// Whether the URL lies below the base URL of its service. `false` for URLs that cannot be loaded.
    public var isBelowBase: Bool { place == .below }

    /// Whether the URL is loaded without the credentials and interceptors of the service: it lies on another origin, or
    /// outside the path of the base URL.
    public var isForeign: Bool { place == .sameOrigin || place == .otherOrigin }

    /// The URL to load. This parses the text again.
    ///
    /// - Throws: `invalidRequest` if the resource cannot be loaded.
    public func requestURL() throws(RequestFailure) -> RequestURL {
        guard case .unusable(let fault) = place else { return try RequestURL(text) }
        throw failure(fault)
    }

    /// Why loads fail; `nil` if the URL can be loaded.
    package var failure: RequestFailure? {
        guard case .unusable(let fault) = place else { return nil }
        return failure(fault)
    }

    /// The text before the query.
    package var path: Substring { Substring(text.utf8.prefix { $0 != UInt8(ascii: "?") }) }

    /// The query without `?`; `nil` if there is none.
    package var query: Substring? {
        text.utf8.firstIndex(of: UInt8(ascii: "?")).map { text[text.utf8.index(after: $0)...] }
    }

    private func failure(_ fault: Fault) -> RequestFailure {
        switch fault {
        case .noBase:
            RequestFailure(
                .invalidRequest, "The path has no base URL.",
                remedy: "Give the environment a base URL, or make the resource from a whole URL.")
        case .noURL:
            RequestFailure(.invalidRequest, "The resource has no URL.", remedy: "Make the resource from a URL.")
        case .dotSegment:
            RequestFailure(
                .invalidRequest, "The path has a segment “.” or “..”, which servers and proxies resolve.",
                remedy: "Check where the segment comes from: a name that users choose must not be “..”.")
        case .tooLong:
            RequestFailure(
                .invalidRequest, "The URL is longer than \(Self.maximumBytes) bytes.",
                remedy: "Send the data in the body of a request.")
        case .malformed: malformed
        }
    }

    /// The failure of parsing the text.
    private var malformed: RequestFailure {
        do {
            _ = try RequestURL(text)
            return RequestFailure(
                .invalidRequest, "“\(RequestFailure.shown(text))” is not an absolute URL.",
                remedy: "Write it as https://host/path.")
        } catch {
            return error
        }
    }

    /// The beginning of a text that is too long, with a mark that distinguishes it from others.
    private static func shortened(_ text: String) -> String {
        // FNV-1a. Equal marks of different texts do no harm, because loads of both fail.
        let mark = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(decoding: text.utf8.prefix(1024), as: UTF8.self) + "…\(text.utf8.count)-\(mark)"
    }
}

extension ResourceURL: CustomStringConvertible {
    /// The URL for logs: without its query, and without credentials. A path without a base URL begins with a slash.
    public var description: String {
        switch place {
        case .below, .sameOrigin, .otherOrigin, .unusable(.dotSegment), .unusable(.noBase):
            "\(shownPath)\(query == nil ? "" : "?…")"
        case .unusable(.noURL): "(no URL)"
        case .unusable(.malformed), .unusable(.tooLong): RequestFailure.shown(text)
        }
    }

    private var shownPath: Substring {
        let missing = ResourceBase.missing.prefix.utf8
        // The slash remains.
        return path.utf8.starts(with: missing) ? Substring(path.utf8.dropFirst(missing.count - 1)) : path
    }
}

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A cookie that a ``CookieJar`` holds (RFC 6265, section 5.3).
///
/// A jar creates cookies from `Set-Cookie` fields and from files:
///
/// ```swift
/// jar.store("sid=31d4d96e; Path=/; Secure; HttpOnly", from: url)
/// for cookie in jar.cookies(includingHTTPOnly: true) { print(cookie.name, cookie.domain, cookie.path) }
/// ```
///
/// Descriptions and mirrors never contain the value. To see it, print ``value``.
public struct Cookie: Sendable, Hashable {
    /// The attribute `SameSite`. It is stored for other readers of the jar and changes nothing, because no web site
    /// embeds the requests of this library.
    public enum SameSite: String, Sendable, Hashable {
        /// `Strict`
        case strict = "Strict"
        /// `Lax`
        case lax = "Lax"
        /// `None`
        case unrestricted = "None"
    }

    /// Name, equals sign and value, as they are sent.
    package let pair: [UInt8]
    /// The number of bytes of the name.
    package let nameCount: Int
    /// The host or domain in lower case, without a leading dot. An IPv6 address has no brackets.
    public let domain: String
    /// Whether the cookie is for the host ``domain`` alone. Otherwise it is also for all hosts below it.
    public let isHostOnly: Bool
    /// The path that a request's path must begin with, in whole segments. It is not decoded.
    public let path: String
    /// The time at which the cookie expires; `nil` for a session cookie, which lives as long as its jar.
    public let expires: Date?
    /// Whether the cookie is for `https` only.
    public let isSecure: Bool
    /// Whether scripts of a page must not see the cookie. A jar lists such cookies only on demand.
    public let isHTTPOnly: Bool
    /// The attribute `SameSite`; `nil` if it is missing or unknown.
    public let sameSite: SameSite?
    /// The time at which a cookie of this name, domain and path was first stored.
    public internal(set) var created: Date
    /// The time at which the cookie was last stored or added to a request.
    public internal(set) var lastUsed: Date

    package init(
        pair: [UInt8], nameCount: Int, domain: String, isHostOnly: Bool, path: String, expires: Date? = nil,
        isSecure: Bool = false, isHTTPOnly: Bool = false, sameSite: SameSite? = nil, created: Date
    ) {
        self.pair = pair
        self.nameCount = min(max(nameCount, 0), pair.count)
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        self.created = created
        lastUsed = created
    }

    /// The name. Names are case-sensitive. Bytes that are not UTF-8 are replaced; ``nameBytes`` has them.
    public var name: String { String(decoding: pair[..<nameCount], as: UTF8.self) }
    /// The value. Bytes that are not UTF-8 are replaced; ``valueBytes`` has them.
    public var value: String { String(decoding: pair.dropFirst(nameCount + 1), as: UTF8.self) }
    /// The bytes of the name.
    public var nameBytes: [UInt8] { Array(pair[..<nameCount]) }
    /// The bytes of the value, exactly as the server sent them.
    public var valueBytes: [UInt8] { Array(pair.dropFirst(nameCount + 1)) }

    /// Whether the cookie has expired. Session cookies never expire.
    func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

    /// The identity of the cookie in a jar.
    var identity: CookieIdentity {
        CookieIdentity(domain: domain, isHostOnly: isHostOnly, path: path, name: nameBytes)
    }

    /// Whether this is the cookie's identity.
    func has(_ identity: CookieIdentity) -> Bool {
        isHostOnly == identity.isHostOnly && nameCount == identity.name.count
            && pair[..<nameCount].elementsEqual(identity.name) && path == identity.path && domain == identity.domain
    }

    /// Whether two cookies have the same name, domain, host-only flag and path, so that a jar holds only one of them.
    func replaces(_ other: Cookie) -> Bool {
        nameCount == other.nameCount && isHostOnly == other.isHostOnly && hasName(of: other) && path == other.path
            && domain == other.domain
    }

    /// Whether the names of two cookies are equal, byte for byte.
    func hasName(of other: Cookie) -> Bool {
        guard nameCount == other.nameCount else { return false }
        return pair.withUnsafeBufferPointer { one in
            other.pair.withUnsafeBufferPointer { two in
                for index in 0..<nameCount where one[index] != two[index] { return false }
                return true
            }
        }
    }
}

extension Cookie: CustomStringConvertible, CustomReflectable {
    /// Name, domain and path. The value is left out.
    public var description: String { "\(name)=… for \(isHostOnly ? "" : "*.")\(domain)\(path)" }

    /// The properties except the value.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name, "value": RedactedText.size(pair.dropFirst(nameCount + 1).count), "domain": domain,
                "isHostOnly": isHostOnly, "path": path, "expires": expires as Any, "isSecure": isSecure,
                "isHTTPOnly": isHTTPOnly, "sameSite": sameSite as Any, "created": created, "lastUsed": lastUsed,
            ])
    }
}

/// The identity of a cookie in a jar. The draft of RFC 6265's successor adds the host-only flag (step 23 of storing).
package struct CookieIdentity: Sendable, Hashable {
    package let domain: String
    package let isHostOnly: Bool
    package let path: String
    package let name: [UInt8]
}

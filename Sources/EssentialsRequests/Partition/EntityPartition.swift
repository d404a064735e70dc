package import EssentialsTransport

/// The account whose content is cached, such as a user or a tenant, as the application names it.
///
/// ```swift
/// let partition = EntityPartition("account-7")
/// ```
///
/// Entities of one partition are never found in another one. The name becomes part of the keys, which a persistent cache
/// stores as they are, so choose an identifier that says nothing by itself instead of an e-mail address.
public struct EntityPartition: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The partition before the application has entered one. Persistent caches store no responses to requests with
    /// credentials in it.
    public static let shared = EntityPartition("")

    /// The name.
    public let name: String

    /// Creates a partition. Partitions with the same name are equal.
    public init(_ name: String) { self.name = name }

    /// Creates a partition from its name.
    public init(stringLiteral name: String) { self.init(name) }

    /// Whether the application has entered no partition.
    public var isShared: Bool { name.isEmpty }

    /// The partition in which stores keep what was received with the credentials of an origin, as long as the application
    /// has entered none. A logout at the origin, and credentials that replace others, remove it, and nothing else.
    package static func credentials(of origin: Origin) -> EntityPartition {
        EntityPartition(credentialsPrefix + origin.description)
    }

    /// Whether it is the partition of the credentials of an origin.
    package var isOfCredentials: Bool { name.hasPrefix(Self.credentialsPrefix) }

    private static let credentialsPrefix = "\u{1}credentials of "
}

extension EntityPartition: CustomStringConvertible {
    /// `shared`, or a text that does not show the name, because it may identify an account.
    public var description: String { isShared ? "shared" : "a named partition" }
}

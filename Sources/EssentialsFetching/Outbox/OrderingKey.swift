import EssentialsRequests

/// Names the requests of an ``Outbox`` that are sent one after the other, in the order in which they were added.
///
/// ```swift
/// try await outbox.add(.post("carts/\(id)/items", body: item), in: "carts/\(id)")
/// ```
///
/// Requests with different keys are independent and are sent at the same time. A request that has to wait holds back the
/// later ones of its key only.
public struct OrderingKey: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// The name, which is stored as it is.
    public let name: String

    /// Creates a key. Keys with the same name are equal.
    public init(_ name: String) { self.name = name }

    /// Creates a key from its name.
    public init(stringLiteral name: String) { self.init(name) }

    /// The name.
    public var description: String { name }
}

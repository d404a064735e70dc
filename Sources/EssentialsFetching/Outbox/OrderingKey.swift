import EssentialsRequests

/// Names the requests of an ``Outbox`` that are sent one after another, in the order in which they were added.
///
/// ```swift
/// try await outbox.add(.post("carts/\(id)/items", body: item), in: "carts/\(id)")
/// ```
///
/// Requests with different keys are independent and are sent at the same time. A waiting request holds back only the
/// later requests with its key.
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

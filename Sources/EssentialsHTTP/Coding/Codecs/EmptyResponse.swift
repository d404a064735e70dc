/// A model for responses whose body does not matter. It accepts any body, also an empty one.
///
/// ```swift
/// let _: EmptyResponse = try await requests.delete("users/1")
/// ```
public struct EmptyResponse: Codable, Sendable, Hashable {
    /// Creates a value.
    public init() {}

    /// Ignores the body.
    public init(from decoder: any Decoder) {}
}

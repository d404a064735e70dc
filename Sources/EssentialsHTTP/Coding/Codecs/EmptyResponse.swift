/// A response whose body does not matter: asked for as the model, it comes from any body and from none.
///
/// ```swift
/// let _: EmptyResponse = try await requests.delete("users/1")
/// ```
public struct EmptyResponse: Codable, Sendable, Hashable {
    /// Makes one.
    public init() {}

    /// Reads nothing.
    public init(from decoder: any Decoder) {}
}

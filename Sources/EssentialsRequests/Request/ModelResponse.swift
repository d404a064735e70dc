/// A model, and the response that it was read from.
///
/// ```swift
/// let users = try await requests.response(to: DataRequest(.get, "users"), as: [User].self)
/// print(users.model.count, users.response.headerFields[.eTag] ?? "-")
/// ```
public struct ModelResponse<Model: Sendable>: Sendable {
    /// What the body was read as.
    public let model: Model
    /// The whole response.
    public let response: DataResponse

    /// Makes one, for doubles.
    public init(model: Model, response: DataResponse) {
        self.model = model
        self.response = response
    }
}

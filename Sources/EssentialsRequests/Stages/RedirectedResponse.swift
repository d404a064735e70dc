public import EssentialsHTTP

/// A response and the way to it.
///
/// ```swift
/// let redirected = try await RedirectStage().send(request, through: transport)
/// redirected.request.url                            // where the response came from
/// redirected.history.count                          // how many redirects were followed
/// ```
public struct RedirectedResponse: Sendable {
    /// The last response; a redirect that the policy handed back is one too.
    public let response: TransportResponse
    /// The request that it answers: the last one, with the options of the first.
    public let request: TransportRequest
    /// The redirects that were followed, oldest first.
    public let history: [RedirectHop]

    /// Makes one, for doubles and stages.
    public init(response: TransportResponse, request: TransportRequest, history: [RedirectHop] = []) {
        self.response = response
        self.request = request
        self.history = history
    }
}

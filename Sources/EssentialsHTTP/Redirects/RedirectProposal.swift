/// A redirect that a ``RedirectPolicy``'s closure decides about.
///
/// ```swift
/// .deciding { proposal in proposal.request.body.isReplayable ? .follow : .stop }
/// ```
public struct RedirectProposal: Sendable {
    /// The source and the target of the redirect.
    public let hop: RedirectHop
    /// The request to send next, without the fields that must not be sent there.
    public let request: TransportRequest
    /// The redirects that were followed before this one, the oldest first.
    public let history: [RedirectHop]

    /// Creates a proposal to test a closure.
    public init(hop: RedirectHop, request: TransportRequest, history: [RedirectHop] = []) {
        self.hop = hop
        self.request = request
        self.history = history
    }
}

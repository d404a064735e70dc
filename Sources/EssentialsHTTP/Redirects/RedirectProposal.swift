/// A redirect that a ``RedirectPolicy``'s closure decides about.
///
/// ```swift
/// .deciding { proposal in proposal.request.body.isReplayable ? .follow : .stop }
/// ```
public struct RedirectProposal: Sendable {
    /// From where to where.
    public let hop: RedirectHop
    /// The request that would be sent next; what must not go there is gone from its fields.
    public let request: TransportRequest
    /// The redirects that were followed before this one, oldest first.
    public let history: [RedirectHop]

    /// Makes a proposal, to test a closure with.
    public init(hop: RedirectHop, request: TransportRequest, history: [RedirectHop] = []) {
        self.hop = hop
        self.request = request
        self.history = history
    }
}

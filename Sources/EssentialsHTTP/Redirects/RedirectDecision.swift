/// What a ``RedirectPolicy``'s closure makes of a redirect.
///
/// ```swift
/// .deciding { $0.hop.to.origin.host == trusted ? .follow : .stop }
/// ```
public enum RedirectDecision: Sendable, Hashable {
    /// Sends the proposed request.
    case follow
    /// Follows no further: the 3xx response is the response.
    case stop
    /// Ends the request as `redirectRefused`. The text is part of the failure's message, so keep secrets out of it.
    case refuse(String)
}

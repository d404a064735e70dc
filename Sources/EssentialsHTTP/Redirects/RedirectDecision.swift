/// The decision of a ``RedirectPolicy``'s closure about a redirect.
///
/// ```swift
/// .deciding { $0.hop.to.origin.host == trusted ? .follow : .stop }
/// ```
public enum RedirectDecision: Sendable, Hashable {
    /// Follow the redirect with the proposed request.
    case follow
    /// Do not follow the redirect. The 3xx response is returned.
    case stop
    /// End the request with `redirectRefused`. The text is part of the failure's message, so it must not contain
    /// secrets.
    case refuse(String)
}

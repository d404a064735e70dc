/// A transport that says to whom it sends requests. A cache keeps what came from different servers, or under different trust
/// policies, apart.
package protocol TrustBearing: Transport {
    /// The policy of requests that have none of their own.
    var trustPolicy: TrustPolicy { get }
    /// Where requests go if their URLs do not decide it alone, such as to a Unix socket; empty if they do.
    var route: String { get }
}

extension TrustBearing {
    package var route: String { "" }
}

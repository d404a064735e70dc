/// A transport that says under which trust policy it sends the requests that have none of their own. A cache keeps what was
/// fetched under different policies apart.
package protocol TrustBearing: Transport {
    /// The policy.
    var trustPolicy: TrustPolicy { get }
}

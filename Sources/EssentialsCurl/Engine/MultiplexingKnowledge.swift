import CEssentials
import EssentialsHTTP

/// Which origins were seen to speak HTTP/1.1 over TLS. The first requests to an origin wait for its first connection, in
/// case they can share it; requests to an origin that cannot share need not wait.
struct MultiplexingKnowledge {
    /// More origins than this and everything is learned anew.
    private static let maximum = 1024

    private var withoutSharing: Set<Origin> = []

    func shouldWait(_ prepared: PreparedRequest) -> Bool {
        guard prepared.request.options.protocolVersion != .http1 else { return false }
        guard prepared.origin.scheme == .https || prepared.request.options.protocolVersion == .http2 else {
            return false
        }
        return !withoutSharing.contains(prepared.origin)
    }

    mutating func learn(_ prepared: PreparedRequest, _ transfer: OpaquePointer) {
        // An exchange that was told to speak HTTP/1.1 says nothing about what the origin can.
        guard prepared.origin.scheme == .https, prepared.request.options.protocolVersion != .http1,
            ce_transfer_has_head(transfer)
        else { return }
        let sharesNot = ce_transfer_http_version(transfer) < 20
        guard sharesNot != withoutSharing.contains(prepared.origin) else { return }
        if withoutSharing.count >= Self.maximum { withoutSharing = [] }
        if sharesNot { withoutSharing.insert(prepared.origin) } else { withoutSharing.remove(prepared.origin) }
    }
}

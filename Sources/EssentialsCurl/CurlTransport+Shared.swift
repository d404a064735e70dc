public import EssentialsTransport
import Synchronization

extension CurlTransport {
    /// A transport under the system's trust and with the default configuration, made when it is first asked for and kept
    /// for the life of the process.
    ///
    /// For tools and scripts. A service is better given a transport of its own, which it can shut down; after
    /// ``shutdown()`` of the shared one the next call makes another.
    ///
    /// ```swift
    /// let response = try await CurlTransport.shared().send(request)
    /// ```
    ///
    /// - Throws: What ``init(trust:configuration:)-(TrustPolicy,_)`` throws.
    public static func shared() throws(RequestFailure) -> CurlTransport {
        try sharedTransport.withLock { transport throws(RequestFailure) in
            if let transport, !transport.isClosed { return transport }
            let made = try CurlTransport()
            transport = made
            return made
        }
    }

    private static let sharedTransport = Mutex<CurlTransport?>(nil)
}

import EssentialsTools
public import EssentialsTransport

extension CurlTransport {
    /// Returns a transport with the system's trust and the default configuration. The first call creates it, and it is
    /// kept for the life of the process.
    ///
    /// It is meant for tools and scripts. A service should have its own transport, which it can shut down. After
    /// ``shutdown()`` of the shared transport, the next call creates another one.
    ///
    /// ```swift
    /// let response = try await CurlTransport.shared().send(request)
    /// ```
    ///
    /// - Throws: The failures of ``init(trust:configuration:)-(TrustPolicy,_)``.
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

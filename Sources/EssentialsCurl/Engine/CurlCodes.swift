import EssentialsTransport

/// The one table from libcurl's codes to reasons (libcurl-errors(3)).
enum CurlCodes {
    static let timedOut: Int32 = 28
    static let noMemory: Int32 = 27
    /// What pausing says of a transfer that has no connection yet, or no more.
    static let notRunning: Int32 = 43
    /// The peer closed the connection without a byte of an answer.
    static let gotNothing: Int32 = 52
    /// An option, or a header line, that libcurl cannot read.
    static let badArgument: Int32 = 43
    /// A body had to be sent again and could not be.
    static let notRewound: Int32 = 65
    /// The largest code that the table knows.
    static let last: Int32 = 99

    /// The reason for a code; `detail` is libcurl's own text, which tells apart what shares a code.
    ///
    /// What happens to a request with a proxy before its tunnel stands is the proxy's doing.
    static func reason(_ code: Int32, detail: String, isProxied: Bool = false) -> RequestFailure.Reason {
        switch code {
        // Only the proxy is resolved by libcurl's usual way; a host for SOCKS 5 has a code of its own.
        case 6 where isProxied, 7 where isProxied: .proxy
        case 97 where detail.hasPrefix("Failed to resolve"): .nameResolution
        case 56 where isProxied && detail.contains("CONNECT"): .proxy
        case 35 where isVersionMismatch(detail): .tlsTooOld
        // Without a text of its own libcurl means that the session is over, as after a GOAWAY.
        case 16 where detail.hasPrefix("Error in the HTTP2 framing layer"): .interrupted
        case 55, 56:
            if detail.contains("Too large response headers") || detail.hasPrefix("Out of memory in chunked") {
                .tooLarge
            } else if detail.contains("chunk") || detail.contains("encoding") {
                .protocolViolation
            } else if detail.contains("alert") {
                .tls
            } else {
                .interrupted
            }
        default: reasons[code] ?? .connection
        }
    }

    private static func isVersionMismatch(_ detail: String) -> Bool {
        detail.contains("unsupported protocol") || detail.contains("protocol version")
            || detail.contains("no protocols available")
    }

    private static let reasons: [Int32: RequestFailure.Reason] = {
        let groups: [(RequestFailure.Reason, [Int32])] = [
            // 1 is what libcurl says of an answer in HTTP/0.9: other schemes never reach it.
            (.protocolViolation, [1, 8, 16, 33, 61, 84, 85, 86, 88, 95]),
            (.invalidRequest, [3, 4, 34, 41, 43, 48, 49, 93]),
            (.connection, [2, 7, 30, 45, 81, 96, 99]),
            (.nameResolution, [6]),
            (.proxy, [5, 97]),
            (.tls, [35, 53, 54, 58, 59, 64, 66, 80, 98]),
            (.trustChain, [60, 83]),
            (.invalidPolicy, [77, 82]),
            (.pinMismatch, [90]),
            (.revoked, [91]),
            (.timeout, [28, 12]),
            (.cancelled, [42]),
            (.interrupted, [18, 23, 36, 52, 55, 56, 65, 92]),
            (.encoding, [26]),
            (.tooLarge, [27, 63, 71, 100]),
            (.redirectLimit, [47]),
            (.status, [9, 22, 67, 78, 79, 94]),
            (.queueFull, [89]),
            (.file, [37]),
            // Of other protocols; libcurl was told not to speak them.
            (
                .protocolViolation,
                [10, 11, 13, 14, 15, 17, 19, 21, 25, 31, 38, 39, 68, 69, 70, 72, 73, 74, 87]
            ),
        ]
        var table: [Int32: RequestFailure.Reason] = [:]
        for (reason, codes) in groups { for code in codes { table[code] = reason } }
        return table
    }()

    /// Whether the table names a code.
    static func knows(_ code: Int32) -> Bool { reasons[code] != nil }
}

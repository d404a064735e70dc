import EssentialsTransport

/// The one table from libcurl's codes to reasons (libcurl-errors(3)).
enum CurlCodes {
    /// A response in HTTP/0.9, because requests with other schemes never reach libcurl.
    static let unsupportedProtocol: Int32 = 1
    static let notConnected: Int32 = 7
    static let timedOut: Int32 = 28
    static let noMemory: Int32 = 27
    /// CURLM_OUT_OF_MEMORY
    static let multiNoMemory: Int32 = 3
    /// The result of pausing a transfer that has no connection yet, or no longer has one.
    static let notRunning: Int32 = 43
    /// The peer closed the connection before the announced end of a body.
    static let partialBody: Int32 = 18
    /// The peer closed the connection without a byte of a response.
    static let gotNothing: Int32 = 52
    /// An option, or a header line, that libcurl cannot read.
    static let badArgument: Int32 = 43
    /// The largest code that the table knows.
    static let last: Int32 = 99

    /// Returns the reason for a code. If failures share a code, `detail`, which is libcurl's own text, distinguishes
    /// them.
    ///
    /// The proxy is responsible for a failure before its tunnel is established.
    static func reason(_ code: Int32, detail: String, isProxied: Bool = false) -> RequestFailure.Reason {
        switch code {
        // libcurl itself resolves only the proxy's name. A host that a SOCKS 5 proxy resolves has a code of its own.
        case 6 where isProxied, 7 where isProxied: .proxy
        case 97 where detail.hasPrefix("Failed to resolve"): .nameResolution
        case 56 where isProxied && detail.contains("CONNECT"): .proxy
        case 35 where HandshakeFault.isVersionMismatch(detail): .tlsTooOld
        // With this general text libcurl means that the session is over, as after a GOAWAY.
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

    private static let reasons: [Int32: RequestFailure.Reason] = {
        let groups: [(RequestFailure.Reason, [Int32])] = [
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
            (.resources, [27]),
            (.tooLarge, [63, 71, 100]),
            (.redirectLimit, [47]),
            (.status, [9, 22, 67, 78, 79, 94]),
            (.queueFull, [89]),
            (.file, [37]),
            // Codes of other protocols, which libcurl was configured not to speak.
            (
                .protocolViolation,
                [10, 11, 13, 14, 15, 17, 19, 21, 25, 31, 38, 39, 68, 69, 70, 72, 73, 74, 87]
            ),
        ]
        var table: [Int32: RequestFailure.Reason] = [:]
        for (reason, codes) in groups { for code in codes { table[code] = reason } }
        return table
    }()

    /// Whether the server has refused the request's HTTP/2 stream without processing it. Only the text, which libcurl
    /// and nghttp2 write, distinguishes this from other errors of a stream.
    static func meansRefusedStream(_ code: Int32, _ detail: String) -> Bool {
        code == 92 && detail.contains("REFUSED_STREAM")
    }

    /// Whether the table names a code.
    static func knows(_ code: Int32) -> Bool { reasons[code] != nil }
}

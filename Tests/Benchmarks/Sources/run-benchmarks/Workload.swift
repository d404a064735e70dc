/// A workload: the destination of the requests and the number of them in flight.
struct Workload: Sendable {
    enum Endpoint: Sendable {
        case plain, tls, http2
        /// TLS with a new connection for each request.
        case freshTLS
        /// The server of this package, which responds late or accepts bodies.
        case ownServer
    }

    enum Kind: Sendable {
        /// Small responses, for about 1.5 seconds at the approximate rate of `bench-limit`.
        case load(expectedRate: Double)
        /// One large body that is discarded as it arrives. Its reader sleeps before each of the first pieces.
        case stream(slowPieces: Int)
        /// One large body that is held in memory completely.
        case collect
        /// One large file as the body of a request.
        case upload
        /// All requests at once, with a server that responds after a delay.
        case inFlight(delay: Double)
        /// A new process up to its first response.
        case cold
        /// Many requests. Afterwards no more resources may be in use than at the beginning.
        case soak
        /// No requests: the size on disk of a client or of the package's tool.
        case size(ofTool: Bool)
    }

    let name: String
    let kind: Kind
    var endpoint = Endpoint.plain
    var concurrency = 1
    /// Whether the client has the last core for itself, and the server has all others.
    var isPinned = false
    /// Whether the system's authorities are trusted in addition to the servers' own.
    var trustsSystem = false
    /// Whether it runs if no workload is named.
    var isDefault = true
    var goals: [Goal] = []

    var wireProtocol: String { endpoint == .http2 ? "HTTP/2" : "HTTP/1.1" }

    /// Whether it transfers the large file.
    var isLarge: Bool {
        switch kind {
        case .stream, .collect, .upload: true
        default: false
        }
    }

    /// The figures in the report.
    var figures: [Figure] {
        switch kind {
        case .load: [.requestsPerSecond, .cpuPerRequest, .p50us, .p95us, .p99us, .maxRSSkB]
        case .stream(let slowPieces) where slowPieces > 0: [.maxRSSkB]
        case .stream, .upload: [.gigabytesPerSecond, .cpuSeconds, .maxRSSkB]
        case .collect: [.gigabytesPerSecond, .cpuSeconds, .maxRSSkB, .overBodykB]
        case .inFlight: [.secondsOverDelay, .cpuSeconds, .maxRSSkB, .threads]
        case .cold: [.firstAnswerMs]
        case .soak: [.grownRSSkB, .grownDescriptors]
        case .size: [.strippedSizekB]
        }
    }

    /// The number of times that each client runs.
    func rounds(_ options: RunnerOptions) -> Int {
        switch kind {
        // A start takes milliseconds and varies more than a second of load.
        case .cold: options.isSmoke ? 1 : 3 * options.rounds
        case .soak, .size: 1
        default: options.rounds
        }
    }
}

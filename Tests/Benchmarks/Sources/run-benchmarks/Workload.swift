/// One thing that clients are measured at: where the requests go and how many of them are in flight.
struct Workload: Sendable {
    enum Endpoint: Sendable {
        case plain, tls, http2
        /// TLS with a new connection for each request.
        case freshTLS
        /// A server of our own, which answers late or takes bodies.
        case ownServer
    }

    enum Kind: Sendable {
        /// Small answers, for about 1.5 seconds at the rate that `bench-limit` about reaches.
        case load(expectedRate: Double)
        /// One large body, dropped as it comes; its reader sleeps before each of the first pieces.
        case stream(slowPieces: Int)
        /// One large body, all of it in memory at its end.
        case collect
        /// One large file as the body of a request.
        case upload
        /// All requests at once, against a server that takes its time.
        case inFlight(delay: Double)
        /// A new process, up to its first answer.
        case cold
        /// Many requests, after which nothing may be held that was not held early on.
        case soak
        /// No requests: the size of the program on disk, which is a client or the package's tool.
        case size(ofTool: Bool)
    }

    let name: String
    let kind: Kind
    var endpoint = Endpoint.plain
    var concurrency = 1
    /// Whether the client gets the last core for itself and the server all others.
    var isPinned = false
    /// Whether the system's authorities are trusted beside the servers' own.
    var trustsSystem = false
    /// Whether it is run when no workload is named.
    var isDefault = true
    var goals: [Goal] = []

    var wireProtocol: String { endpoint == .http2 ? "HTTP/2" : "HTTP/1.1" }

    /// Whether it moves the large file.
    var isLarge: Bool {
        switch kind {
        case .stream, .collect, .upload: true
        default: false
        }
    }

    /// What is shown of it.
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

    /// How often each client runs.
    func rounds(_ options: RunnerOptions) -> Int {
        switch kind {
        // One start takes milliseconds, and differs more from the next than a second of load does.
        case .cold: options.isSmoke ? 1 : 3 * options.rounds
        case .soak, .size: 1
        default: options.rounds
        }
    }
}

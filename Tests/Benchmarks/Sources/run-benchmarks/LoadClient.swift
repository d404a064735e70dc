internal import Foundation

/// A load client: a program in the runner's directory with the arguments that select the client. The package's tool is
/// one as well, but sends no requests here.
struct LoadClient: Sendable {
    static let staticName = "bench-ours-static"
    static let serviceName = "bench-service"
    static let toolName = "essentials"
    static let staticToolName = "essentials-static"

    let name: String
    let program: String
    /// The approximate speed of the client relative to `bench-limit`, with one request in flight and with many. It only
    /// determines the number of requests.
    var shareOfOne = 1.0
    var shareOfMany = 1.0
    /// Whether the client's pool may open as many connections as there are requests in flight.
    var raisesConnections = false
    /// Whether the client can send a file and read a body piece by piece.
    var sendsFiles = true
    var streamsBodies = true
    /// Whether the Swift runtime is linked statically.
    var isStatic = false
    var isTool = false

    static let known = [
        LoadClient(name: "bench-limit", program: "bench-limit"),
        LoadClient(name: "bench-limit-tuned", program: "bench-limit-tuned"),
        LoadClient(name: "bench-limit-handed", program: "bench-limit-handed"),
        LoadClient(name: "bench-ours", program: "bench-ours"),
        LoadClient(name: serviceName, program: "bench-service", shareOfOne: 0.6, shareOfMany: 0.8),
        LoadClient(name: staticName, program: "bench-ours", isStatic: true),
        LoadClient(name: "bench-ahc", program: "bench-ahc", shareOfOne: 0.5, shareOfMany: 0.35, sendsFiles: false),
        LoadClient(
            name: "bench-ahc-raised", program: "bench-ahc", shareOfOne: 0.5, shareOfMany: 0.5, raisesConnections: true,
            sendsFiles: false),
        LoadClient(
            name: "bench-urlsession", program: "bench-urlsession", shareOfOne: 0.2, shareOfMany: 0.07,
            sendsFiles: false, streamsBodies: false),
        LoadClient(name: toolName, program: "essentials", isTool: true),
        LoadClient(name: staticToolName, program: "essentials", isStatic: true, isTool: true),
    ]

    /// The clients with these names in the order of `known`; without names, all built ones.
    static func select(_ names: [String]?) throws(RunnerError) -> [LoadClient] {
        let built = known.filter { FileManager.default.isExecutableFile(atPath: $0.executable.path) }
        guard let names else {
            if built.isEmpty { throw RunnerError("no client is built beside \(CommandLine.arguments[0])") }
            return built
        }
        if let missing = names.first(where: { name in !built.contains { $0.name == name } }) {
            throw RunnerError("client \(missing) is unknown or not built")
        }
        return built.filter { names.contains($0.name) }
    }

    var executable: URL { isStatic ? ProgramFiles.linkedStatically(program) : ProgramFiles.beside(program) }

    func takesPart(in workload: Workload) -> Bool {
        let isTuned = name == "bench-limit-tuned"
        if isTool {
            guard case .size(ofTool: true) = workload.kind else { return false }
            return true
        }
        if name == Self.serviceName {
            guard case .load = workload.kind else { return false }
            return workload.name != "tls-new" && !workload.isPinned
        }
        if program == "bench-limit-handed" {
            guard case .load = workload.kind, workload.name != "tls-new" else { return false }
            return workload.concurrency == 1
        }
        switch workload.kind {
        // A raised limit makes a difference only if more connections than the default are needed.
        case .load:
            return !isStatic && (!raisesConnections || (workload.endpoint != .http2 && workload.concurrency > 8))
        case .stream(let slowPieces):
            // The C programs discard data in the callback, so they have no reader that could be slow.
            let hasReader = slowPieces == 0 || !program.hasPrefix("bench-limit")
            return !isStatic && !raisesConnections && streamsBodies && hasReader
        // They do not keep a body either.
        case .collect: return !isStatic && !raisesConnections && !program.hasPrefix("bench-limit")
        case .upload: return !isStatic && sendsFiles
        // AsyncHTTPClient gives up some of the requests before they have a connection.
        case .inFlight: return name.hasPrefix("bench-limit") || name == "bench-ours"
        case .cold: return !raisesConnections && !isTuned
        case .soak: return name == "bench-ours"
        case .size(let ofTool): return !ofTool && !raisesConnections && !isTuned
        }
    }
}

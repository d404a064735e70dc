import EssentialsTestKit

/// A server with an event stream and a file that do not end.
enum EndlessServer {
    static func start() throws -> LoopbackServer {
        try LoopbackServer { request in
            request.path == "/film"
                ? .raw([
                    .head(headers: [("Content-Length", "10000000"), ("Accept-Ranges", "bytes"), ("ETag", "\"1\"")]),
                    .repeatSend([UInt8](repeating: 1, count: 1000), count: 1000), .hang,
                ])
                : .raw([.head(headers: [("Content-Type", "text/event-stream")]), .text("data: 1\n\n"), .hang])
        }
    }
}

import Logging
import ServiceEssentials
import ServiceLifecycle
import Testing

@testable import EssentialsInspector

/// An inspector's server that runs until a test ends it.
struct RunningInspector {
    /// The whole address of the page, with the token.
    let address: String
    private let group: ServiceGroup
    private let task: Task<Void, any Error>

    /// Starts a server and waits until it listens.
    init(
        _ inspector: Inspector = Inspector(program: "shop"), of locator: ServiceLocator? = nil,
        at place: InspectorServer.Address = .loopback(port: 0), headTimeout: Duration? = nil
    ) async throws {
        let (addresses, running) = AsyncStream.makeStream(of: String.self)
        var server = InspectorServer(inspector, of: locator, at: place) { running.yield($0) }
        if let headTimeout { server.headTimeout = headTimeout }
        let group = ServiceGroup(services: [server], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let task = Task {
            defer { running.finish() }
            try await group.run()
        }
        guard let address = await addresses.first(where: { _ in true }) else {
            try await task.value
            throw CancellationError()
        }
        (self.address, self.group, self.task) = (address, group, task)
    }

    var port: Int { RunningInspector.port(of: address) }
    var token: String { String(address.split(separator: "=").last ?? "") }

    static func port(of address: String) -> Int {
        Int(address.drop { $0 != ":" }.dropFirst(3).drop { $0 != ":" }.dropFirst().prefix(while: \.isNumber)) ?? 0
    }

    /// Shuts the server down, and returns how long that takes.
    @discardableResult
    func end() async throws -> Duration {
        let begin = ContinuousClock.now
        await group.triggerGracefulShutdown()
        try await task.value
        return ContinuousClock.now - begin
    }

    /// Cancels the server's task, and returns how long that takes.
    func cancel() async -> Duration {
        let begin = ContinuousClock.now
        task.cancel()
        _ = await task.result
        return ContinuousClock.now - begin
    }

    /// Sends one request on a connection of its own, and returns the response.
    func send(
        _ target: String, _ method: String = "GET", host: String? = nil, fields: [String] = [], isIPv6: Bool = false
    ) async throws -> (status: Int, text: String) {
        let connection = try RawConnection(port: port, isIPv6: isIPv6)
        let lines =
            ["\(method) \(target) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")", "Connection: close"] + fields
        connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        let text = try #require(try await connection.text())
        return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0, text)
    }

    /// The field with the cookie that the address of the page sets.
    func cookie() async throws -> String {
        let (_, text) = try await send("/?token=\(token)")
        let line = try #require(text.split(separator: "\r\n").first { $0.lowercased().hasPrefix("set-cookie: ") })
        return "Cookie: \(line.dropFirst(12).prefix { $0 != ";" })"
    }

    /// A connection on which a page follows what happens; `nil` if the server refuses it.
    func follower(_ cookie: String) async throws -> RawConnection? {
        let connection = try RawConnection(port: port)
        connection.send("GET /events HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(cookie)\r\n\r\n")
        let text = try #require(try await connection.text(until: "\r\n\r\n"))
        return text.hasPrefix("HTTP/1.1 200 ") ? connection : nil
    }
}

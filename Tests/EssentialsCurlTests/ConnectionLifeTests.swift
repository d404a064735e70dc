import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

@Suite("A transport's connections")
struct ConnectionLifeTests {
    private func transport(_ change: (inout CurlTransport.Configuration) -> Void) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        change(&configuration)
        return try CurlTransport(configuration: configuration)
    }

    /// The limit that ends the use of a connection.
    enum Bound: CaseIterable {
        case nothing, idleness, age

        func apply(to configuration: inout CurlTransport.Configuration) {
            switch self {
            case .nothing: break
            case .idleness: configuration.idleLifetime = .seconds(1)
            case .age: configuration.connectionLifetime = .seconds(1)
            }
        }
    }

    @Test("A connection is reused unless it was idle for too long or is too old", arguments: Bound.allCases)
    func lifetime(bound: Bound) async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let transport = try transport { bound.apply(to: &$0) }
        #expect(try await transport.send(request(server)).text == "ok")
        // libcurl counts whole seconds, and a bound is exceeded one second later.
        try await Task.sleep(for: .milliseconds(2_300))
        let late = try await transport.send(request(server))
        #expect(late.text == "ok")
        #expect(late.connection.isReused == (bound == .nothing))
        #expect(late.metrics.sendings == 1)
        #expect(server.connectionCount == (bound == .nothing ? 1 : 2))
        await transport.shutdown()
    }

    @Test(
        "A connection is not reused after the time for which its server keeps it, if the server announces it",
        arguments: [
            ("timeout=2", false), ("max=5, Timeout=2", false), ("timeout=60", true), ("max=2", true),
            ("timeout=soon", true), ("xtimeout=2", true),
        ])
    func announcedLifetime(field: String, isReused: Bool) async throws {
        let server = try LoopbackServer { _ in .response(headers: [("Keep-Alive", field)], body: "ok") }
        let transport = try transport { _ in }
        #expect(try await transport.send(request(server)).text == "ok")
        // libcurl counts whole seconds, and the limit is one.
        try await Task.sleep(for: .milliseconds(2_300))
        let late = try await transport.send(request(server))
        #expect(late.connection.isReused == isReused)
        #expect(late.metrics.sendings == 1)
        #expect(server.connectionCount == (isReused ? 1 : 2))
        await transport.shutdown()
    }

    @Test(
        "Connections are probed by the system after the configured time without traffic, or never",
        arguments: [60, 7, nil] as [Int32?])
    func keepAlive(seconds: Int32?) async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let transport = try transport { $0.keepAliveInterval = seconds.map { .seconds($0) } }
        #expect(try await transport.send(request(server)).text == "ok")
        let socket = try #require(try ClientSocket(connectedTo: server.port))
        let isOn: Int32 = seconds == nil ? 0 : 1
        #expect(socket.option(SO_KEEPALIVE, level: SOL_SOCKET) == isOn)
        if let seconds {
            #expect(socket.option(TCP_KEEPIDLE, level: Int32(IPPROTO_TCP)) == seconds)
            #expect(socket.option(TCP_KEEPINTVL, level: Int32(IPPROTO_TCP)) == seconds)
        }
        await transport.shutdown()
    }

    @Test("All origins together never have more concurrent requests than the limit")
    func total() async throws {
        let gate = LoopbackGate()
        defer { gate.open() }
        let servers = try (0..<3).map { _ in
            try LoopbackServer { _ in
                .raw([.gate(gate), .text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .keepAlive])
            }
        }
        let transport = try transport { $0.requestsInFlight = 2 }
        let answers = servers.map { server in Task { try await transport.send(request(server)).text } }
        #expect(try await eventually { await transport.load.waiting == 1 })
        #expect(await transport.load.inFlight == 2)
        gate.open()
        for answer in answers { #expect(try await answer.value == "ok") }
        #expect(servers.map(\.requestCount) == [1, 1, 1])
        await transport.shutdown()
    }
}

/// The client's end of a connection within this process.
private struct ClientSocket {
    private let descriptor: Int32

    /// Finds the socket whose peer has this port of 127.0.0.1. It is `nil` if there is no such socket.
    init?(connectedTo port: UInt16) throws {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        guard let found = descriptors.first(where: { Self.peerPort(of: $0) == port }) else { return nil }
        descriptor = found
    }

    /// The value of an option, or `nil` if the system does not have it.
    func option(_ name: Int32, level: Int32) -> Int32? {
        var value: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, level, name, &value, &size) == 0 ? value : nil
    }

    private static func peerPort(of descriptor: Int32) -> UInt16? {
        var name = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
        }
        guard code == 0, name.sin_family == sa_family_t(AF_INET) else { return nil }
        return UInt16(bigEndian: name.sin_port)
    }
}

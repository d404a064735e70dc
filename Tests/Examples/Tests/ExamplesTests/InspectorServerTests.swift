import EssentialsTestKit
import Foundation
import Glibc
import Logging
import ServiceEssentials
import ServiceLifecycle
import Testing
import UnixSignals

@testable import EssentialsInspector

@Suite("The inspector's server", .timeLimit(.minutes(5)))
struct InspectorServerTests {
    // The example of InspectorServer.swift.
    private func example(_ inspector: Inspector, _ locator: ServiceLocator, _ logger: Logger) async throws {
        let server = InspectorServer(inspector, of: locator) { address in
            print("inspector \(address)")
        }
        let services: [any Service] = [ServiceLocatorService(locator), server]
        try await ServiceGroup(
            services: services, gracefulShutdownSignals: [.sigterm],
            logger: logger
        ).run()
    }

    // The example of README.md.
    private func readme(_ locator: ServiceLocator) -> (InspectorServer, HTTPDataRequestService.Configuration) {
        var configuration = HTTPDataRequestService.Configuration()
        // README begins
        let inspector = Inspector(program: "shop 1.4")
        configuration.observers = [inspector]
        let server = InspectorServer(inspector, of: locator) { print($0) }  // trait Inspector; a service of a group
        // README ends
        return (server, configuration)
    }

    private func isRefused(_ place: InspectorServer.Address, _ reason: InspectorServerError.Reason) async -> Bool {
        do {
            try await RunningInspector(at: place).end()
            return false
        } catch {
            return (error as? InspectorServerError)?.reason == reason
        }
    }

    @Test("A wrong token, another name of the server, another origin and another method get nothing")
    func refused() async throws {
        let server = try await RunningInspector()
        let cookie = try await server.cookie()
        let page = try await server.send("/", fields: [cookie])
        #expect(page.status == 200 && page.text.contains("shop") && page.text.contains("\r\nDate: "))
        let wrong = String(server.token.dropLast()) + (server.token.last == "0" ? "1" : "0")
        let cases: [(Int, (status: Int, text: String))] = [
            (401, try await server.send("/?token=\(wrong)")),
            (401, try await server.send("/")),
            (421, try await server.send("/", host: "evil.example:\(server.port)", fields: [cookie])),
            (403, try await server.send("/report.json", fields: [cookie, "Origin: https://evil.example"])),
            (405, try await server.send("/", "POST", fields: [cookie, "Content-Length: 0"])),
            (405, try await server.send("/", "DELETE", fields: [cookie])),
        ]
        for (status, response) in cases {
            #expect(response.status == status && !response.text.contains("shop"), "\(response.text)")
        }
        let head = try await server.send("/", "HEAD", fields: [cookie])
        #expect(head.status == 200 && head.text.hasSuffix("\r\n\r\n") && !head.text.contains("chunked"))
        try await server.end()
    }

    @Test("A request with a body is refused, and its connection is closed without reading the body")
    func body() async throws {
        let server = try await RunningInspector()
        for field in ["Content-Length: 1000000000", "Transfer-Encoding: chunked"] {
            let connection = try RawConnection(port: server.port)
            connection.send("POST / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(field)\r\n\r\n")
            let text = try await connection.text()
            #expect(
                text?.hasPrefix("HTTP/1.1 405 ") == true && text?.lowercased().contains("connection: close") == true)
        }
        try await server.end()
    }

    @Test("Both loopback addresses serve the page on the same port, and a taken port is refused")
    func families() async throws {
        let server = try await RunningInspector()
        #expect(server.address == "http://127.0.0.1:\(server.port)/?token=\(server.token)" && server.token.count == 32)
        let cookie = try await server.cookie()
        let four = try await server.send("/", fields: [cookie])
        let six = try await server.send("/", host: "[::1]:\(server.port)", fields: [cookie], isIPv6: true)
        #expect(four.status == 200 && six.status == 200)
        #expect(await isRefused(.loopback(port: server.port), .address))
        try await server.end()
        #expect(throws: (any Error).self) { try RawConnection(port: server.port) }
        #expect(throws: (any Error).self) { try RawConnection(port: server.port, isIPv6: true) }
    }

    @Test("A connection that does not send a whole head in time is closed, even if it sends bytes all the time")
    func slowHead() async throws {
        #expect(InspectorServer(Inspector()) { _ in }.headTimeout == .seconds(10))
        let server = try await RunningInspector(headTimeout: .seconds(1))
        let begin = ContinuousClock.now
        let silent = try RawConnection(port: server.port)
        let slow = try RawConnection(port: server.port)
        slow.send("GET / HTTP/1.1\r\nX: ")
        var end: ContinuousClock.Instant?
        while end == nil, ContinuousClock.now - begin < .seconds(10) {
            slow.send("x")
            if try await slow.text(within: .milliseconds(100)) != nil { end = .now }
        }
        let took = try #require(end) - begin
        #expect(took > .milliseconds(800) && took < .seconds(5), "\(took)")
        #expect(try await silent.text(within: .seconds(5)) == "")
        // A stream of events is no slow head.
        let follower = try #require(try await server.follower(try await server.cookie()))
        try await Task.sleep(for: .milliseconds(1500))
        #expect(try await follower.text(within: .milliseconds(300)) == nil)
        try await server.end()
    }

    @Test("A ninth page that follows gets the status 503, until another one is gone")
    func viewers() async throws {
        let server = try await RunningInspector()
        let cookie = try await server.cookie()
        var followers: [RawConnection] = []
        for _ in 0..<InspectorRoutes.maximumViewers {
            followers.append(try #require(try await server.follower(cookie)))
        }
        #expect(followers.count == 8)
        #expect(try await server.send("/events", fields: [cookie]).status == 503)
        followers.removeLast()
        let deadline = ContinuousClock.now + .seconds(20)
        var ninth: RawConnection?
        while ninth == nil, ContinuousClock.now < deadline {
            ninth = try await server.follower(cookie)
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(ninth != nil)
        try await server.end()
    }

    @Test("Pages that follow get the end of their stream when the group shuts down, and do not delay it")
    func shutdown() async throws {
        let locator = ServiceLocator(name: "app")
        let server = try await RunningInspector(of: locator)
        let cookie = try await server.cookie()
        let followers = [
            try #require(try await server.follower(cookie)), try #require(try await server.follower(cookie)),
        ]
        let idle = try RawConnection(port: server.port)
        let took = try await server.end()
        #expect(took < .seconds(2), "\(took)")
        for follower in followers {
            #expect(try await follower.text(within: .seconds(2))?.hasSuffix("0\r\n\r\n") == true)
        }
        #expect(try await idle.text(within: .seconds(2)) == "")
        await locator.close()
    }

    @Test("A cancelled server ends at once, and so does one whose reader stands still")
    func cancelled() async throws {
        let cancelled = try await RunningInspector()
        let follower = try #require(try await cancelled.follower(try await cancelled.cookie()))
        let took = await cancelled.cancel()
        #expect(took < .seconds(2), "\(took)")
        #expect(try await follower.text(within: .seconds(2)) != nil)

        // The report is greater than what the buffers of a connection hold.
        let inspector = Inspector(bodyLimit: 64 << 10)
        let transport = ScriptedTransport()
        transport.on(.get, "/*").answer(text: String(repeating: "0123456789abcdef", count: 4_000))
        var configuration = HTTPDataRequestService.Configuration()
        configuration.observers = [inspector]
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/"), transport: transport, configuration: configuration)
        for number in 0..<120 { _ = try await service.send(DataRequest(.get, "\(number)")).body.collect(upTo: 1 << 20) }
        let server = try await RunningInspector(inspector)
        let still = try RawConnection(port: server.port)
        let cookie = try await server.cookie()
        let request = "GET /report.json HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(cookie)\r\n\r\n"
        still.send(String(repeating: request, count: 4))
        try await Task.sleep(for: .milliseconds(500))
        let end = try await server.end()
        #expect(end < .seconds(5), "\(end)")
    }

    // MARK: Unix-domain sockets

    private func service(on socket: String) throws -> HTTPDataRequestService {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cookies = CookieJar()
        var engine = CurlTransport.Configuration()
        engine.unixSocket = socket
        return try HTTPDataRequestService(
            environment: ConstantEnvironment("http://localhost/"), configuration: configuration, engine: engine)
    }

    @Test("A Unix-domain socket belongs to its owner alone, serves the page, and is removed at the end")
    func unixSocket() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("i.sock")
        let server = try await RunningInspector(at: .unixSocket(path: path))
        #expect(server.address == "unix:\(path):/?token=\(server.token)")
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode == S_IFSOCK | 0o600)
        let client = try service(on: path)
        let page: String = try await client.get("?token=\(server.token)")
        #expect(page.contains("data-live=\"true\""))
        await client.shutdown()
        #expect(await isRefused(.unixSocket(path: path), .path))
        try await server.end()
        #expect(try folder.names == [])
    }

    @Test("The socket of an ended program is replaced, but no other file")
    func staleSocket() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("i.sock")
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        close(descriptor)
        #expect(result == 0 && FileManager.default.fileExists(atPath: path))
        let server = try await RunningInspector(at: .unixSocket(path: path))
        let client = try service(on: path)
        let page: String = try await client.get("?token=\(server.token)")
        #expect(page.contains("data-live=\"true\""))
        await client.shutdown()
        try await server.end()
        let file = try folder.file("file", "text")
        #expect(symlink(path, folder.path("link")) == 0)
        for path in [
            file, folder.path("link"), folder.path("missing/i.sock"), folder.path(String(repeating: "x", count: 108)),
        ] {
            #expect(await isRefused(.unixSocket(path: path), .path), "\(path)")
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "text")
        #expect(try folder.names == ["file", "link"])
    }

    // MARK: TLS

    @Test("An exposed server speaks TLS only, needs the given token, and sets a cookie for TLS")
    func exposed() async throws {
        let authority = try TestAuthority(name: "Example Authority")
        let certificate = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        let folder = try TemporaryFolder()
        let files = InspectorServer.TLSFiles(
            certificates: try folder.file("server.pem", certificate.certificatePEM),
            key: try folder.file("key.pem", certificate.privateKeyPEM))
        let token = "a-token-of-this-test"
        let server = try await RunningInspector(
            at: .exposed(host: "127.0.0.1", port: 0, token: token, tls: files, names: ["localhost"]))
        #expect(server.address == "https://localhost:\(server.port)/?token=\(token)")
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cookies = CookieJar()
        let origin = "https://localhost:\(server.port)/"
        let trust = try TrustPolicy(hosts: [], anchors: .only([PEM(authority.certificate.certificatePEM)]))
        let client = try HTTPDataRequestService(
            environment: ConstantEnvironment(origin), trust: trust, configuration: configuration)
        let page: String = try await client.get("?token=\(token)")
        #expect(page.contains("data-live=\"true\""))
        await client.shutdown()
        configuration.settings.redirects = .refused
        let other = try HTTPDataRequestService(
            environment: ConstantEnvironment(origin), trust: trust, configuration: configuration)
        let first = try await other.send(RequestBuilder(.get, "?token=\(token)").expecting(200...599))
        #expect(first.status == .seeOther && first.headerFields[.setCookie]?.hasSuffix("; Secure") == true)
        let plain = try await other.send(RequestBuilder(.get, "report.json").expecting(200...599))
        #expect(plain.status == .ok)
        await other.shutdown()
        let stranger = try HTTPDataRequestService(environment: ConstantEnvironment(origin), trust: trust)
        let refused = try await stranger.send(RequestBuilder(.get, "report.json").expecting(200...599))
        #expect(refused.status == .unauthorized)
        await stranger.shutdown()
        #expect(try await server.send("/?token=\(token)", host: "localhost:\(server.port)").status == 0)
        try await server.end()
    }

    @Test("A short token, a token that an address cannot have, and a missing certificate are refused")
    func exposedIsChecked() async throws {
        let files = InspectorServer.TLSFiles(certificates: "/nowhere/server.pem", key: "/nowhere/key.pem")
        for token in ["", "fifteen-letters", "a token with blanks", "sixteen-letters&x"] {
            let error = #expect(throws: InspectorServerError.self) {
                try InspectorServer.Address.exposed(host: "127.0.0.1", port: 0, token: token, tls: files)
            }
            #expect(error?.reason == .token && (token.isEmpty || error?.description.contains(token) == false))
        }
        let place = try InspectorServer.Address.exposed(
            host: "127.0.0.1", port: 0, token: "sixteen-letters-", tls: files)
        #expect(await isRefused(place, .certificate))
        #expect(!"\(place)".contains("sixteen"))
    }
}

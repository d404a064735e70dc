import EssentialsHTTP
import EssentialsLocator
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import HTTPTypes
import Testing

@testable import EssentialsInspector

@Suite("The routes of the inspector", .timeLimit(.minutes(5)))
struct RoutesTests {
    private let inspector = Inspector(program: "shop")
    private let transport = ScriptedTransport()
    private let service: HTTPDataRequestService

    init() throws {
        _ = transport.on { _ in true }.answer(text: "x")
        var configuration = HTTPDataRequestService.Configuration()
        configuration.observers = [inspector]
        service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/"), transport: transport, configuration: configuration)
    }

    private func request(
        _ path: String, _ method: HTTPRequest.Method = .get, host: String? = "127.0.0.1:80", fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: host, path: path, headerFields: fields)
    }

    /// The cookie that the address of the page sets.
    private func cookie(_ routes: InspectorRoutes) async -> HTTPFields {
        let response = await routes.respond(to: request(routes.address))
        let set = response.head.headerFields[.setCookie] ?? ""
        return [.cookie: "a=b; \(set.prefix { $0 != ";" })"]
    }

    private func text(_ response: InspectorResponse) -> String {
        guard case .bytes(let bytes) = response.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("The token in the address becomes a cookie, with which the page is there")
    func token() async throws {
        let routes = InspectorRoutes(inspector, path: "/inspector/")
        #expect(routes.address == "/inspector/?token=\(routes.token)" && routes.token.count == 32)
        let first = await routes.respond(to: request(routes.address))
        #expect(first.head.status == .seeOther && first.head.headerFields[.location] == "/inspector/")
        let set = try #require(first.head.headerFields[.setCookie])
        #expect(set.hasPrefix("inspector-") && set.hasSuffix("; HttpOnly; SameSite=Strict; Path=/inspector"))
        #expect(!set.contains(routes.token))
        let page = await routes.respond(to: request("/inspector/", fields: await cookie(routes)))
        #expect(page.head.status == .ok && text(page).contains("data-live=\"true\""))
        let policy = page.head.headerFields[.contentSecurityPolicy]
        #expect(policy?.hasPrefix("default-src 'none'; style-src 'nonce-") == true)
        #expect(page.head.headerFields[.cacheControl] == "no-store")
        #expect(page.head.headerFields[try #require(.init("Cross-Origin-Resource-Policy"))] == "same-origin")
        let head = await routes.respond(to: request("/inspector/", .head, fields: await cookie(routes)))
        #expect(head.head.status == .ok && text(head).isEmpty)
        #expect((head.head.headerFields[.contentLength].flatMap { Int($0) } ?? 0) > 1_000)
        #expect(page.head.headerFields[.contentLength] == nil)
        #expect(await routes.respond(to: request("/inspector", fields: await cookie(routes))).head.status == .seeOther)
        #expect(await routes.respond(to: request("/other/", fields: await cookie(routes))).head.status == .notFound)
        #expect(InspectorRoutes(inspector).token != routes.token)
    }

    @Test("A wrong token, another name of the server, another origin and another method get nothing")
    func refused() async throws {
        let routes = InspectorRoutes(inspector, hosts: ["dev.internal"])
        let last = routes.token.last == "0" ? "1" : "0"
        let wrong = String(routes.token.dropLast()) + last
        for path in ["/?token=", "/?token=\(wrong)", "/?token=\(routes.token)0", "/", "/events", "/report.json"] {
            #expect(await routes.respond(to: request(path)).head.status == .unauthorized)
        }
        let good = await cookie(routes)[.cookie] ?? ""
        let bad: HTTPFields = [.cookie: good.dropLast() + (good.last == "0" ? "1" : "0")]
        #expect(await routes.respond(to: request("/", fields: bad)).head.status == .unauthorized)
        for host in [
            "evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1:80@evil",
            "", "127.0.0.1:8x", "[::2]",
        ] {
            let response = await routes.respond(to: request(routes.address, host: host))
            #expect(response.head.status == .misdirectedRequest && response.head.headerFields[.setCookie] == nil)
        }
        let nameless = await routes.respond(to: request("/", host: nil, fields: await cookie(routes)))
        #expect(nameless.head.status == .misdirectedRequest)
        for host in ["localhost", "LOCALHOST:8080", "[::1]:1", "127.0.0.1", "dev.internal:9"] {
            let response = await routes.respond(to: request("/", host: host, fields: await cookie(routes)))
            #expect(response.head.status == .ok, "\(host)")
        }
        let origin = try #require(HTTPField.Name("Origin"))
        for value in ["https://evil.example", "null", "http://127.0.0.1:81"] {
            var fields = await cookie(routes)
            fields[origin] = value
            #expect(await routes.respond(to: request("/report.json", fields: fields)).head.status == .forbidden)
        }
        var own = await cookie(routes)
        own[origin] = "http://127.0.0.1:80"
        #expect(await routes.respond(to: request("/report.json", fields: own)).head.status == .ok)
        for method in [HTTPRequest.Method.post, .delete, .options, .put] {
            let response = await routes.respond(to: request("/", method, fields: await cookie(routes)))
            #expect(response.head.status == .methodNotAllowed)
        }
    }

    @Test("A page that follows looks less often if looking takes long, and at least every 750 ms")
    func intervals() {
        let times: [Duration] = [.zero, .milliseconds(5), .milliseconds(20), .milliseconds(33), .seconds(5)]
        let intervals: [Duration] = [250, 250, 400, 660, 750].map { .milliseconds($0) }
        #expect(times.map { InspectorEvents.interval(afterLookOf: $0) } == intervals)
    }

    @Test("The health has the status of a readiness probe")
    func health() async throws {
        let locator = ServiceLocator(name: "app")
        let routes = InspectorRoutes(inspector, of: locator)
        let healthy = await routes.respond(to: request("/health", fields: await cookie(routes)))
        #expect(healthy.head.status == .ok && text(healthy).contains("\"isReady\":true"))
        await locator.close()
        #expect(
            await routes.respond(to: request("/health", fields: await cookie(routes))).head.status
                == .serviceUnavailable)
        #expect(await InspectorRoutes(inspector).respond(to: request("/x")).head.status == .unauthorized)
    }

    /// The next message of a stream with a name.
    private func next(
        _ name: String, _ events: inout InspectorEvents.AsyncIterator
    ) async throws -> (id: String, data: String) {
        while let chunk = await events.next() {
            let text = String(decoding: chunk, as: UTF8.self)
            // The last message of a chunk has the identifier of all.
            let id = text.split(separator: "\n").last { $0.hasPrefix("id: ") }?.dropFirst(4) ?? ""
            for message in text.split(separator: "\n\n") {
                let lines = message.split(separator: "\n")
                guard lines.contains("event: \(name)") else { continue }
                let data = lines.first { $0.hasPrefix("data: ") }?.dropFirst(6) ?? ""
                return (String(id), String(data))
            }
        }
        throw CancellationError()
    }

    private func events(
        _ routes: InspectorRoutes, after last: String? = nil, of report: InspectorReport? = nil
    ) async throws -> InspectorEvents {
        var fields = await cookie(routes)
        if let last { fields[try #require(HTTPField.Name("Last-Event-ID"))] = last }
        let path = "/events" + (report?.cursor.map { "?after=\($0)" } ?? "")
        guard case .events(let events) = await routes.respond(to: request(path, fields: fields)).body else {
            throw CancellationError()
        }
        return events
    }

    @Test("A stream sends new exchanges, goes on after the last one, and says how many were missed")
    func stream() async throws {
        let routes = InspectorRoutes(inspector)
        _ = try await service.send(DataRequest(.get, "before"))
        let report = await inspector.report()
        // After the page was made, and before it follows.
        _ = try await service.send(DataRequest(.get, "first"))
        var stream = try await events(routes, of: report).makeAsyncIterator()
        let first = try await next("entries", &stream)
        #expect(first.data.contains("https://h/first") && !first.data.contains("https://h/before"))
        _ = try await service.send(DataRequest(.get, "second"))
        var again = try await events(routes, after: first.id).makeAsyncIterator()
        let second = try await next("entries", &again)
        #expect(second.data.contains("https://h/second") && !second.data.contains("https://h/first"))
        for index in 0..<(Inspector.maximumExchanges + 20) {
            _ = try await service.send(DataRequest(.get, "n/\(index)"))
        }
        #expect(try await next("dropped", &again).data == "{\"count\":20}")
        for odd in [
            "x-1", "1-99999999999999999999-1-1", "7-18446744073709551615-18446744073709551615-18446744073709551615",
        ] {
            var stream = try await events(routes, after: odd).makeAsyncIterator()
            #expect(try await next("entries", &stream).data.contains("https://h/n/519"))
        }
    }

    @Test("Each event of a request is sent once, however many come while a page follows")
    func complete() async throws {
        let routes = InspectorRoutes(inspector)
        var stream = try await events(routes, of: await inspector.report()).makeAsyncIterator()
        var calls: [String: Int] = [:]
        // A round has fewer events than the inspector keeps, so that a slow reader misses none.
        for round in 1...8 {
            let sending = Task {
                for index in 0..<50 { _ = try await service.send(DataRequest(.get, "\(round)/\(index)")) }
            }
            while calls.count < 50 * round {
                let data = try await next("events", &stream).data
                for event in try JSONDecoder().decode([InspectorReport.Event].self, from: Data(data.utf8))
                where event.text == "ended: completed" { calls[event.call ?? "", default: 0] += 1 }
            }
            try await sending.value
        }
        #expect(calls.values.allSatisfy { $0 == 1 })
    }

    @Test("A stream ends when its locator is ending")
    func ending() async throws {
        let locator = ServiceLocator(name: "app")
        let routes = InspectorRoutes(inspector, of: locator)
        var stream = try await events(routes).makeAsyncIterator()
        #expect(await stream.next() != nil)
        locator.announceEnd()
        #expect(await stream.next() == nil)
    }

    @Test("Eight pages can follow at the same time, and one that ends makes room")
    func viewers() async throws {
        let routes = InspectorRoutes(inspector)
        var streams: [InspectorEvents] = []
        for _ in 0..<InspectorRoutes.maximumViewers { streams.append(try await events(routes)) }
        let full = await routes.respond(to: request("/events", fields: await cookie(routes)))
        #expect(full.head.status == .serviceUnavailable)
        streams.removeLast()
        #expect(await routes.respond(to: request("/events", fields: await cookie(routes))).head.status == .ok)
    }
}

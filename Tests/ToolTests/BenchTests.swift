import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

extension ToolTests {
    @Suite("Tool: bench")
    struct BenchTests {
        private struct Report: Decodable {
            struct Latency: Decodable {
                let minimum, mean, deviation, median, p90, p99, p999, maximum: Double
            }
            struct Row: Decodable {
                let upTo: Double
                let count: Int
            }
            struct Failure: Decodable {
                let reason, example: String
                let count: Int
            }
            struct Connections: Decodable {
                let opened, reused: Int
                let protocols: [String: Int]
            }
            struct Processor: Decodable {
                let userSeconds, systemSeconds, coreShare: Double
            }

            let requests, responses, concurrency, bytesReceived: Int
            let elapsedSeconds, responsesPerSecond, bytesPerSecond: Double
            let latency: Latency?
            let histogram: [Row]
            let statuses: [String: Int]
            let failures: [Failure]
            let connections: Connections
            let processor: Processor
            let earlyEnd: String?
        }

        private func bench(_ arguments: [String]) async throws -> (result: ToolResult, report: Report) {
            let result = try await ToolProcess(["bench"] + arguments + ["--format", "json"]).end()
            let report = try JSONDecoder().decode(Report.self, from: Data(result.output))
            return (result, report)
        }

        @Test("A load sends exactly the requests that were asked for, and reuses its connections")
        func counts() async throws {
            let server = try LoopbackServer { _ in .response(body: "0123456789") }
            let (result, report) = try await bench([server.url, "-c", "4", "-n", "200"])
            #expect(result.code == 0, "\(result.errors)")
            #expect(server.requestCount == 200)
            #expect(report.requests == 200 && report.responses == 200 && report.concurrency == 4)
            #expect(report.statuses == ["200": 200])
            #expect(report.bytesReceived == 2_000)
            #expect(report.failures.isEmpty && report.earlyEnd == nil)
            #expect(report.connections.opened == server.connectionCount)
            #expect(report.connections.opened <= 4)
            #expect(report.connections.reused == 200 - report.connections.opened)
            #expect(report.connections.protocols == ["HTTP/1.1 without TLS": 200])
            #expect(report.histogram.map(\.count).reduce(0, +) == 200)
            let latency = try #require(report.latency)
            let rising = [
                latency.minimum, latency.median, latency.p90, latency.p99, latency.p999, latency.maximum,
            ]
            #expect(rising == rising.sorted() && latency.minimum > 0)
            #expect((latency.minimum...latency.maximum).contains(latency.mean))
            #expect(report.responsesPerSecond > 0 && report.bytesPerSecond > report.responsesPerSecond)
            #expect(report.processor.userSeconds > 0 && report.processor.coreShare > 0)
        }

        @Test("The text names rate, latencies, histogram, connections and statuses within 80 columns")
        func text() async throws {
            let server = try LoopbackServer { _ in .response(body: "x") }
            let result = try await tool("bench", server.url, "-c", "2", "-n", "50")
            #expect(result.code == 0)
            for part in [
                "requests      50 in ", "responses     50, ", "LATENCIES", "median", "99.9 %", "HISTOGRAM", "#",
                "  200  50", "own CPU time  ", "HTTP/1.1 without TLS",
            ] {
                #expect(result.text.contains(part), "\(part) in \(result.text)")
            }
            let report = result.text.split(separator: "\n").filter { !$0.hasPrefix("note: ") }
            #expect(report.allSatisfy { $0.count <= 80 }, "\(result.text)")
        }

        @Test("A load over TLS with the right pin succeeds and names the TLS version")
        func rightPin() async throws {
            let server = try TrustedServer()
            let (result, report) = try await bench([
                server.server.url, "-c", "3", "-n", "60", "--anchor", server.anchor, "--single-pin", "--pin",
                server.certificate.publicKeyPin,
            ])
            #expect(result.code == 0, "\(result.errors)")
            #expect(report.responses == 60)
            #expect(report.connections.protocols.keys.allSatisfy { $0.hasPrefix("HTTP/1.1 over TLSv1.3 with TLS_") })
            #expect(server.server.handshakes.count == report.connections.opened)
        }

        @Test("With a wrong pin every request fails, the server receives nothing, and the reason is printed")
        func wrongPin() async throws {
            let server = try TrustedServer()
            let (result, report) = try await bench([
                server.server.url, "-c", "2", "-n", "10", "--anchor", server.anchor, "--single-pin", "--pin",
                TrustedServer.strangePin,
            ])
            #expect(result.code == 1)
            #expect(result.reason == "pinMismatch", "\(result.errors)")
            #expect(report.responses == 0 && report.latency == nil && report.histogram.isEmpty)
            #expect(report.failures.map(\.reason) == ["pinMismatch"])
            #expect(report.failures.map(\.count) == [10])
            #expect(report.failures.first?.example.contains("localhost") == true)
            #expect(server.server.applicationBytesReceived == 0)
        }

        @Test("Unexpected statuses are counted and fail, unless --expect accepts them")
        func statuses() async throws {
            let server = try LoopbackServer { request in .response(status: request.number % 4 == 0 ? 503 : 200) }
            let (result, report) = try await bench([server.url, "-c", "1", "-n", "40"])
            #expect(result.code == 1)
            #expect(result.reason == "status")
            #expect(report.statuses == ["200": 30, "503": 10])
            #expect(report.failures.isEmpty)
            let accepted = try await bench([server.url, "-c", "1", "-n", "40", "--expect", "200,503"])
            #expect(accepted.result.code == 0)
        }

        @Test("Closed connections are failures with a reason, and the load continues")
        func closedConnections() async throws {
            let server = try LoopbackServer { request in
                guard request.number % 2 == 1 else { return .response(body: "x") }
                return .raw([.head(headers: [("Content-Length", "9")]), .close])
            }
            let (result, report) = try await bench([server.url, "-c", "1", "-n", "20"])
            #expect(result.code == 1)
            #expect(report.requests == 20)
            #expect(report.responses == 10)
            #expect(report.failures.map(\.reason) == ["interrupted"])
            #expect(result.reason == "interrupted")
        }

        @Test("A load whose requests all fail ends early")
        func hopeless() async throws {
            let (result, report) = try await bench(["http://127.0.0.1:1/", "-c", "2", "-n", "100000"])
            #expect(result.code == 1)
            #expect(result.reason == "connection")
            #expect(report.earlyEnd == "everyRequestFailed")
            #expect((100...102).contains(report.requests))
        }

        @Test("A duration ends the load, and the warm-up is not counted")
        func duration() async throws {
            let server = try LoopbackServer { _ in .response(body: "x") }
            let (result, report) = try await bench([server.url, "-c", "2", "-z", "300ms", "--warmup", "200ms"])
            #expect(result.code == 0, "\(result.errors)")
            #expect(report.elapsedSeconds >= 0.3 && report.elapsedSeconds < 5)
            #expect(report.responses > 0 && report.responses < server.requestCount)
            // The warm-up has opened the connections.
            #expect(report.connections.opened == 0)
        }

        @Test("Method, header fields, body and credentials are sent with every request")
        func request() async throws {
            let server = try LoopbackServer { _ in .response() }
            let (result, _) = try await bench([
                server.url, "-n", "6", "--json", #"{"a":1}"#, "--header", "X-A: b", "--user", "me:secret",
            ])
            #expect(result.code == 0)
            #expect(server.requests.count == 6)
            for request in server.requests {
                #expect(request.method == "POST" && request.bodyText == #"{"a":1}"#)
                #expect(request.header("Content-Type") == "application/json" && request.header("X-A") == "b")
                #expect(request.header("Authorization")?.hasPrefix("Basic ") == true)
            }
            _ = try await bench([server.url, "-n", "1", "--request", "PUT", "--data", "x"])
            #expect(server.requests.last?.method == "PUT")
        }

        @Test("Redirects are counted and not followed")
        func redirects() async throws {
            let server = try LoopbackServer { _ in .response(status: 302, headers: [("Location", "/other")]) }
            let (_, report) = try await bench([server.url, "-n", "5", "--expect", "302"])
            #expect(report.statuses == ["302": 5])
            #expect(server.requestCount == 5)
        }

        @Test(
            "A signal ends the load, and what was measured is printed",
            arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
        func signals(number: Int32, code: Int32) async throws {
            let server = try LoopbackServer { _ in .response(body: "x") }
            let process = try ToolProcess(["bench", server.url, "-c", "2", "-z", "60s", "--format", "json"])
            while server.requestCount < 20 { try await Task.sleep(for: .milliseconds(5)) }
            process.signal(number)
            let result = await process.end()
            #expect(result.code == code)
            #expect(result.errors == "error: cancelled: A signal ended the load.\n")
            let report = try JSONDecoder().decode(Report.self, from: Data(result.output))
            #expect(report.earlyEnd == "interrupted")
            #expect(report.responses >= 10 && report.failures.isEmpty)
        }

        @Test(
            "A load outside of its limits is refused",
            arguments: [
                ["-c", "0"], ["-c", "1001"], ["-n", "0"], ["-n", "1000000001"], ["-z", "1441m"], ["--warmup", "2000m"],
                ["--request", "CONNECT"], ["--max-redirects", "3"], ["--format", "xml"],
            ])
        func refused(arguments: [String]) async throws {
            let result = try await ToolProcess(["bench", "http://127.0.0.1:1/"] + arguments).end()
            #expect(result.code == 64)
            #expect(result.errors.hasPrefix("Error: "), "\(result.errors)")
        }

        @Test("A method in the wrong case is refused with the right spelling")
        func method() async throws {
            let result = try await tool("bench", "http://127.0.0.1:1/", "--request", "post")
            #expect(result.code == 64)
            #expect(result.errors.contains("Did you mean “POST”?"))
        }
    }
}

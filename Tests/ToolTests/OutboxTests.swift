import EssentialsTestKit
import FoundationEssentials
import Glibc
import ServiceEssentials
import Testing

extension ToolTests {
    @Suite("Tool: outbox")
    struct OutboxTests {
        private let directory: TemporaryDirectory
        private var box: String { directory.path + "/box" }

        init() throws { directory = try TemporaryDirectory() }

        /// Adds requests, and returns their identifiers.
        private func add(_ bodies: [String], to url: String) async throws -> [String] {
            var ids: [String] = []
            for body in bodies {
                let result = try await tool("post", url, "--json", body, "--outbox", box)
                #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
                ids.append(String(result.text.dropLast()))
            }
            return ids
        }

        private func outbox(_ arguments: String...) async throws -> ToolResult {
            try await ToolProcess(["outbox", box] + arguments).end()
        }

        @Test("Requests are kept without being sent, and drained in their order with their keys")
        func drained() async throws {
            let server = try LoopbackServer { _ in .response(status: 201) }
            let ids = try await add(["[1]", "[2]"], to: server.url + "/views?secret=1")
            #expect(server.requestCount == 0)
            let list = try await outbox()
            let lines = list.text.split(separator: "\n")
            try #require(list.code == 0 && lines.count == 2, "\(list.text)")
            for (line, id) in zip(lines, ids) {
                #expect(line.hasPrefix("\(id) 20") && line.hasSuffix("Z POST \(server.url)/views: waiting"), "\(line)")
            }
            let drain = try await outbox("drain", "--base-url", server.url + "/", "--bearer", "token")
            #expect(drain.code == 0 && drain.errors.isEmpty, "\(drain.errors)")
            #expect(drain.text.split(separator: "\n").map { $0.hasSuffix("sent, status 201") } == [true, true])
            #expect(server.requests.map(\.bodyText) == ["[1]", "[2]"])
            #expect(server.requests.allSatisfy { $0.header("Authorization") == "Bearer token" })
            #expect(Set(server.requests.compactMap { $0.header("Idempotency-Key") }).count == 2)
            #expect(server.requests.allSatisfy { $0.header("Content-Type") == "application/json" })
            #expect(try await outbox("list").text == "The outbox is empty.\n")
        }

        private struct Line: Decodable {
            struct Failure: Decodable {
                let reason, message: String
                let status: Int?
            }

            let id, added, method, path, baseURL, orderingKey, idempotencyKey, state: String
            let bytes: Int
            let failure: Failure?
        }

        @Test("An entry that the server refuses is given up, can be sent again and can be dropped")
        func givenUp() async throws {
            let server = try LoopbackServer { .response(status: $0.number == 0 ? 422 : 200) }
            let ids = try await add(["[1]", "[2]"], to: server.url)
            let first = try await outbox("drain", "--base-url", server.url + "/")
            #expect(first.code == 1 && first.reason == "status", "\(first.errors)")
            #expect(first.text.contains("\(ids[1]) ") && first.text.contains("sent, status 200"))
            #expect(first.text.contains(": given up, status 422: "), "\(first.text)")

            let list = try await outbox("list", "--format", "json")
            let line = try JSONDecoder().decode(Line.self, from: Data(list.output))
            #expect(line.id == ids[0] && line.state == "failed" && line.failure?.status == 422 && line.method == "POST")
            #expect(line.baseURL == server.url + "/" && line.failure?.reason == "status" && line.bytes > 0)

            #expect(try await outbox("retry", ids[0]).code == 0)
            #expect(try await outbox().text.hasSuffix(": waiting\n"))
            #expect(try await outbox("drain", "--base-url", server.url + "/").code == 0)
            #expect(server.requests.map(\.bodyText) == ["[1]", "[2]", "[1]"])
            #expect(server.requests[0].header("Idempotency-Key") == server.requests[2].header("Idempotency-Key"))

            let other = try await add(["[3]"], to: server.url)
            let dropped = try await outbox("drop", other[0])
            #expect(dropped.code == 0 && dropped.text == "Dropped \(other[0]).\n", "\(dropped.errors)")
            for action in ["drop", "retry"] { #expect(try await outbox(action, other[0]).code == 64) }
            #expect(server.requestCount == 3)
        }

        @Test("Entries that cannot be sent now, or belong to another environment, are left and named")
        func left() async throws {
            let server = try LoopbackServer { .response(status: $0.number == 0 ? 503 : 200) }
            _ = try await add(["[1]", "[2]"], to: server.url)
            let elsewhere = try await outbox("drain", "--base-url", server.url + "/v1/")
            #expect(elsewhere.code == 1 && elsewhere.errors.contains("2 are left"), "\(elsewhere.errors)")
            #expect(elsewhere.text.split(separator: "\n").allSatisfy { $0.hasSuffix(": otherEnvironment") })
            let stranger = try await outbox("drain", "--base-url", server.url + "/", "--partition", "ada")
            #expect(stranger.code == 1 && stranger.text.contains(": otherPartition"), "\(stranger.text)")
            #expect(server.requestCount == 0)
            let busy = try await outbox("drain", "--base-url", server.url + "/")
            let lines = busy.text.split(separator: "\n")
            #expect(busy.code == 1 && busy.reason == "status" && lines.count == 2, "\(busy.errors)")
            #expect(lines.first?.contains(": delayed, status: ") == true && lines.last?.hasSuffix(": waiting") == true)
            #expect(try await outbox("drain", "--base-url", server.url + "/").code == 0)
            #expect(server.requests.map(\.bodyText) == ["[1]", "[1]", "[2]"])
        }

        @Test("While another process uses an outbox, its entries are listed, and other actions name the process")
        func inUse() async throws {
            let ids = try await add(["[1]"], to: "https://example.com/views")
            let requests = try HTTPDataRequestService(
                environment: ConstantEnvironment("https://example.com/"), transport: ScriptedTransport())
            let holder = try Outbox(
                directory: box, requests: requests, environment: ConstantEnvironment("https://example.com/"),
                partition: nil)
            try await holder.open()
            #expect(try await outbox().text.hasPrefix(ids[0]))
            for arguments in [["drop", ids[0]], ["retry", ids[0]], ["drain", "--base-url", "https://example.com/"]] {
                let result = try await ToolProcess(["outbox", box] + arguments).end()
                #expect(result.code == 1 && result.reason == "file" && result.output.isEmpty, "\(result.errors)")
                #expect(result.errors.contains("in use by the process \(getpid())"), "\(result.errors)")
            }
            await holder.close()
            #expect(try await outbox("drop", ids[0]).code == 0)
        }

        @Test("A directory that does not exist is refused and not created", arguments: ["list", "drain"])
        func missing(action: String) async throws {
            let options = action == "drain" ? ["--base-url", "https://example.com/"] : []
            let result = try await ToolProcess(["outbox", box, action] + options).end()
            #expect(result.code == 1 && result.reason == "file" && result.errors.contains(box), "\(result.errors)")
            #expect(try directory.names.isEmpty)
        }

        @Test(
            "Wrong actions, identifiers and options are refused",
            arguments: [
                ["empty"], ["drop"], ["retry"], ["drop", "7"], ["list", "0000000000000007"], ["drain"],
                ["drain", "--base-url", "https://example.com", "--environment", "f"],
                ["list", "--base-url", "https://example.com"], ["drain", "--base-url", "nonsense"],
            ])
        func refused(arguments: [String]) async throws {
            let result = try await ToolProcess(["outbox", directory.path] + arguments).end()
            #expect(result.code == 64 && result.output.isEmpty, "\(result.errors)")
        }

        @Test("A request with credentials of its own or with options for a response is not kept")
        func notKept() async throws {
            for options in [["-H", "Authorization: x"], ["--include"], ["--output", "file"], ["--cookie", "a=b"]] {
                let result = try await ToolProcess(["post", "https://example.com", "--outbox", box] + options).end()
                #expect(result.code == 64 && result.output.isEmpty, "\(options) \(result.errors)")
            }
        }
    }
}

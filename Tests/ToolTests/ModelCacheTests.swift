import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

extension ToolTests {
    @Suite("Tool: model cache")
    struct ModelCacheTests {
        private let directory: TemporaryDirectory
        private var cache: String { directory.path + "/models" }

        /// A document whose order, numbers and white space a decoder would change.
        private static let document = #"{"b": 1.10, "a":[1e2 , 12345678901234567890123]}"#

        init() throws { directory = try TemporaryDirectory() }

        private static func json(_ text: String, status: Int = 200) -> ServerReply {
            .response(status: status, headers: [("Content-Type", "application/json")], body: text)
        }

        private static func server(_ reply: @escaping @Sendable (ServerRequest) -> ServerReply) throws -> LoopbackServer
        {
            try LoopbackServer(handler: reply)
        }

        private func get(_ url: String, _ options: String...) async throws -> ToolResult {
            try await ToolProcess(["get", url, "--model-cache", cache] + options).end()
        }

        @Test("A document is printed and stored byte for byte, in a directory for the user only")
        func stored() async throws {
            let server = try Self.server { _ in Self.json(Self.document) }
            let first = try await get(server.url + "/coins")
            #expect(first.code == 0 && first.text == Self.document && first.errors.isEmpty, "\(first.errors)")
            var status = stat()
            #expect(stat(cache, &status) == 0 && status.st_mode & 0o777 == 0o700)
            let again = try await get(server.url + "/coins", "--source", "cache")
            #expect(again.code == 0 && again.text == Self.document && again.errors.isEmpty, "\(again.errors)")
            #expect(server.requestCount == 1)
        }

        @Test("The cached document comes first and that of the server second, each with its source and age")
        func cacheThenBackend() async throws {
            let server = try Self.server { Self.json("{\"n\": \($0.number)}") }
            #expect(try await get(server.url).text == #"{"n": 0}"#)
            let result = try await get(server.url, "--include")
            let lines = result.text.split(separator: "\n")
            try #require(result.code == 0 && lines.count == 4, "\(result.text) \(result.errors)")
            #expect(lines[0].firstMatch(of: /^source: cache, age: \d+\.\d s$/) != nil, "\(lines[0])")
            #expect(lines[1] == #"{"n": 0}"#)
            #expect(lines[2] == "source: backend, age: 0.0 s" && lines[3] == #"{"n": 1}"#)
        }

        @Test("Without a server the cached document covers the failure, or precedes it")
        func offline() async throws {
            let url: String
            do {
                let server = try Self.server { _ in Self.json("[1]") }
                url = server.url
                #expect(try await get(url).code == 0)
            }
            let covered = try await get(url, "--source", "backendElseCache")
            #expect(covered.code == 0 && covered.text == "[1]")
            #expect(covered.errorLines.count == 1 && covered.errors.hasPrefix("warning: "), "\(covered.errors)")
            #expect(covered.errors.contains("failure: connection: "), "\(covered.errors)")
            let included = try await get(url, "--source", "backendElseCache", "--include")
            #expect(included.code == 0 && included.errors.isEmpty)
            #expect(included.text.firstMatch(of: /^source: cache, age: .* s, failure: connection: .*\n\[1\]$/) != nil)

            let preceding = try await get(url, "--source", "cacheThenBackend")
            #expect(preceding.code == 1 && preceding.text == "[1]" && preceding.reason == "connection")
            let both = try await get(url, "--source", "both")
            #expect(both.text == "[1]")
            let none = try await get(url, "--source", "backend")
            #expect(none.code == 1 && none.output.isEmpty && none.reason == "connection")
        }

        @Test("A cached document that is young enough prevents the request, and an older one does not")
        func cacheElseBackend() async throws {
            let server = try Self.server { Self.json("\($0.number)") }
            #expect(try await get(server.url, "--source", "cacheElseBackend").text == "0")
            #expect(try await get(server.url, "--source", "cacheElseBackend", "--maximum-age", "60s").text == "0")
            #expect(try await get(server.url, "--source", "cacheElseBackend", "--maximum-age", "1ms").text == "1")
            #expect(try await get(server.url, "--source", "cacheElseBackend").text == "1")
            #expect(server.requestCount == 2)
        }

        @Test("A cache without the document fails, and one that cannot be used is named in a warning")
        func missing() async throws {
            let result = try await get("https://example.com", "--source", "cache")
            #expect(result.code == 1 && result.output.isEmpty && result.reason == "emptyBody", "\(result.errors)")
            let file = try directory.file("file", "")
            let server = try Self.server { _ in Self.json("[]") }
            let other = try await tool("get", server.url, "--model-cache", file)
            #expect(other.code == 0 && other.text == "[]")
            #expect(other.errors.hasPrefix("warning: the model cache failed: "), "\(other.errors)")
            #expect(try await tool("get", server.url, "--model-cache", file, "--silent").errors.isEmpty)
        }

        @Test("An unexpected status prints its body and fails, and the status 404 removes the cached document")
        func unexpected() async throws {
            let server = try Self.server { request in
                [Self.json("[1]"), Self.json("busy", status: 500), Self.json("gone", status: 404)][
                    min(request.number, 2)]
            }
            #expect(try await get(server.url).code == 0)
            let busy = try await get(server.url, "--source", "backend")
            #expect(busy.code == 1 && busy.text == "busy" && busy.reason == "status", "\(busy.errors)")
            #expect(try await get(server.url, "--source", "cache").text == "[1]")
            let gone = try await get(server.url, "--source", "backendElseCache", "--fail")
            #expect(gone.code == 1 && gone.output.isEmpty && gone.reason == "status", "\(gone.errors)")
            #expect(try await get(server.url, "--source", "cache").code == 1)
        }

        @Test(
            "A response that is not JSON is refused and not stored",
            arguments: [("text/html", "<p>"), ("application/json", "{,}")])
        func otherBody(type: String, body: String) async throws {
            let server = try Self.server { _ in .response(headers: [("Content-Type", type)], body: body) }
            let result = try await get(server.url)
            #expect(result.code == 1 && result.output.isEmpty && result.reason == "decoding", "\(result.errors)")
            #expect(result.errors.contains("--model-cache"))
            #expect(try await get(server.url, "--source", "cache").code == 1)
        }

        @Test("Documents of different users are kept apart, and one user finds them with another password")
        func users() async throws {
            let server = try Self.server { Self.json("\"\($0.header("Authorization")?.count ?? 0)\"") }
            let own = try await get(server.url, "--user", "ada:secret")
            #expect(own.code == 0)
            #expect(try await get(server.url, "--source", "cache", "--user", "ada:other").text == own.text)
            for options in [[], ["--user", "bob:secret"], ["--bearer", "token"]] {
                let result = try await ToolProcess(
                    ["get", server.url, "--model-cache", cache, "--source", "cache"] + options
                ).end()
                #expect(result.code == 1 && result.output.isEmpty, "\(options)")
            }
        }

        @Test(
            "Options that do not fit are refused before anything is sent",
            arguments: [
                ["--source", "cache"], ["--maximum-age", "1s"], ["--model-cache", ""],
                ["--model-cache", "d", "--source", "elsewhere"], ["--model-cache", "d", "--maximum-age", "1s"],
                ["--model-cache", "d", "--output", "file"], ["--model-cache", "d", "--remote-name"],
                ["--model-cache", "d", "--timings"], ["--model-cache", "d", "--cookie", "a=b"],
                ["--model-cache", "d", "--cookie-jar", "jar"], ["--model-cache", "d", "-H", "Authorization: x"],
                ["--model-cache", "d", "Range:bytes=0-1"],
            ])
        func refused(options: [String]) async throws {
            let server = try Self.server { _ in Self.json("[]") }
            let result = try await ToolProcess(["get", server.url] + options, directory: directory.path).end()
            #expect(result.code == 64 && result.output.isEmpty, "\(result.errors)")
            #expect(server.requestCount == 0)
            #expect(try directory.names.isEmpty)
        }

        @Test("Only get has a model cache", arguments: ["head", "post", "put", "delete", "send"])
        func otherMethods(command: String) async throws {
            let result = try await tool(command, "https://example.com", "--model-cache", "d")
            #expect(result.code == 64 && result.errors.contains("--model-cache"), "\(result.errors)")
        }
    }
}

import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

extension ToolTests {
    @Suite("Tool: response cache")
    struct CacheCommandTests {
        private let directory: TemporaryDirectory
        private var cache: String { directory.path + "/responses" }

        init() throws { directory = try TemporaryDirectory() }

        private static func server(_ cacheControl: String = "max-age=600") throws -> LoopbackServer {
            try LoopbackServer { request in
                .response(
                    headers: [("Cache-Control", cacheControl), ("ETag", "\"1\"")], body: "body \(request.number)")
            }
        }

        private func get(_ url: String, _ options: String...) async throws -> ToolResult {
            try await ToolProcess(["get", url, "--cache", cache] + options).end()
        }

        private func list(_ options: String...) async throws -> ToolResult {
            try await ToolProcess(["cache", cache] + options).end()
        }

        @Test("A stored response is served by the next run, and --include and --timings say so")
        func hit() async throws {
            let server = try Self.server()
            let first = try await get(server.url + "/films", "--include")
            #expect(first.code == 0 && first.text.hasSuffix("body 0"), "\(first.errors)")
            #expect(first.text.contains("Cache-Status: ServiceEssentials; fwd=uri-miss"))
            var status = stat()
            #expect(stat(cache, &status) == 0 && status.st_mode & 0o777 == 0o700)
            let second = try await get(server.url + "/films", "--include", "--timings")
            #expect(
                second.text.hasSuffix("body 0") && second.text.contains("Cache-Status: ServiceEssentials; hit; ttl="))
            #expect(second.errors.contains("cache          ServiceEssentials; hit"), "\(second.errors)")
            #expect(server.requestCount == 1)
            let reloaded = try await get(server.url + "/films", "--reload")
            #expect(reloaded.text == "body 1")
            #expect(try await get(server.url + "/films", "--only-stored").text == "body 1")
            #expect(server.requestCount == 2)
        }

        @Test("A response that must not be stored is not, and the reason is shown")
        func notStored() async throws {
            let server = try Self.server("no-store")
            let result = try await get(server.url, "--timings")
            #expect(result.code == 0 && result.errors.contains("no-store in the response"), "\(result.errors)")
            let missing = try await get(server.url, "--only-stored")
            #expect(missing.code == 1 && missing.errors.contains("notCached"), "\(missing.errors)")
            #expect(server.requestCount == 1)
            #expect(try await list().text == "There are no responses.\n")
        }

        @Test("A stale response is used without the server only if that was asked for")
        func stale() async throws {
            let server = try Self.server("max-age=0")
            _ = try await get(server.url)
            #expect(try await get(server.url, "--only-stored").code == 1)
            let stale = try await get(server.url, "--only-stored", "--max-stale", "1h")
            #expect(stale.code == 0 && stale.text == "body 0", "\(stale.errors)")
            #expect(server.requestCount == 1)
        }

        @Test("Different credentials have different responses")
        func credentials() async throws {
            let server = try Self.server()
            #expect(try await get(server.url).text == "body 0")
            #expect(try await get(server.url, "--bearer", "a").text == "body 1")
            #expect(try await get(server.url, "--bearer", "b").text == "body 2")
            #expect(try await get(server.url, "--bearer", "a").text == "body 1")
            #expect(try await get(server.url).text == "body 0")
        }

        @Test("The responses are listed, removed by URL, and cleared")
        func listing() async throws {
            let server = try Self.server()
            for path in ["/a", "/b", "/c"] { _ = try await get(server.url + path) }
            _ = try await get(server.url + "/a", "--bearer", "t")
            let lines = try await list().text.split(separator: "\n")
            try #require(lines.count == 5)
            #expect(lines[0].hasPrefix("AGE") && lines[1].contains(" 200 ") && lines[1].hasSuffix(server.url + "/a"))
            let objects = try await list("--json").text.split(separator: "\n")
            #expect(objects.count == 4 && objects[3].contains("\"url\":\"\(server.url)/c\""), "\(objects)")
            #expect(objects.filter { $0.contains("\"isPrivate\":true") }.count == 1)
            #expect(try await list("--remove", server.url + "/a").text == "Removed 2 responses.\n")
            #expect(try await get(server.url + "/a").text == "body 4")
            #expect(try await list("--clear", "--json").text == "{\"removed\":3}\n")
            #expect(try await list().text == "There are no responses.\n")
        }

        @Test("--verify names damaged files and fails")
        func verify() async throws {
            let server = try Self.server()
            _ = try await get(server.url)
            #expect(try await list("--verify").code == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: cache).filter { $0.hasSuffix(".record") }
            let name = try #require(names.first)
            let file = open(cache + "/" + name, O_WRONLY)
            #expect(pwrite(file, "x", 1, 100) == 1)
            close(file)
            let result = try await list("--verify")
            #expect(result.code == 1 && result.errors.contains("damaged: \(name)"), "\(result.errors)")
            #expect(try await get(server.url).text == "body 1")
            #expect(try await list("--verify").code == 0)
        }

        @Test(
            "Options that contradict each other are refused",
            arguments: [
                ["get", "x", "--reload"], ["get", "x", "--only-stored"], ["get", "x", "--max-stale", "1h"],
                ["get", "x", "--cache", ""], ["get", "x", "--cache", "c", "--reload", "--only-stored"],
                ["get", "x", "--cache", "c", "--cookie-jar", "j"], ["get", "x", "--cache", "c", "--model-cache", "m"],
                ["get", "x", "--cache", "c", "--max-stale", "1h", "-H", "Cache-Control: no-cache"],
                ["cache", "c", "--clear", "--verify"],
            ])
        func refused(arguments: [String]) async throws {
            let result = try await ToolProcess(arguments).end()
            #expect(result.code == 64 && result.output.isEmpty, "\(result.errors)")
        }

        @Test("A directory that does not exist or cannot be used is a failure")
        func unusable() async throws {
            let missing = try await list()
            #expect(missing.code == 1 && missing.errors.contains("--cache creates"), "\(missing.errors)")
            mkdir(cache, 0o777)
            chmod(cache, 0o777)
            let open = try await get("http://localhost:1/")
            #expect(open.code == 1 && open.errors.contains("file"), "\(open.errors)")
        }
    }
}

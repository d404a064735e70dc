import EssentialsTestKit
import TestTools
import Testing

@testable import essentials

extension ToolTests {
    @Suite("Tool: redis", .enabled(if: RedisServer.isThere))
    struct RedisCommandTests {
        @Test("A server is checked, with the rules that the tool prints")
        func check() async throws {
            let server = try await RedisServer(["--requirepass", "secret"])
            #expect(try await tool("redis", "check", server.url).reason == "authorization")
            let url = "redis://:secret@127.0.0.1:\(server.port)"
            let whole = try await tool("redis", "check", url)
            #expect(whole.code == 0, "\(whole.errors)")
            let names = whole.text.split(separator: "\n").map { $0.prefix { $0 != ":" } }
            #expect(names == ["server", "round trip", "encrypted", "refused commands", "tracked keys"])
            #expect(whole.text.contains("refused commands: none"))
            #expect(whole.text.contains("encrypted: no"))

            let rules = try await tool("redis", "acl", "--application", "films")
            #expect(rules.text.hasPrefix("resetchannels ~es:films:* -@all +hello"))
            // The keys of another application are refused.
            let words = rules.text.split(whereSeparator: \.isWhitespace).map(String.init)
            try await server.setUser("films", ["on", ">films"] + words, password: "secret")
            let own = "redis://films:films@127.0.0.1:\(server.port)"
            #expect(try await tool("redis", "check", own, "--application", "films").code == 0)
            let other = try await tool("redis", "check", own, "--application", "shop")
            #expect(other.reason == "authorization")
            let plain = try await tool("redis", "check", "redis://cache.example")
            #expect(plain.reason == "plaintextRefused")
            #expect(plain.errors.contains("--allow-plaintext"))
            let socket = try await tool(
                "redis", "check", "redis://:secret@cache.example", "--unix-socket", server.scratch("redis.sock"))
            #expect(socket.code == 0, "\(socket.errors)")
            server.stop()
            #expect(try await tool("redis", "check", url).reason == "connection")
        }

        @Test(
            "Wrong usage is refused",
            arguments: [
                ["check"], ["acl", "redis://localhost"], ["check", "http://localhost"],
                ["acl", "--application", "a b"],
            ])
        func usage(arguments: [String]) async throws {
            let result = try await ToolProcess(["redis"] + arguments).end()
            #expect(result.code == 64)
        }
    }
}

import EssentialsTestKit
import Testing

extension ToolTests {
    @Suite("Tool: environments")
    struct EnvironmentTests {
        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory() }

        /// Writes a file with the environments “one”, “two” and “bare” for one server.
        private func file(_ server: LoopbackServer, current: String? = nil) throws -> String {
            let current = current.map { "\"current\": \"\($0)\", " } ?? ""
            return try directory.file(
                "environments.json",
                """
                {\(current)"environments": {
                    "one": {"baseURL": "\(server.url)/v1/", "headers": {"X-Stage": "one", "X-Key": "k3y"}},
                    "two": {"baseURL": "\(server.url)/v2", "headers": {"X-Stage": "two"}},
                    "bare": {"baseURL": "\(server.url)"}
                }}
                """)
        }

        @Test(
            "An environment provides the base URL and header fields",
            arguments: [
                (nil, [], "/v1/users?q=1", "one"), ("two", [], "/v2/users?q=1", "two"),
                ("two", ["--env", "one"], "/v1/users?q=1", "one"),
                (nil, ["--env", "two", "--header", "x-stage: mine"], "/v2/users?q=1", "mine"),
                (nil, ["--env", "bare"], "/users?q=1", nil),
            ] as [(String?, [String], String, String?)])
        func joined(current: String?, arguments: [String], target: String, stage: String?) async throws {
            let server = try LoopbackServer { _ in .response(body: "here") }
            let request = ["get", "/users", "--query", "q=1", "--environment", try file(server, current: current)]
            let result = try await ToolProcess(request + arguments).end()
            #expect(result.text == "here", "\(result.errors)")
            #expect(server.requests.map(\.target) == [target])
            #expect(server.requests.map { $0.allHeaders("X-Stage") } == [stage.map { [$0] } ?? []])
        }

        @Test("An environment allows bodies, credentials and absolute URLs")
        func whole() async throws {
            let server = try LoopbackServer { _ in .response() }
            let result = try await tool(
                "post", server.url + "/v1/a//b?c", "--environment", try file(server), "--user", "ada:word", "--form",
                "a=1")
            #expect(result.code == 0, "\(result.errors)")
            let request = try #require(server.requests.first)
            #expect(request.target == "/v1/a//b?c")
            #expect(request.bodyText == "a=1")
            #expect(request.header("Authorization") == "Basic YWRhOndvcmQ=")
        }

        @Test("An environment's header fields and credentials are not sent to other origins")
        func redirected() async throws {
            let other = try LoopbackServer { _ in .response(body: "other") }
            let server = try LoopbackServer { _ in
                .response(status: 307, headers: [("Location", other.url + "/")])
            }
            let result = try await tool("get", "users", "--environment", try file(server), "--bearer", "s3cret")
            #expect(result.text == "other")
            #expect(server.requests.map { $0.header("X-Key") } == ["k3y"])
            #expect(server.requests.map { $0.header("Authorization") } == ["Bearer s3cret"])
            for name in ["X-Key", "X-Stage", "Authorization"] {
                #expect(other.requests.map { $0.header(name) } == [nil])
            }
        }

        @Test("A path below an environment can be downloaded and resumed")
        func download() async throws {
            let server = try LoopbackServer { _ in .response(headers: [("ETag", "\"1\"")], body: "whole") }
            let result = try await tool(
                "get", "file", "--environment", try file(server), "--output", directory.path + "/out", "--resume")
            #expect(result.code == 0, "\(result.errors)")
            #expect(try directory.contents("out") == Array("whole".utf8))
            #expect(server.requests.map(\.target) == ["/v1/file"])
        }

        @Test(
            "An invalid selection of an environment is refused before anything is sent",
            arguments: [
                (
                    ["users", "--env", "three"],
                    "There is no environment called “three”. Name one of “one”, “two”, “bare”."
                ),
                (["http://other.example/"], "The path leads to http://other.example instead of"),
                (["../v2/users"], "The path climbs out of /v1/"),
            ])
        func refused(arguments: [String], says: String) async throws {
            let server = try LoopbackServer { _ in .response() }
            let result = try await ToolProcess(["get", "--environment", try file(server)] + arguments).end()
            #expect(result.code == 64)
            #expect(result.reason == "invalidRequest")
            #expect(result.errors.contains(says), "\(result.errors)")
            #expect(server.connectionCount == 0)
        }

        @Test("A missing or invalid environment file is refused")
        func files() async throws {
            let missing = try await tool("get", "users", "--environment", directory.path + "/missing")
            #expect(missing.code == 1 && missing.reason == "file")
            #expect(missing.errors.contains(directory.path + "/missing"))
            let damaged = try directory.file("damaged.json", "{\n\"environments\": {\"one\": {\"baseURL\": 1}}}")
            let wrong = try await tool("get", "users", "--environment", damaged)
            #expect(wrong.code == 64 && wrong.reason == "invalidRequest")
            #expect(wrong.errors.contains("line 2"))
            let alone = try await tool("get", "http://127.0.0.1:1/", "--env", "one")
            #expect(alone.code == 64)
            #expect(alone.errors.hasPrefix("Error: --env needs --environment."))
        }

        // MARK: Trust

        /// Writes a file with the environments “own”, which has a policy, “wrong”, whose policy
        /// has other pins, and “none”.
        private func file(_ server: TrustedServer) throws -> String {
            let pin = "[\"\(TrustedServer.strangePin)\"], \"singlePin\": true"
            return try server.directory.file(
                "environments.json",
                """
                {"environments": {
                    "own": {"baseURL": "\(server.server.url)", "trust": {"anchors": ["ca.pem"]}},
                    "wrong": {"baseURL": "\(server.server.url)", "trust": {
                        "anchors": ["ca.pem"], "hosts": [{"host": "localhost", "pins": \(pin)}]}},
                    "none": {"baseURL": "\(server.server.url)"}
                }}
                """)
        }

        @Test("An environment with a trust policy uses that policy")
        func trust() async throws {
            let server = try TrustedServer()
            let file = try file(server)
            let own = try await tool("get", "/", "--environment", file)
            #expect(own.text == "secret", "\(own.errors)")
            let before = server.server.applicationBytesReceived
            let wrong = try await tool("get", "/", "--environment", file, "--env", "wrong")
            #expect(wrong.code == 1 && wrong.reason == "pinMismatch")
            #expect(server.server.applicationBytesReceived == before)
        }

        @Test("An environment without a trust policy uses the policy from the options")
        func options() async throws {
            let server = try TrustedServer()
            let request = ["get", "/", "--environment", try file(server), "--env", "none"]
            #expect(try await ToolProcess(request + ["--anchor", server.anchor]).end().text == "secret")
            let system = try await ToolProcess(request).end()
            #expect(system.code == 1 && system.reason == "trustChain")
        }

        @Test(
            "A trust policy in an environment excludes the trust options",
            arguments: [
                ["--policy", "file"], ["--anchor", "file"], ["--add-anchor", "file"], ["--min-tls", "1.3"],
                ["--pin", TrustedServer.strangePin, "--single-pin"],
                ["--pin-certificate", TrustedServer.strangePin, "--single-pin"], ["--crl", "file"],
                ["--require-staple"],
                ["--client-cert", "file", "--client-key", "file"],
            ])
        func excluded(arguments: [String]) async throws {
            let server = try TrustedServer()
            let result = try await ToolProcess(["get", "/", "--environment", try file(server)] + arguments).end()
            #expect(result.code == 64)
            #expect(result.reason == "invalidRequest")
            #expect(
                result.errors.contains(
                    "The environment “own” of --environment has a trust policy, so \(arguments[0]) is refused."),
                "\(result.errors)")
            #expect(server.server.connectionCount == 0)
        }
    }
}

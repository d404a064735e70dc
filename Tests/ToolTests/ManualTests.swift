import EssentialsTestKit
import EssentialsTransport
import ServiceEssentials
import Testing

extension ToolTests {
    @Suite("Tool: help and demonstration")
    struct ManualTests {
        @Test("The demonstration prints a line for every step and succeeds")
        func demo() async throws {
            let result = try await tool("demo")
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.errors.isEmpty)
            let names = result.text.split(separator: "\n").map { $0.prefix { $0 != ":" } }
            #expect(names == ["bootstrap", "get", "post", "scope and double", "weak proxy", "cancel", "wrong key"])
            #expect(result.text.contains("saw 0 bytes"))
        }

        @Test("The demonstration of resources prints a line for every step, with what the servers have received")
        func resourcesDemo() async throws {
            let result = try await tool("demo", "--resources")
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.errors.isEmpty)
            let lines = result.text.split(separator: "\n")
            let expected = [
                ("observe", ["2 screens", "/v1/basket", "0 connections"]),
                ("one request", ["“a book”", "received 1 request"]),
                ("not modified", ["request 2", #"If-None-Match: "1""#, "304", "“a book”"]),
                ("undone", ["“a book, a pen” at once", "“a book” after the status 409", "received 1 PATCH"]),
                ("environment", ["“a lamp” from staging", "received 1 request", "production received 0"]),
                ("logout", ["“order 7”", "0 requests"]),
            ]
            try #require(lines.count == expected.count, "\(result.text)")
            for (line, (name, parts)) in zip(lines, expected) {
                #expect(line.hasPrefix(name + ": "))
                for part in parts { #expect(line.contains(part), "\(line)") }
            }
        }

        @Test("The demonstration of policies prints a line for every step, with what was shown and sent")
        func policiesDemo() async throws {
            let result = try await tool("demo", "--policies")
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.errors.isEmpty)
            let lines = result.text.split(separator: "\n")
            let expected = [
                ("first use", ["“btc eth” from the backend"]), ("offline", ["is down", "“btc eth” from the cache"]),
                ("kept", ["2 requests are on the disk", "has accepted 0"]),
                ("online", ["first “btc eth” from the cache and then “btc eth orb” from the backend"]),
                ("filter", ["Bitcoin and Orbit, with 0 requests"]), ("blob", ["7 bytes", "after 1 transfer"]),
                ("outbox", [#"{"symbol":"btc"} and {"symbol":"eth"}"#, "0 requests are left"]),
            ]
            try #require(lines.count == expected.count, "\(result.text)")
            for (line, (name, parts)) in zip(lines, expected) {
                #expect(line.hasPrefix(name + ": "))
                for part in parts { #expect(line.contains(part), "\(line)") }
            }
            #expect(try await tool("demo", "--policies", "--resources").code == 64)
        }

        @Test("The graph of the resources' demonstration has the resource service, which needs two others")
        func resourcesGraph() async throws {
            let result = try await tool("demo", "--resources", "--graph")
            #expect(result.code == 0, "\(result.errors)")
            let graph = result.text.split(separator: "\n").drop { !$0.hasPrefix("\"app\":") }
            let service = "ResourceService: lazy, built (essentials/ResourcesDemo"
            #expect(graph.contains { $0.contains(service) }, "\(graph)")
            #expect(graph.count { $0.contains("    needs ") } == 2)
        }

        @Test("The demonstration's graph shows registrations, their states and their dependencies")
        func demoGraph() async throws {
            let result = try await tool("demo", "--graph")
            #expect(result.code == 0, "\(result.errors)")
            let lines = result.text.split(separator: "\n").drop { $0 != "\"app\": 3 registrations" }
            let site = "(essentials/Demo"
            try #require(lines.count == 5, "\(result.text)")
            let parts = [
                ["EnvironmentService: strong, built \(site)"], ["DataRequestService: lazy, built \(site)"],
                ["    needs ", "EnvironmentService in \"app\""], ["CartService: weak proxy, gone \(site)"],
            ]
            for (line, parts) in zip(lines.dropFirst(), parts) {
                for part in parts { #expect(line.contains(part), "\(line)") }
            }
        }

        @Test(
            "The help of every command contains examples and exit codes",
            arguments: [
                "send", "get", "post", "put", "patch", "delete", "head", "options", "request", "pins", "reachability",
                "watch", "cookies", "outbox", "store", "bench", "demo",
            ])
        func help(command: String) async throws {
            let result = try await tool(command, "--help")
            #expect(result.code == 0)
            #expect(result.text.contains("EXIT CODES"))
            #expect(result.text.contains("USAGE: essentials \(command)"))
        }

        @Test("The help of the tool names all commands and variables")
        func overview() async throws {
            let result = try await tool("--help")
            #expect(result.code == 0)
            let words = result.text.split { $0 == " " || $0 == "\n" }
            for command in [
                "send", "get", "post", "put", "patch", "delete", "head", "options", "request", "pins", "reachability",
                "watch", "cookies", "outbox", "store", "bench", "demo",
                "ESSENTIALS_USER", "ESSENTIALS_DIGEST", "ESSENTIALS_BEARER", "ESSENTIALS_CLIENT_ID",
                "ESSENTIALS_CLIENT_SECRET", "ESSENTIALS_KEY_PASSPHRASE", "ESSENTIALS_REDIS_USER",
            ] {
                #expect(words.contains(command[...]), "\(command)")
            }
        }

        @Test(
            "The help of a command lists the request options that it accepts",
            arguments: [
                ("get", false), ("head", false), ("options", false), ("post", true), ("put", true), ("patch", true),
                ("delete", true), ("request", true),
            ])
        func options(command: String, takesBody: Bool) async throws {
            let text = try await tool(command, "--help").text
            for option in [
                "-u, --user <name:password>", "--digest <name:password>", "--bearer <token>", "--environment <file>",
                "--env <name>", "--oauth-token-url <url>", "--oauth-scope <text>",
            ] {
                #expect(text.contains("\n  \(option)"), "\(option)")
            }
            for option in ["--form <name=value>", "-F, --part <name=text|name=@file>"] {
                #expect(text.contains("\n  \(option)") == takesBody, "\(option)")
            }
        }

        @Test("The version option prints the versions of the tool and its libraries")
        func version() async throws {
            let result = try await tool("--version")
            #expect(result.code == 0)
            #expect(result.text.hasPrefix("essentials \(PackageVersion.text) (libcurl/"))
            #expect(result.text.contains(" OpenSSL/3."))
        }

        @Test("The tool, its User-Agent and that of services have the version of the package")
        func oneVersion() async throws {
            #expect(PackageVersion.text.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+/) != nil)
            let server = try LoopbackServer { _ in .response() }
            #expect(try await tool("get", server.url).code == 0)
            let service = try HTTPDataRequestService(environment: ConstantEnvironment(server.url))
            try await service.get("a")
            await service.shutdown()
            let agents = server.requests.compactMap { $0.header("User-Agent") }
            try #require(agents.count == 2)
            #expect(agents[0].hasPrefix("essentials/\(PackageVersion.text) (libcurl/"))
            #expect(agents[1].hasSuffix(") ServiceEssentials/\(PackageVersion.text)"))
        }
    }
}

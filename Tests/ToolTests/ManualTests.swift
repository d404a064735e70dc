import Testing

extension ToolTests {
    @Suite("The tool's own words")
    struct ManualTests {
        @Test("in the demonstration tell every step, and it ends well")
        func demo() async throws {
            let result = try await tool("demo")
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.errors.isEmpty)
            let names = result.text.split(separator: "\n").map { $0.prefix { $0 != ":" } }
            #expect(names == ["bootstrap", "get", "post", "scope and double", "weak proxy", "cancel", "wrong key"])
            #expect(result.text.contains("saw 0 bytes"))
        }

        @Test("in the demonstration's graph tell who was registered, how far that has come, and who needed whom")
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
            "of help name examples and exit codes",
            arguments: [
                "get", "post", "put", "patch", "delete", "head", "options", "request", "pins", "reachability", "demo",
            ])
        func help(command: String) async throws {
            let result = try await tool(command, "--help")
            #expect(result.code == 0)
            #expect(result.text.contains("EXIT CODES"))
            #expect(result.text.contains("USAGE: essentials \(command)"))
        }

        @Test("name all commands and variables")
        func overview() async throws {
            let result = try await tool("--help")
            #expect(result.code == 0)
            let words = result.text.split { $0 == " " || $0 == "\n" }
            for command in [
                "get", "post", "put", "patch", "delete", "head", "options", "request", "pins", "reachability", "demo",
                "ESSENTIALS_USER", "ESSENTIALS_DIGEST", "ESSENTIALS_BEARER", "ESSENTIALS_KEY_PASSPHRASE",
            ] {
                #expect(words.contains(command[...]), "\(command)")
            }
        }

        @Test(
            "say which options a request takes",
            arguments: [
                ("get", false), ("head", false), ("options", false), ("post", true), ("put", true), ("patch", true),
                ("delete", true), ("request", true),
            ])
        func options(command: String, takesBody: Bool) async throws {
            let text = try await tool(command, "--help").text
            for option in [
                "--user <name:password>", "--digest <name:password>", "--bearer <token>", "--environment <file>",
                "--env <name>",
            ] {
                #expect(text.contains("\n  \(option)"), "\(option)")
            }
            for option in ["--form <name=value>", "--part <name=text|name=@file>"] {
                #expect(text.contains("\n  \(option)") == takesBody, "\(option)")
            }
        }

        @Test("for the version are a version")
        func version() async throws {
            let result = try await tool("--version")
            #expect(result.code == 0)
            #expect(result.text.hasPrefix("essentials 0.1.0 (libcurl/"))
            #expect(result.text.contains(" OpenSSL/3."))
        }
    }
}

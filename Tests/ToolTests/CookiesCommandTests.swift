import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

extension ToolTests {
    @Suite("Tool: cookie files")
    struct CookiesCommandTests {
        private let directory: TemporaryDirectory
        private let jar: String

        /// 2100-01-01 in seconds.
        private static let later = 4_102_444_800

        init() throws {
            directory = try TemporaryDirectory()
            let lines = [
                "# Netscape HTTP Cookie File", "# A comment",
                "#HttpOnly_.example.com\tTRUE\t/shop\tTRUE\t\(Self.later)\tsid\ts3cret",
                "api.example.com\tFALSE\t/\tFALSE\t0\ttheme\tdark",
                "127.0.0.1\tFALSE\t/\tFALSE\t0\tlocal\tkept", "example.com\tFALSE\t/\tFALSE\t1\told\tgone",
                "not a cookie",
            ]
            jar = try directory.file("jar", lines.map { $0 + "\n" }.joined())
        }

        private func text() throws -> String { String(decoding: try directory.contents("jar"), as: UTF8.self) }

        @Test("Cookies are listed with their domain, path, expiry and flags, but without values and expired ones")
        func listed() async throws {
            let before = try text()
            let result = try await tool("cookies", jar)
            #expect(result.code == 0, "\(result.errors)")
            #expect(
                result.text == """
                    NAME   DOMAIN           PATH   EXPIRES               FLAGS
                    sid    example.com      /shop  2100-01-01T00:00:00Z  secure,httpOnly,subdomains
                    theme  api.example.com  /      session               -
                    local  127.0.0.1        /      session               -

                    """)
            #expect(try text() == before)
        }

        @Test("Values are printed on demand only, as text and as JSON")
        func values() async throws {
            let shown = try await tool("cookies", jar, "--show-secrets")
            #expect(shown.text.contains("  secure,httpOnly,subdomains  s3cret\n") && shown.text.contains("  VALUE\n"))
            let hidden = try await tool("cookies", jar, "--json")
            let first =
                #"{"domain":"example.com","expires":"2100-01-01T00:00:00Z","httpOnly":true,"name":"sid","#
                + #""path":"/shop","secure":true,"subdomains":true"#
            let lines = hidden.text.split(separator: "\n")
            #expect(lines.count == 3 && lines.first == "\(first)}", "\(hidden.text)")
            #expect(lines.last?.contains(#""expires":null"#) == true)
            let all = try await tool("cookies", jar, "--json", "--show-secrets")
            #expect(all.text.hasPrefix(first + #","value":"s3cret"}"#))
        }

        @Test(
            "Characters that control a terminal are not printed",
            arguments: [["--show-secrets"], ["--json", "--show-secrets"]])
        func controls(options: [String]) async throws {
            let file = try directory.file("other", "a.example\tFALSE\t/\tFALSE\t0\tn\u{9B}31m\tv\u{202E}\n")
            let result = try await ToolProcess(["cookies", file] + options).end()
            #expect(result.code == 0)
            #expect(result.text.contains(options.count == 1 ? "n\\u{9B}31m" : "n\\u009b31m"), "\(result.text)")
            #expect(!result.text.unicodeScalars.contains { $0.value == 0x9b || $0.value == 0x202e })
        }

        @Test("The cookies that a host receives are removed, and all other lines stay")
        func cleared() async throws {
            let result = try await tool("cookies", jar, "--clear", "API.example.com")
            #expect(result.code == 0 && result.text == "Removed 2 cookies.\n", "\(result.errors)")
            let kept = "127.0.0.1\tFALSE\t/\tFALSE\t0\tlocal\tkept\nnot a cookie\n"
            #expect(try text() == "# Netscape HTTP Cookie File\n# A comment\n" + kept)
            let again = try await tool("cookies", jar, "--clear", "api.example.com", "--json")
            #expect(again.code == 0 && again.text == "{\"removed\":0}\n")
            #expect(try await tool("cookies", jar, "--clear", "127.0.0.1").text == "Removed 1 cookie.\n")
            #expect(try await tool("cookies", jar).text == "There are no cookies.\n")
            #expect(try await tool("cookies", jar, "--json").text.isEmpty)
        }

        @Test(
            "curl reads a file whose cookies were partly removed", .enabled(if: Shell.has("curl"), "needs curl"))
        func curl() async throws {
            let server = try LoopbackServer { _ in
                .response(headers: [("Set-Cookie", "new=1; Max-Age=60; Path=/")])
            }
            #expect(try await tool("get", server.url, "--cookie-jar", jar).code == 0)
            #expect(try await tool("cookies", jar, "--clear", "example.com").text == "Removed 1 cookie.\n")
            let result = try await Shell.run("curl --silent --show-error -b jar '\(server.url)/'", in: directory)
            #expect(result.code == 0, "\(result.lines)")
            let fields = server.requests.map { request in
                request.header("Cookie")?.split(separator: "; ").sorted().joined(separator: "; ")
            }
            #expect(fields == ["local=kept", "local=kept; new=1"])
        }

        @Test(
            "A missing file, a link and a directory are refused as such", arguments: [[], ["--clear", "example.com"]])
        func refusedFiles(options: [String]) async throws {
            let link = directory.path + "/link"
            try #require(symlink(jar, link) == 0)
            for (path, says) in [
                (directory.path + "/missing", "No such file"), (link, "could not be opened"),
                (directory.path, "is not a regular file"),
            ] {
                let result = try await ToolProcess(["cookies", path] + options).end()
                #expect(result.code == 1 && result.reason == "file", "\(result.errors)")
                #expect(result.errors.contains(path) && result.errors.contains(says), "\(result.errors)")
            }
            #expect(try directory.names == ["jar", "link"])
        }

        @Test("A file of another user is refused", .enabled(if: geteuid() == 0, "needs root to change the owner"))
        func strangeFile() async throws {
            try #require(chown(jar, 65_534, 65_534) == 0)
            let result = try await tool("cookies", jar)
            #expect(result.code == 1 && result.reason == "file" && result.output.isEmpty)
            #expect(result.errors.contains("belongs to another user"))
        }

        @Test(
            "Wrong hosts and options are refused",
            arguments: [["--clear", "two words"], ["--clear", ""], ["--clear", "a.example", "--show-secrets"]])
        func refusals(options: [String]) async throws {
            let before = try text()
            #expect(try await ToolProcess(["cookies", jar] + options).end().code == 64)
            #expect(try text() == before)
        }
    }
}

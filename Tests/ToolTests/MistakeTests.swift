import Testing

@testable import essentials

extension ToolTests {
    @Suite("Tool: mistakes")
    struct MistakeTests {
        private static let url = "http://127.0.0.1:1/"

        @Test(
            "A misspelt command, option or value is refused with the closest one",
            arguments: [
                (["gte", url], "“gte” is not a command. Did you mean “get”?"),
                (["psot", url], "Did you mean “post”?"), (["pin"], "“pin” is not a command. Did you mean “pins”?"),
                (["reachabilty"], "Did you mean “reachability”?"), (["reach"], "Did you mean “reachability”?"),
                (["delet", url], "Did you mean “delete”?"), (["benhc", url], "Did you mean “bench”?"),
                (["hlep"], "Did you mean “help”?"), (["gut", url], "Did you mean “get” or “put”?"),
                (["PURGE", url], "Did you mean “essentials request PURGE”?"),
                (["policies"], "Did you mean “essentials help policies”?"),
                (["get", url, "--ouput", "x"], "Unknown option “--ouput”. Did you mean “--output”?"),
                (["get", url, "--hedaer", "x"], "Did you mean “--header”?"),
                (["get", url, "--http1"], "Did you mean “--http1.1”?"),
                (["get", url, "--cacert", "x"], "Did you mean “--anchor”?"),
                (["get", url, "--insecure"], "No option accepts an invalid certificate"),
                (["pins", "x", "--insecure"], "No option accepts an invalid certificate"),
                (["pins", "x", "--format", "jsn"], "Did you mean “json”?"),
                (["reachability", "x", "--format", "JSON"], "Did you mean “json”?"),
                (["store", "inof", "x"], "Did you mean “info”?"),
                (["stores"], "Did you mean “essentials help stores”?"),
                (["get", url, "--error-format", "txt"], "Did you mean “text”?"),
                (["-v", "get", url], "Options stand after the command: essentials get -v …"),
                (["get", url, "-A", "x"], "Write --header 'User-Agent: …' instead."),
                (["post", url, "--data-binary", "@x"], "Write --data @FILE instead."),
                (["get", url, "-T", "x"], "Write --upload FILE instead."),
                (["get", url, "-w", "x"], "Write --timings instead."),
                (["get", url, "--max-time", "5"], "Did you mean “--timeout”?"),
                (["get", url, "--auth", "a:b"], "Did you mean “--user”?"),
                (["get", url, "--print", "h"], "Write --include, or --verbose for the request too, instead."),
                (["get", url, "--compressed"], "Compressed bodies are asked for and decompressed by default."),
                (["get", url, "--follow"], "Redirects are followed by default."),
                (["reachability", "x", "watch"], "Did you mean “--watch”?"),
            ])
        func suggestions(arguments: [String], text: String) async throws {
            let result = try await ToolProcess(arguments).end()
            #expect(result.code == 64)
            #expect(result.output.isEmpty)
            #expect(result.errors.contains(text), "\(result.errors)")
            #expect(result.errors.contains("\nUsage: essentials"))
            #expect(result.errors.contains("for more information."))
        }

        @Test(
            "An unknown option is named before anything else that is wrong",
            arguments: [
                ["get", url, "--zzz"], ["get", "--zzz"], ["get", url, "not an item", "--zzz"],
                ["get", url, "--timeout", "soon", "--zzz"], ["get", url, "--zzz", "--timeout", "soon"],
                ["get", url, "--location", "--no-redirects", "--zzz=1"], ["pins", "--format", "jsn", "--zzz"],
                ["get", url, "-ivuada:x", "--expect", "x", "--zzz"],
            ])
        func unknownFirst(arguments: [String]) async throws {
            let result = try await ToolProcess(arguments).end()
            #expect(result.code == 64)
            #expect(result.errors.hasPrefix("Error: Unknown option “--zzz”.\nUsage: essentials"), "\(result.errors)")
        }

        @Test(
            "The value of an option, and a word after two dashes, are no unknown options",
            arguments: [
                ["get", url, "--header", "--zzz", "--timeout", "soon"], ["get", "--timeout", "soon", "--", "--zzz"],
                ["get", url, "-H--zzz", "--timeout", "soon"],
            ])
        func knownOptions(arguments: [String]) async throws {
            let result = try await ToolProcess(arguments).end()
            #expect(result.code == 64)
            #expect(!result.errors.contains("Unknown option"), "\(result.errors)")
        }

        @Test(
            "Nothing far-fetched is suggested",
            arguments: [
                ["fetch", url], ["list"], ["x"], ["get", url, "--zzz"], ["get", url, "--follow"],
                ["pins", "x", "--format", "yaml"], ["reachability", "x", "nothing"], ["get", url, "--q"],
            ])
        func nothing(arguments: [String]) async throws {
            let result = try await ToolProcess(arguments).end()
            #expect(result.code == 64)
            #expect(!result.errors.contains("Did you mean"), "\(result.errors)")
        }

        @Test(
            "Control characters of unknown options, items and values are shown by their numbers",
            arguments: [
                ["get", url, "--\u{1B}[31mx"], ["get", url, "--\u{1B}[31mx=1"], ["get", url, "--\u{1B}]0;a\u{7}"],
                ["get", url, "--ouput\u{1B}[2K", "x"], ["get", url, "-\u{9B}31m"], ["get", url, "--x\nError: y"],
                ["get", url, "--error-format", "\u{1B}[31m"], ["pins", "x", "--format", "\u{1B}c"],
                ["reachability", "x", "\u{1B}[31m"], ["get", url, "--timeout", "\u{1B}[31m"], ["pins", "--\u{1B}[31m"],
                ["store", "\u{1B}[31m", "x"], ["\u{1B}[31m"], ["--\u{1B}[31m"], ["--\u{202E}x"],
            ])
        func controlsOfOptions(arguments: [String]) async throws {
            let result = try await ToolProcess(arguments).end()
            #expect(result.code == 64)
            let controls = result.errors.unicodeScalars.filter { $0.controlsTerminal && $0 != "\n" }
            #expect(controls.isEmpty, "\(result.errors.debugDescription)")
            #expect(!result.errors.contains("\nError: y"))
        }

        @Test("Control characters of a mistake are not printed")
        func controls() async throws {
            let result = try await tool("ge\u{1B}[31m")
            #expect(result.code == 64)
            #expect(!result.errors.contains("\u{1B}"))
        }

        @Test("A refused value keeps its own line and exit code")
        func refusedValue() async throws {
            let result = try await tool("get", "ftp://example.com/")
            #expect(result.code == 64)
            #expect(result.reason == "invalidRequest", "\(result.errors)")
        }
    }
}

@Suite("EditDistance")
struct EditDistanceTests {
    @Test(
        "The distance counts insertions, deletions, replacements and swaps",
        arguments: [
            ("", "", 0), ("a", "", 1), ("get", "get", 0), ("gte", "get", 1), ("gt", "get", 1), ("gett", "get", 1),
            ("bet", "get", 1), ("kitten", "sitting", 3), ("abcd", "badc", 2),
        ])
    func distance(one: String, other: String, expected: Int) {
        #expect(EditDistance.distance(Array(one), Array(other)) == expected)
        #expect(EditDistance.distance(Array(other), Array(one)) == expected)
    }

    @Test("Words of the same distance are suggested together, at most three")
    func several() {
        #expect(
            EditDistance.suggestions(for: "cat", among: ["bat", "rat", "hat", "mat", "dog"]) == ["bat", "rat", "hat"])
        #expect(EditDistance.question([]) == "")
        #expect(EditDistance.question(["a", "b", "c"]) == " Did you mean “a”, “b” or “c”?")
    }

    @Test("Short words need to be close, and the beginning of a word is enough from three characters on")
    func limits() {
        #expect(EditDistance.suggestions(for: "x", among: ["xy"]) == [])
        #expect(EditDistance.suggestions(for: "abc", among: ["axx"]) == [])
        #expect(EditDistance.suggestions(for: "env", among: ["environments", "output"]) == ["environments"])
        #expect(EditDistance.suggestions(for: String(repeating: "a", count: 10_000), among: ["a"]) == [])
    }
}

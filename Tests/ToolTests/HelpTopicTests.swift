import EssentialsTestKit
import ServiceEssentials
import Testing

@testable import essentials

extension ToolTests {
    @Suite("Tool: help topics")
    struct HelpTopicTests {
        static let topics = [
            "pins", "policies", "environments", "output", "stores", "exit-codes", "reasons", "variables", "completions",
        ]

        @Test("Help explains each topic within 80 columns, apart from examples", arguments: topics)
        func topic(name: String) async throws {
            let result = try await tool("help", name)
            #expect(result.code == 0, "\(result.errors)")
            let lines = result.text.split(separator: "\n")
            #expect(lines.count > 5)
            let prose = lines.prefix { $0 != "THE COMMAND" }.filter { !$0.hasPrefix("  ") }
            #expect(prose.allSatisfy { $0.count <= 80 }, "\(prose)")
            let overview = try await tool("help")
            #expect(overview.text.contains("\n  \(name) "), "\(overview.text)")
        }

        @Test("Help on a command is its --help, after the topic of the same name if there is one")
        func command() async throws {
            #expect(try await tool("help", "get").text == tool("get", "--help").text)
            let pins = try await tool("help", "pins").text
            #expect(pins.hasPrefix("A pin is the SHA-256 hash"))
            #expect(pins.hasSuffix(try await tool("pins", "--help").text))
            #expect(try await tool("help").text == tool("--help").text)
        }

        @Test("Every reason of a failure is explained, alone and in the list")
        func reasons() async throws {
            let list = try await tool("help", "reasons").text
            #expect(FailureReasons.meanings.map(\.name).sorted() == RequestFailure.Reason.all.map(\.name).sorted())
            for reason in RequestFailure.Reason.all { #expect(list.contains("\n  \(reason.name) ")) }
            let one = try await tool("help", "pinmismatch")
            #expect(one.code == 0)
            #expect(one.text.hasPrefix("  pinMismatch  The chain is valid"))
        }

        @Test("An unknown subject is refused with the closest one and the list of topics")
        func unknown() async throws {
            let result = try await tool("help", "polices")
            #expect(result.code == 64)
            #expect(result.output.isEmpty)
            #expect(result.errors.contains("“polices” is not a command, topic or reason. Did you mean “policies”?"))
            #expect(result.errors.contains("Topics: pins, policies, environments"))
            let other = try await tool("help", "weather")
            #expect(other.code == 64 && !other.errors.contains("Did you mean"))
        }

        @Test("The examples of a topic work", arguments: topics)
        func examples(name: String) async throws {
            let topic = try #require(HelpTopic.all.first { $0.name == name })
            let server = try TrustedServer { _ in .response(body: "[123456789]") }
            _ = try server.directory.file("token", "abc")
            var script = "set -euo pipefail\n"
            var preceding = ""
            for block in topic.text.blocks {
                if case .paragraph(let text) = block { preceding = text }
                guard case .literal(let lines) = block else { continue }
                if let file = preceding.firstRange(of: "Save this as ").map({ preceding[$0.upperBound...] }) {
                    let text = lines.joined(separator: "\n")
                    let name = String(file.prefix { $0 != ":" })
                    _ = try server.directory.file(
                        name, text.replacing("localhost:8443", "localhost:\(server.server.port)"))
                } else {
                    script += lines.joined(separator: "\n") + "\n"
                }
            }
            // The files of examples are not replaced by the tool's output.
            if name == "policies" {
                script = script.replacing("--format json > policy.json", "--format json > first.json")
            }
            let result = try await Shell.run(
                script.replacing("localhost:8443", "localhost:\(server.server.port)"), in: server.directory)
            #expect(result.code == 0, "\(result.lines.joined(separator: "\n"))")
            #expect(!result.lines.contains { $0.hasPrefix("failed with") })
        }

        @Test("Text for a terminal is wrapped, and items have a hanging indent", arguments: [40, 80, 200])
        func wrapping(width: Int) {
            let text = HelpText(
                "# TITLE\n\none two\nthree\n\n  literal   line\n\nterm:: a meaning\nthat goes on\nother:: b")
            #expect(
                text.blocks == [
                    .heading("TITLE"), .paragraph("one two three"), .literal(["literal   line"]),
                    .item(term: "term", meaning: "a meaning that goes on"), .item(term: "other", meaning: "b"),
                ])
            #expect(
                text.lines(width: width) == [
                    "TITLE", "one two three", "", "  literal   line", "", "  term   a meaning that goes on",
                    "  other  b",
                ])
        }

        @Test("The manual page has commands, options, topics and reasons")
        func manual() async throws {
            let page = try await tool("help", "--manual")
            #expect(page.code == 0)
            #expect(page.text.hasPrefix(".Dd "))
            for part in [".Ss essentials bench", "Fl -header Ar", ".Sh POLICIES", ".It Cm pinMismatch"] {
                #expect(page.text.contains(part), "\(part)")
            }
            #expect(try await tool("help", "--manual", "pins").code == 64)
        }
    }
}

extension String {
    fileprivate func replacing(_ old: String, _ new: String) -> String {
        var (result, rest) = ("", self[...])
        while let range = rest.firstRange(of: old) {
            result += rest[..<range.lowerBound] + new
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}

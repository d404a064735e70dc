import FoundationEssentials
import Testing

@testable import essentials

extension ToolTests {
    @Suite("Tool: README")
    struct ReadmeLinesTests {
        /// The arguments of each command in the README's block of commands, without comments and redirections.
        private static func commands() throws -> [[String]] {
            let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            let readme = tests.deletingLastPathComponent().appending(path: "README.md")
            let text = String(decoding: try Data(contentsOf: readme), as: UTF8.self)
            let block = text.split(separator: "\n").drop { $0 != "## The tool" }.drop { $0 != "```sh" }.dropFirst()
            return block.prefix { $0 != "```" }.flatMap { line in
                line.split(separator: "  #")[0].split(separator: " && ").map { command in
                    command.split(separator: " > ")[0].split(separator: " ").map(String.init)
                }
            }
        }

        @Test("The tool understands every command in the README")
        func understood() async throws {
            let commands = try Self.commands()
            #expect(commands.count == 8)
            let pin = "sha256/" + String(repeating: "A", count: 43) + "="
            for command in commands {
                #expect(command.first == "essentials")
                let arguments = CommandLineForm.expanded(
                    command.dropFirst().map { $0 == "sha256/…" ? pin : $0 }, commands: EssentialsTool.commandNames)
                await #expect(throws: Never.self, "\(command.joined(separator: " "))") {
                    _ = try await EssentialsTool.command(for: arguments)
                }
            }
            await #expect(throws: (any Error).self) {
                _ = try await EssentialsTool.command(for: ["get", "example.com", "--none"])
            }
        }
    }
}

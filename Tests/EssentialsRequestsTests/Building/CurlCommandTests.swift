import Glibc
import TestTools
import Testing

@testable import EssentialsRequests

@Suite struct CurlCommandTests {
    private static let pieces = [
        "'", "\"", "\\", "$(", ")", "`", "id", ";", "&", "|", " ", "\n", "\r\n", "é", "\u{301}", "\u{323}", "\u{200d}",
        "\u{fe0f}", "\u{1f468}", "!", "*",
    ]

    /// The arguments that the shell passes to a command for these words, each followed by a zero byte.
    private func arguments(of words: [String]) throws -> [UInt8] {
        let pipe = try #require(popen("printf '%s\\0' " + words.joined(separator: " "), "r"))
        defer { pclose(pipe) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = fread(&buffer, 1, buffer.count, pipe)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    @Test("A quoted word is the same text to the shell, even before combining marks")
    func shellWords() throws {
        var numbers = SeededNumbers(state: 1_003)
        var texts = ["'\u{301};id;'", "a'\u{200d}$(id)'\u{fe0f}", "'", "", "\r\n'\u{301}"]
        for _ in 0..<400 { texts.append(numbers.text(of: Self.pieces, upTo: 8)) }
        let read = try arguments(of: texts.map(CurlCommand.quoted))
        #expect(read == texts.flatMap { Array($0.utf8) + [0] })
    }
}

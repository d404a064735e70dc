import EssentialsHTTP
import TestTools
import Testing

@Suite("Random texts")
struct RandomTextTests {
    private static let all = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    @Test("A random text has the requested number of letters and digits", arguments: [-1, 0, 1, 15, 16, 1000])
    func count(count: Int) {
        let text = String.randomAlphanumeric(count)
        #expect(text.count == max(0, count))
        #expect(Self.all.isSuperset(of: text))
    }

    @Test("Random texts differ, and equal generators produce equal texts")
    func generator() {
        #expect(String.randomAlphanumeric(24) != String.randomAlphanumeric(24))
        var (one, other) = (SeededNumbers(state: 7), SeededNumbers(state: 7))
        #expect(String.randomAlphanumeric(24, using: &one) == String.randomAlphanumeric(24, using: &other))
    }

    @Test("Each character occurs equally often")
    func uniform() {
        var numbers = SeededNumbers(state: 1)
        var counts: [Character: Int] = [:]
        for character in String.randomAlphanumeric(62 * 2_000, using: &numbers) { counts[character, default: 0] += 1 }
        #expect(Set(counts.keys) == Self.all)
        // Pearson's chi-squared statistic, 61 degrees of freedom. The probability of more than 120 is 1 in 100,000.
        let deviation = counts.values.map { Double(($0 - 2_000) * ($0 - 2_000)) / 2_000 }.reduce(0, +)
        #expect(deviation < 120)
    }
}

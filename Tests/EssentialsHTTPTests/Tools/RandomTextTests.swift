import EssentialsHTTP
import Testing

/// DATA-REQUESTS.md 1.13.
@Suite("A random text")
struct RandomTextTests {
    private static let all = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    @Test("has as many letters and digits as were asked for", arguments: [-1, 0, 1, 15, 16, 1000])
    func count(count: Int) {
        let text = String.randomAlphanumeric(count)
        #expect(text.count == max(0, count))
        #expect(Self.all.isSuperset(of: text))
    }

    @Test("is another each time, and the same from the same numbers")
    func generator() {
        #expect(String.randomAlphanumeric(24) != String.randomAlphanumeric(24))
        var (one, other) = (SeededNumbers(state: 7), SeededNumbers(state: 7))
        #expect(String.randomAlphanumeric(24, using: &one) == String.randomAlphanumeric(24, using: &other))
    }

    @Test("has each character as often as the others")
    func uniform() {
        var numbers = SeededNumbers(state: 1)
        var counts: [Character: Int] = [:]
        for character in String.randomAlphanumeric(62 * 2_000, using: &numbers) { counts[character, default: 0] += 1 }
        #expect(Set(counts.keys) == Self.all)
        // The sum of squared deviations over what is expected; above 120 comes by chance once in 100,000 (61 degrees).
        let deviation = counts.values.map { Double(($0 - 2_000) * ($0 - 2_000)) / 2_000 }.reduce(0, +)
        #expect(deviation < 120)
    }
}

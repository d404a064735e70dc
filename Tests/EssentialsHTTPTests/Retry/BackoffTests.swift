import EssentialsHTTP
import Testing

@Suite struct BackoffTests {
    @Test(
        "The bound of the exponential backoff doubles with each retry up to its cap",
        arguments: [(1, 200), (2, 400), (3, 800), (7, 12_800), (8, 20_000), (9, 20_000), (1_000_000_000, 20_000)])
    func exponential(retry: Int, bound: Int) {
        let backoff = Backoff.exponential()
        #expect(backoff.wait(retry: retry, previous: .zero, fraction: 1) == .milliseconds(bound))
        #expect(backoff.wait(retry: retry, previous: .seconds(5), fraction: 0) == .zero)
        let half = backoff.wait(retry: retry, previous: .zero, fraction: 0.5)
        #expect(half == .milliseconds(bound) / 2)
    }

    @Test("The decorrelated backoff lies between its base and three times the previous wait, below its cap")
    func decorrelated() {
        let backoff = Backoff.decorrelated(base: .seconds(1), cap: .seconds(10))
        #expect(backoff.wait(retry: 1, previous: .zero, fraction: 0) == .seconds(1))
        #expect(backoff.wait(retry: 1, previous: .zero, fraction: 1) == .seconds(3))
        #expect(backoff.wait(retry: 2, previous: .seconds(2), fraction: 1) == .seconds(6))
        #expect(backoff.wait(retry: 3, previous: .seconds(9), fraction: 1) == .seconds(10))
        #expect(backoff.wait(retry: 3, previous: .seconds(Int64.max / 2), fraction: 1) == .seconds(10))
    }

    @Test("A base above the cap, and negative durations, give waits within the cap")
    func oddSettings() {
        let long = Backoff.exponential(base: .seconds(60), cap: .seconds(1))
        #expect(long.wait(retry: 5, previous: .zero, fraction: 1) == .seconds(1))
        let negative = Backoff.decorrelated(base: .seconds(-1), cap: .seconds(-1))
        #expect(negative.wait(retry: 5, previous: .seconds(1), fraction: 1) == .zero)
        let zero = Backoff.exponential(base: .zero)
        #expect(zero.wait(retry: 5, previous: .zero, fraction: 1) == .zero)
    }
}

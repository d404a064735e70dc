import EssentialsHTTP
import Testing

@Suite struct RetryBudgetTests {
    @Test("A budget begins with ten units, and ten exchanges without a retry deposit one")
    func deposits() {
        var machine = RetryBudgetMachine(RetryBudget(), now: .zero)
        for _ in 0..<10 { #expect(machine.withdraw(now: .zero) == .granted) }
        #expect(machine.withdraw(now: .zero) != .granted)
        for _ in 0..<9 { machine.deposit() }
        #expect(machine.withdraw(now: .zero) != .granted)
        for _ in 0..<2 { machine.deposit() }
        #expect(machine.withdraw(now: .zero) == .granted)
    }

    @Test("A budget holds at most a hundred units")
    func maximum() {
        var machine = RetryBudgetMachine(RetryBudget(), now: .zero)
        for _ in 0..<100_000 { machine.deposit() }
        var granted = 0
        while granted < 1_000, machine.withdraw(now: .zero) == .granted { granted += 1 }
        #expect(granted == 100)
    }

    @Test("An empty budget allows one retry a second from its reserve, and saves up to ten")
    func reserve() {
        var budget = RetryBudget()
        budget.initial = 0
        var machine = RetryBudgetMachine(budget, now: .zero)
        #expect(machine.withdraw(now: .zero) == .refused(retryIn: .seconds(1)))
        #expect(machine.withdraw(now: .milliseconds(500)) == .refused(retryIn: .milliseconds(500)))
        #expect(machine.withdraw(now: .seconds(1)) == .granted)
        #expect(machine.withdraw(now: .seconds(1)) == .refused(retryIn: .seconds(1)))
        for _ in 0..<10 { #expect(machine.withdraw(now: .seconds(1_000)) == .granted) }
        #expect(machine.withdraw(now: .seconds(1_000)) != .granted)
    }

    @Test("A budget without a reserve says that no unit will come")
    func noReserve() {
        var budget = RetryBudget()
        budget.initial = 0
        budget.reservePerSecond = 0
        var machine = RetryBudgetMachine(budget, now: .zero)
        #expect(machine.withdraw(now: .seconds(100)) == .refused(retryIn: nil))
    }

    @Test("A reserve that fills ever so slowly names a time that can be waited for", arguments: [1e-12, 1e-300])
    func slowReserve(units: Double) {
        var budget = RetryBudget()
        budget.initial = 0
        budget.reservePerSecond = units
        var machine = RetryBudgetMachine(budget, now: .zero)
        #expect(machine.withdraw(now: .zero) == .refused(retryIn: .seconds(1_000_000_000)))
    }

    @Test("In an outage at a thousand requests a second, at most one in a thousand is retried after the first second")
    func outage() {
        var machine = RetryBudgetMachine(RetryBudget(), now: .zero)
        var (requests, retries) = (0, 0)
        for millisecond in 0..<60_000 {
            let isLater = millisecond >= 1_000
            if isLater { requests += 1 }
            // Each request asks for two retries.
            for _ in 0..<2 where machine.withdraw(now: .milliseconds(millisecond)) == .granted && isLater {
                retries += 1
            }
        }
        #expect(Double(requests + retries) / Double(requests) <= 1.1)
        #expect(retries >= 59)
    }
}

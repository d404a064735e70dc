import EssentialsHTTP
import EssentialsTools

/// The retry budgets of a service, one for each origin.
final class RetryBudgets: Sendable {
    /// The maximum number of origins. The budget of a further origin replaces the oldest one.
    static let maximumOrigins = 1_024

    private let budget: RetryBudget
    private let clock: RequestClock
    private let machines = Mutex(OriginTable<RetryBudgetMachine>(maximum: RetryBudgets.maximumOrigins))

    init(_ budget: RetryBudget, clock: RequestClock) {
        self.budget = budget
        self.clock = clock
    }

    /// Counts a request that needed no retry. It is called once for a request.
    func deposit(for origin: Origin) {
        machines.withLock { $0.withValue(of: origin, make: machine) { $0.deposit() } }
    }

    /// Takes a unit for a retry.
    ///
    /// - Returns: The result, and the whole units that are left.
    func withdraw(for origin: Origin) -> (RetryBudgetMachine.Withdrawal, left: Int) {
        let now = clock.now
        return machines.withLock { machines in
            machines.withValue(of: origin, make: machine) { ($0.withdraw(now: now), $0.unitsLeft) }
        }
    }

    private func machine() -> RetryBudgetMachine { RetryBudgetMachine(budget, now: clock.now) }
}

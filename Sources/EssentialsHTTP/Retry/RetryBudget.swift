/// Limits the retries of a service to one origin, so that they do not overload a server that fails.
///
/// ```swift
/// configuration.retryBudget.depositPerExchange = 0.2    // up to 20 % more requests
/// ```
///
/// A retry takes one unit. Each request without a retry deposits a fraction of one, once for all its redirects. If
/// nothing is left, a small reserve, which fills with time, still allows some retries. A request that gets no unit fails with the failure of its
/// last attempt; a request with the policy `forever` waits for the reserve.
public struct RetryBudget: Sendable, Hashable {
    /// The units that a request without a retry deposits. The default is 0.1.
    public var depositPerExchange = 0.1
    /// The units at the beginning. The default is 10.
    public var initial = 10.0
    /// The maximum number of units. The default is 100.
    public var maximum = 100.0
    /// The units that the reserve gets in each second. The default is 1.
    public var reservePerSecond = 1.0
    /// The maximum number of units in the reserve. The default is 10.
    public var reserveMaximum = 10.0

    /// Creates a budget with the default of each property.
    public init() {}
}

/// The units of a budget that are left for one origin.
package struct RetryBudgetMachine: Sendable {
    /// The result of taking a unit.
    package enum Withdrawal: Sendable, Hashable {
        case granted
        /// Nothing is left. The reserve has a unit after this time; `nil` if it is never filled.
        case refused(retryIn: Duration?)
    }

    private let budget: RetryBudget
    private var units: Double
    private var reserve = 0.0
    private var lastFilled: Duration

    /// - Parameter now: The time on a monotonic clock.
    package init(_ budget: RetryBudget, now: Duration) {
        self.budget = budget
        units = min(budget.initial, budget.maximum)
        lastFilled = now
    }

    /// The whole units that are left, without the reserve.
    package var unitsLeft: Int { Int(max(0, min(units, 1e9))) }

    /// Counts a request without a retry.
    package mutating func deposit() { units = min(budget.maximum, units + max(0, budget.depositPerExchange)) }

    /// Takes one unit for a retry.
    package mutating func withdraw(now: Duration) -> Withdrawal {
        if units >= 1 {
            units -= 1
            return .granted
        }
        let rate = max(0, budget.reservePerSecond)
        reserve = min(budget.reserveMaximum, reserve + max(0, (now - lastFilled) / .seconds(1)) * rate)
        lastFilled = max(now, lastFilled)
        // Fills at short intervals can add up to slightly less than a unit.
        if reserve >= 1 - 1e-9 {
            reserve = max(0, reserve - 1)
            return .granted
        }
        guard rate > 0, budget.reserveMaximum >= 1 else { return .refused(retryIn: nil) }
        // Far longer than any wait, and far from any overflow.
        return .refused(retryIn: .seconds(min((1 - reserve) / rate, 1e9)))
    }
}

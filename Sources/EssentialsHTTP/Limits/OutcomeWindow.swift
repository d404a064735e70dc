/// Counts the outcomes of the latest requests, in ten steps of time.
struct OutcomeWindow: Sendable {
    private struct Step {
        var successes = 0
        var failures = 0
    }

    static let stepCount = 10
    /// The shortest and the longest time for which outcomes can count.
    static let times = Duration.milliseconds(10)...Duration.seconds(86_400)

    private let stepTime: Duration
    private var steps = [Step](repeating: Step(), count: stepCount)
    /// The index of the present step, which ends at `stepEnd`. Steps end at multiples of their length.
    private var current = 0
    private var stepEnd = Duration.zero
    private(set) var successes = 0
    private(set) var failures = 0

    var total: Int { successes + failures }

    /// - Parameter time: The time for which an outcome counts.
    init(_ time: Duration) {
        stepTime = min(max(time, Self.times.lowerBound), Self.times.upperBound) / Self.stepCount
    }

    mutating func add(isFailure: Bool, at now: Duration) {
        advance(to: now)
        if isFailure {
            steps[current].failures += 1
            failures += 1
        } else {
            steps[current].successes += 1
            successes += 1
        }
    }

    /// Forgets outcomes that are too old.
    private mutating func advance(to now: Duration) {
        guard now >= stepEnd else { return }
        let passed = (now - stepEnd).attoseconds / stepTime.attoseconds + 1
        stepEnd += stepTime * Int(clamping: passed)
        for _ in 0..<min(Int(clamping: passed), Self.stepCount) {
            current = (current + 1) % Self.stepCount
            successes -= steps[current].successes
            failures -= steps[current].failures
            steps[current] = Step()
        }
    }

    /// Forgets all outcomes.
    mutating func clear() {
        for index in steps.indices { steps[index] = Step() }
        (successes, failures) = (0, 0)
    }
}

import EssentialsTools

/// The smallest sequence of each kind of violation.
final class IdentityFindings: Sendable {
    struct Finding: Sendable {
        let seed: UInt64
        let steps: [String]
        let violation: IdentityViolation
        var count = 1

        var text: String {
            let list = steps.enumerated().map { "  \($0 + 1). \($1)" }.joined(separator: "\n")
            return "\(violation.kind) (\(count) times), seed \(seed): \(violation.detail)\n\(list)"
        }
    }

    private struct State {
        var next: UInt64
        var findings: [String: Finding] = [:]
        var failures: [String] = []
        var steps = 0
        var impatience = 0
        var judged: [String: Int] = [:]
    }

    private let seeds: Range<UInt64>
    private let state: Mutex<State>

    init(_ seeds: Range<UInt64>) {
        self.seeds = seeds
        state = Mutex(State(next: seeds.lowerBound))
    }

    /// The sequences that failed, the smallest one of each kind.
    var texts: [String] {
        state.withLock { state in
            state.failures + state.findings.sorted { $0.key < $1.key }.map(\.value.text)
        }
    }

    var summary: String {
        state.withLock { state in
            let judged = state.judged.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
            return "\(seeds.count) sequences with \(state.steps) steps, \(state.impatience) times not quiet in time: "
                + judged
        }
    }

    /// Runs the sequences that no other task has taken.
    func run() async {
        while let seed = take() {
            do {
                let driver = try IdentityDriver(seed: seed)
                try await driver.run()
                note(driver)
            } catch {
                state.withLock { $0.failures.append("The sequence of seed \(seed) failed: \(error)") }
            }
        }
    }

    private func take() -> UInt64? {
        state.withLock { state in
            guard state.next < seeds.upperBound else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    private func note(_ driver: IdentityDriver) {
        let violation = driver.model.violations.first
        let (seed, steps, impatience) = (driver.seed, driver.steps, driver.impatience)
        let judged = driver.model.state.withLock { $0.judged }
        state.withLock { state in
            state.judged.merge(judged, uniquingKeysWith: +)
            state.steps += steps.count
            state.impatience += impatience
            guard let violation else { return }
            var finding = Finding(seed: seed, steps: steps, violation: violation)
            if let known = state.findings[violation.kind] {
                if known.steps.count <= steps.count { finding = known }
                finding.count = known.count + 1
            }
            state.findings[violation.kind] = finding
        }
    }
}

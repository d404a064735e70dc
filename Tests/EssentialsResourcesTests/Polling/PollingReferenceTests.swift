import TestTools
import Testing

@testable import EssentialsResources

/// Compares the machine with a record of all events, in which nothing is summed up.
@Suite struct PollingReferenceTests {
    private enum Event {
        case joined(Int?), left(Int?), configured(Int?), scheduleEnded(Int?), began, ended(PollingMachine.Outcome)
        case reachable(Bool), refused, end, timer
    }

    /// The record of all events, with times in seconds.
    private struct Account {
        /// The intervals of the observers, in the order in which they were added.
        var observers: [Int?] = []
        var configured: Int?
        var running = 0
        /// The outcomes since the last success that were no cancellation.
        var failures = 0
        var isReachable = true
        var isEnded = false
        /// The end of the last load, or the time of the first observer.
        var start: Int?
        /// Whether a load was demanded, and no load has begun or ended since.
        var isDemanded = false

        mutating func note(_ event: Event, at time: Int) {
            switch event {
            case .joined(let seconds):
                observers.append(seconds)
                start = start ?? time
            case .left(let seconds):
                if let index = observers.firstIndex(of: seconds) { observers.remove(at: index) }
            case .scheduleEnded(let seconds):
                if let index = observers.firstIndex(of: seconds) { observers[index] = nil }
            case .configured(let seconds): (configured, isEnded) = (seconds, false)
            case .began: (running, isDemanded) = (running + 1, false)
            case .ended(let outcome):
                (running, start, isDemanded) = (running - 1, time, false)
                failures = outcome == .success ? 0 : failures + (outcome == .failure ? 1 : 0)
            case .reachable(let value): isReachable = value
            case .refused: isDemanded = false
            case .end: isEnded = true
            case .timer: break
            }
        }

        /// The action at a time.
        func action(at now: Int) -> PollingMachine.Action {
            guard !observers.isEmpty, running == 0, isReachable, !isEnded, !isDemanded, let start,
                let least = (observers + [configured]).compactMap({ $0 }).min()
            else { return .rest }
            let factor = failures > 2 ? 8 : failures == 2 ? 4 : failures == 1 ? 2 : 1
            return now >= start + least * factor ? .load : .wait(until: .seconds(start + least * factor))
        }
    }

    private static func apply(_ event: Event, to machine: inout PollingMachine, at time: Int) -> PollingMachine.Action {
        let now = Duration.seconds(time)
        func schedule(_ seconds: Int?) -> RefreshSchedule? { seconds.map { RefreshSchedule(every: .seconds($0)) } }
        return switch event {
        case .joined(let seconds): machine.observerJoined(schedule(seconds), now: now, random: .max)
        case .left(let seconds): machine.observerLeft(schedule(seconds), now: now)
        case .scheduleEnded(let seconds): machine.scheduleEnded(schedule(seconds), now: now)
        case .configured(let seconds): machine.configured(schedule(seconds), now: now)
        case .began: machine.loadBegan(now: now)
        case .ended(let outcome): machine.loadEnded(outcome, now: now, random: .max)
        case .reachable(let value): machine.reachabilityChanged(value, now: now)
        case .refused: machine.loadRefused(now: now)
        case .end: machine.end(now: now)
        case .timer: machine.timerFired(now: now)
        }
    }

    /// A random event that can happen.
    private static func event(after account: Account, _ numbers: inout SeededNumbers) -> Event {
        let seconds = Bool.random(using: &numbers) ? Int.random(in: 1...9, using: &numbers) : nil
        let observer = account.observers.randomElement(using: &numbers)
        switch Int.random(in: 0..<18, using: &numbers) {
        case 0, 1, 2: return account.observers.count < 8 ? .joined(seconds) : .timer
        case 3, 4: return observer.map { .left($0) } ?? .timer
        case 5: return observer.map { .scheduleEnded($0) } ?? .timer
        case 6: return .configured(seconds)
        case 7, 8, 9: return account.running < 4 ? .began : .timer
        case 10, 11: return account.running > 0 ? .ended(.success) : .timer
        case 12: return account.running > 0 ? .ended(.failure) : .timer
        case 13: return account.running > 0 ? .ended(.cancelled) : .timer
        case 14: return .reachable(Int.random(in: 0..<4, using: &numbers) > 0)
        case 15: return account.isDemanded ? .refused : .timer
        case 16: return Int.random(in: 0..<4, using: &numbers) == 0 ? .end : .timer
        default: return .timer
        }
    }

    @Test(
        "Random sequences of events lead to the actions that a record of the events gives",
        arguments: RandomSequences.seeds)
    func random(seed: UInt64) async {
        var numbers = SeededNumbers(state: seed)
        for sequence in 0..<RandomSequences.count {
            await Task.yield()
            var (machine, account, now) = (PollingMachine(), Account(), 0)
            for step in 0..<RandomSequences.steps {
                now += Int.random(in: 0...4, using: &numbers)
                let event = Self.event(after: account, &numbers)
                account.note(event, at: now)
                let expected = account.action(at: now)
                let action = Self.apply(event, to: &machine, at: now)
                guard action == expected else {
                    Issue.record(
                        "seed \(seed), sequence \(sequence), step \(step), \(event): \(action), not \(expected)")
                    return
                }
                if action == .load { account.isDemanded = true }
            }
        }
    }
}

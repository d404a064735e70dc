import Testing

@testable import EssentialsResources

/// Compares the machine with a history that is read from its beginning at each step.
@Suite struct RefreshReferenceTests {
    private enum Event {
        case joined(Int?), left(Int?), configured(Int?), began, ended(RefreshMachine.Outcome), reachable(Bool), end,
            timer
    }

    /// The next action after a history of events with their times in seconds.
    private static func action(after history: [(event: Event, time: Int)], demanded: Int?) -> RefreshMachine.Action {
        let now = history.last?.time ?? 0
        var observers: [Int?] = []
        var configured: Int?
        var (running, failures, isReachable, isEnded) = (0, 0, true, false)
        var start: Int?
        for (event, time) in history {
            switch event {
            case .joined(let seconds):
                observers.append(seconds)
                start = start ?? time
            case .left(let seconds):
                if let index = observers.firstIndex(of: seconds) { observers.remove(at: index) }
            case .configured(let seconds): (configured, isEnded) = (seconds, false)
            case .began: running += 1
            case .ended(let outcome):
                running -= 1
                start = time
                failures = outcome == .success ? 0 : failures + (outcome == .failure ? 1 : 0)
            case .reachable(let value): isReachable = value
            case .end: isEnded = true
            case .timer: break
            }
        }
        // A demand stands until a load begins or ends.
        let isDemanded = demanded.map { index in
            !history[(index + 1)...].contains { entry in
                switch entry.event {
                case .began, .ended: true
                default: false
                }
            }
        }
        guard !observers.isEmpty, running == 0, isReachable, !isEnded, isDemanded != true, let start,
            let least = (observers + [configured]).compactMap({ $0 }).min()
        else { return .rest }
        let factor = failures > 2 ? 8 : failures == 2 ? 4 : failures == 1 ? 2 : 1
        return now >= start + least * factor ? .load : .wait(until: .seconds(start + least * factor))
    }

    private static func apply(_ event: Event, to machine: inout RefreshMachine, at time: Int) -> RefreshMachine.Action {
        let now = Duration.seconds(time)
        func schedule(_ seconds: Int?) -> RefreshSchedule? { seconds.map { RefreshSchedule(every: .seconds($0)) } }
        return switch event {
        case .joined(let seconds): machine.observerJoined(schedule(seconds), now: now, random: .max)
        case .left(let seconds): machine.observerLeft(schedule(seconds), now: now)
        case .configured(let seconds): machine.configured(schedule(seconds), now: now)
        case .began: machine.loadBegan(now: now)
        case .ended(let outcome): machine.loadEnded(outcome, now: now, random: .max)
        case .reachable(let value): machine.reachabilityChanged(value, now: now)
        case .end: machine.end(now: now)
        case .timer: machine.timerFired(now: now)
        }
    }

    @Test("Random histories lead to the actions of their whole text", arguments: [1, 2] as [UInt64])
    func random(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        for round in 0..<5_000 {
            var machine = RefreshMachine()
            var history: [(event: Event, time: Int)] = []
            var (observers, running, now): ([Int?], Int, Int) = ([], 0, 0)
            var demanded: Int?
            for _ in 0..<(round % 100 == 0 ? 200 : Int.random(in: 1...25, using: &numbers)) {
                now += Int.random(in: 0...4, using: &numbers)
                let seconds = Bool.random(using: &numbers) ? Int.random(in: 1...9, using: &numbers) : nil
                var event = Event.timer
                switch Int.random(in: 0..<16, using: &numbers) {
                case 0, 1, 2: event = .joined(seconds)
                case 3, 4:
                    if let index = observers.indices.randomElement(using: &numbers) { event = .left(observers[index]) }
                case 5: event = .configured(seconds)
                case 6, 7, 8: event = .began
                case 9, 10: if running > 0 { event = .ended(.success) }
                case 11: if running > 0 { event = .ended(.failure) }
                case 12: if running > 0 { event = .ended(.cancelled) }
                case 13: event = .reachable(Bool.random(using: &numbers))
                case 14: event = Int.random(in: 0..<4, using: &numbers) == 0 ? .end : .timer
                default: break
                }
                switch event {
                case .joined(let seconds): observers.append(seconds)
                case .left(let seconds):
                    if let index = observers.firstIndex(of: seconds) { observers.remove(at: index) }
                case .began: running += 1
                case .ended: running -= 1
                default: break
                }
                history.append((event, now))
                let expected = Self.action(after: history, demanded: demanded)
                if expected == .load { demanded = history.count - 1 }
                let action = Self.apply(event, to: &machine, at: now)
                #expect(action == expected, "seed \(seed), round \(round): \(history)")
                if action != expected { return }
            }
        }
    }
}

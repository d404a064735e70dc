import Testing

@testable import EssentialsResources

@Suite("Resource machine")
struct ResourceMachineTests {
    @Test("A response counts unless a newer load has ended")
    func latestWins() {
        var machine = ResourceMachine()
        let older = machine.beginLoad(waiting: 1, isStarted: false)
        let newer = machine.beginLoad(waiting: 1, isStarted: false)
        let result1 = machine.end(newer)
        #expect(result1 == .commits)
        let result2 = machine.end(older)
        #expect(result2 == .superseded)
        let result3 = machine.end(older)
        #expect(result3 == .unknown)
    }

    @Test("An override supersedes the loads that run, and is superseded by none of them")
    func override() {
        var machine = ResourceMachine()
        let load = machine.beginLoad(waiting: 1, isStarted: false)
        machine.override()
        #expect(machine.joinable == nil)
        let result4 = machine.end(load)
        #expect(result4 == .superseded)
    }

    @Test("An invalidation stays until a load that began after it ends")
    func invalidation() {
        var machine = ResourceMachine()
        let before = machine.beginLoad(waiting: 1, isStarted: false)
        machine.invalidate()
        #expect(machine.joinable == nil)
        let result5 = machine.end(before)
        #expect(result5 == .commits)
        #expect(machine.isInvalid)

        let after = machine.beginLoad(waiting: 1, isStarted: false)
        #expect(machine.joinable == after)
        let result6 = machine.end(after)
        #expect(result6 == .commits)
        #expect(!machine.isInvalid)
    }

    @Test("A cancelled load leaves an invalidation in force")
    func cancelledLoad() {
        var machine = ResourceMachine()
        machine.invalidate()
        let load = machine.beginLoad(waiting: 1, isStarted: false)
        let result7 = machine.cancel(load)
        #expect(result7)
        #expect(machine.isInvalid)
        let result8 = machine.end(load)
        #expect(result8 == .unknown)
    }

    @Test("A load that finds no stored response overtakes no other load and ends no invalidation")
    func missingStored() {
        var machine = ResourceMachine()
        let older = machine.beginLoad(waiting: 1, isStarted: false)
        machine.invalidate()
        let missing = machine.beginLoad(waiting: 1, isStarted: false)
        let result = machine.miss(missing)
        #expect(result == .commits)
        #expect(machine.isInvalid && machine.committed == 0)
        let again = machine.miss(missing)
        #expect(again == .unknown)
        let counts = machine.end(older)
        #expect(counts == .commits)
        let superseded = machine.beginLoad(waiting: 1, isStarted: false)
        machine.override()
        let late = machine.miss(superseded)
        #expect(late == .superseded)
    }

    @Test("A load ends when the last task has stopped waiting, unless it was started by hand or is observed")
    func interest() {
        var machine = ResourceMachine()
        let load = machine.beginLoad(waiting: 1, isStarted: false)
        machine.join(load)
        let result9 = machine.leave(load, isObserved: false)
        #expect(!result9)
        let result10 = machine.leave(load, isObserved: false)
        #expect(result10)
        #expect(machine.loads.isEmpty)

        let started = machine.beginLoad(waiting: 0, isStarted: true)
        machine.join(started)
        let result11 = machine.leave(started, isObserved: false)
        #expect(!result11)
        let result12 = machine.cancelUnawaited(includingStarted: false)
        #expect(result12.isEmpty)
        let result13 = machine.cancelUnawaited(includingStarted: true)
        #expect(result13 == [started])

        let observed = machine.beginLoad(waiting: 1, isStarted: false)
        let result14 = machine.leave(observed, isObserved: true)
        #expect(!result14)
        #expect(machine.loads.count == 1)
    }

    @Test("A wipe ends all loads")
    func wipe() {
        var machine = ResourceMachine()
        let first = machine.beginLoad(waiting: 1, isStarted: false)
        let second = machine.beginLoad(waiting: 0, isStarted: true)
        machine.invalidate()
        let result15 = machine.wipe()
        #expect(result15 == [first, second])
        #expect(!machine.isInvalid)
        let result16 = machine.end(second)
        #expect(result16 == .unknown)
    }

    @Test("Random sequences agree with a model that remembers everything", arguments: 0..<20)
    func randomSequences(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        for sequence in 0..<100 {
            var machine = ResourceMachine()
            var model = RememberingModel()
            for step in 0..<Int.random(in: 1...200, using: &numbers) {
                let action = Int.random(in: 0..<10, using: &numbers)
                let number = UInt64.random(in: 1...UInt64(max(1, model.events.count)), using: &numbers)
                let agree = perform(action, number, &machine, &model)
                #expect(agree && model.matches(machine), "seed \(seed), sequence \(sequence), step \(step)")
                if !agree { return }
            }
        }
    }

    private func perform(
        _ action: Int, _ number: UInt64, _ machine: inout ResourceMachine, _ model: inout RememberingModel
    ) -> Bool {
        switch action {
        case 0:
            return machine.beginLoad(waiting: 1, isStarted: false) == model.begin(waiting: 1, isStarted: false)
        case 1:
            return machine.beginLoad(waiting: 0, isStarted: true) == model.begin(waiting: 0, isStarted: true)
        case 2:
            machine.join(number)
            model.join(number)
            return true
        case 3: return machine.leave(number, isObserved: false) == model.leave(number)
        case 4, 5: return machine.end(number) == model.end(number)
        case 6: return machine.cancel(number) == model.cancel(number)
        case 7:
            machine.keep(number)
            model.keep(number)
            return true
        case 8:
            machine.invalidate()
            model.invalidate()
            return true
        default:
            if number.isMultiple(of: 3) { return machine.wipe() == model.wipe() }
            machine.override()
            model.override()
            return true
        }
    }
}

/// Keeps every event with its number, and derives each answer by looking through all of them.
private struct RememberingModel {
    enum Event {
        case load(waiting: Int, isStarted: Bool, ended: Ending)
        case override
        case invalidation
    }
    enum Ending {
        case running, committed, superseded, cancelled
    }

    var events: [Event] = []

    private var running: [UInt64] {
        events.indices.compactMap { index in
            if case .load(_, _, .running) = events[index] { UInt64(index + 1) } else { nil }
        }
    }
    private var committed: UInt64 {
        number(of: { event in
            switch event {
            case .override, .load(_, _, .committed): true
            default: false
            }
        })
    }
    private var lastInvalidation: UInt64 { number(of: { if case .invalidation = $0 { true } else { false } }) }

    /// The number of the last event of a kind; zero without one.
    private func number(of isWanted: (Event) -> Bool) -> UInt64 {
        UInt64((events.lastIndex(where: isWanted) ?? -1) + 1)
    }

    func matches(_ machine: ResourceMachine) -> Bool {
        let (running, committed, invalidation) = (running, committed, lastInvalidation)
        let newest = running.last.flatMap { $0 > committed && $0 > invalidation ? $0 : nil }
        return machine.loads.map(\.number) == running && machine.isInvalid == (invalidation > committed)
            && machine.joinable == newest
    }

    mutating func begin(waiting: Int, isStarted: Bool) -> UInt64 {
        events.append(.load(waiting: waiting, isStarted: isStarted, ended: .running))
        return UInt64(events.count)
    }

    mutating func join(_ number: UInt64) {
        guard case .load(let waiting, let isStarted, .running) = event(number) else { return }
        set(number, .load(waiting: waiting + 1, isStarted: isStarted, ended: .running))
    }

    mutating func keep(_ number: UInt64) {
        guard case .load(let waiting, _, .running) = event(number) else { return }
        set(number, .load(waiting: waiting, isStarted: true, ended: .running))
    }

    mutating func leave(_ number: UInt64) -> Bool {
        guard case .load(let waiting, let isStarted, .running) = event(number) else { return false }
        let isOver = waiting <= 1 && !isStarted
        set(number, .load(waiting: waiting - 1, isStarted: isStarted, ended: isOver ? .cancelled : .running))
        return isOver
    }

    mutating func end(_ number: UInt64) -> ResourceMachine.Verdict {
        guard case .load(let waiting, let isStarted, .running) = event(number) else { return .unknown }
        let commits = number > committed
        set(number, .load(waiting: waiting, isStarted: isStarted, ended: commits ? .committed : .superseded))
        return commits ? .commits : .superseded
    }

    mutating func cancel(_ number: UInt64) -> Bool {
        guard case .load(let waiting, let isStarted, .running) = event(number) else { return false }
        set(number, .load(waiting: waiting, isStarted: isStarted, ended: .cancelled))
        return true
    }

    mutating func invalidate() { events.append(.invalidation) }
    mutating func override() { events.append(.override) }

    mutating func wipe() -> [UInt64] {
        let ended = running
        for number in ended { _ = cancel(number) }
        events.append(.override)
        return ended
    }

    private func event(_ number: UInt64) -> Event? {
        events.indices.contains(Int(number) - 1) ? events[Int(number) - 1] : nil
    }

    private mutating func set(_ number: UInt64, _ event: Event) { events[Int(number) - 1] = event }
}

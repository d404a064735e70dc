import TestTools
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

    @Test("An override supersedes the running loads, and they do not supersede it")
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

    @Test("A cancelled request by hand ends its load unless a task or another request needs it, observed or not")
    func release() {
        var machine = ResourceMachine()
        let shared = machine.beginLoad(waiting: 0, isStarted: true)
        machine.keep(shared)
        machine.join(shared)
        for _ in 0..<2 {
            let isUnwanted = machine.release(shared)
            #expect(!isUnwanted)
        }
        #expect(machine.loads.count == 1)
        let isLeft = machine.leave(shared, isObserved: true)
        #expect(!isLeft)
        let own = machine.beginLoad(waiting: 0, isStarted: true)
        let isUnwanted = machine.release(own)
        #expect(isUnwanted)
        #expect(machine.loads.map(\.number) == [shared])
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

    @Test("Random sequences agree with a model that remembers everything", arguments: RandomSequences.seeds)
    func randomSequences(seed: UInt64) async {
        var numbers = SeededNumbers(state: seed)
        for sequence in 0..<RandomSequences.count {
            await Task.yield()
            var machine = ResourceMachine()
            var model = RememberingModel()
            for step in 0..<RandomSequences.steps {
                let action = Int.random(in: 0..<20, using: &numbers)
                let agree = perform(action, &machine, &model, &numbers)
                guard agree, model.matches(machine) else {
                    Issue.record("seed \(seed), sequence \(sequence), step \(step), action \(action)")
                    return
                }
            }
        }
    }

    /// Performs the same operation on both.
    ///
    /// - Returns: Whether the results are equal.
    private func perform(
        _ action: Int, _ machine: inout ResourceMachine, _ model: inout RememberingModel, _ numbers: inout SeededNumbers
    ) -> Bool {
        // Half of the numbers are of loads that run, the others of anything.
        let any = UInt64.random(in: 1...max(1, model.last), using: &numbers)
        let number = Bool.random(using: &numbers) ? model.running.randomElement(using: &numbers)?.number ?? any : any
        let flag = Bool.random(using: &numbers)
        let response = flag ? 0 : UInt64.random(in: 1...max(1, model.last), using: &numbers)
        switch action {
        case 0, 1:
            let isJoinable = number % 4 != 0
            return machine.beginLoad(
                waiting: 1, isStarted: false, endsWithFreshContent: flag, isJoinable: isJoinable)
                == model.begin(waiting: 1, isStarted: false, endsWithFreshContent: flag, isJoinable: isJoinable)
        case 2: return machine.beginLoad(waiting: 0, isStarted: flag) == model.begin(waiting: 0, isStarted: flag)
        case 3:
            machine.join(number)
            model.change(number) { $0.waiting += 1 }
        case 4:
            if flag { return machine.release(number) == model.release(number) }
            machine.keep(number)
            model.change(number) { $0.handles += 1 }
        case 5, 6: return machine.leave(number, isObserved: flag) == model.leave(number, isObserved: flag)
        case 7, 8, 9: return machine.end(number, response: response) == model.end(number, response: response)
        case 10: return machine.cancel(number) == model.cancel(number)
        case 11: return machine.request(number) == model.change(number) { $0.endsWithFreshContent = false }
        case 12:
            return machine.endWithContent(isFresh: flag)
                == model.end { $0.endsWithFreshContent && (flag || !$0.isJoinable) }
        case 13, 14:
            let shown = flag ? any : model.committed
            return machine.update(since: shown, response: response) == model.update(since: shown, response: response)
        case 15:
            return machine.cancelUnawaited(includingStarted: flag)
                == model.end { $0.waiting <= 0 && (flag || $0.handles <= 0) }
        case 16: return !flag || machine.cancelAll() == model.end { _ in true }
        case 17:
            machine.invalidate()
            model.invalidate()
        case 18:
            machine.override()
            model.override()
        default: return !flag || machine.wipe() == model.wipe()
        }
        return true
    }
}

/// Keeps the numbers of all events, and derives each result from them.
private struct RememberingModel {
    struct Load {
        let number: UInt64
        var waiting: Int
        /// The requests by hand that were begun, less those that were cancelled.
        var handles: Int
        var endsWithFreshContent: Bool
        var isJoinable: Bool
    }

    var last: UInt64 = 0
    var running: [Load] = []
    /// The changes that replaced or confirmed the content, in order.
    var changes: [UInt64] = []
    var invalidations: [UInt64] = []
    /// The numbered responses that have counted since the last wipe.
    var responses: [UInt64] = []

    var committed: UInt64 { changes.last ?? 0 }
    private var lastInvalidation: UInt64 { invalidations.last ?? 0 }

    func matches(_ machine: ResourceMachine) -> Bool {
        let joinable = running.last(where: \.isJoinable)
        let newest = joinable.flatMap { $0.number > committed && $0.number > lastInvalidation ? $0.number : nil }
        return machine.loads.count == running.count
            && zip(machine.loads, running).allSatisfy { $0.number == $1.number && $0.waiting == $1.waiting }
            && machine.isInvalid == (lastInvalidation > committed) && machine.joinable == newest
            && machine.committed == committed && machine.last == last
    }

    private mutating func next() -> UInt64 {
        last += 1
        return last
    }

    mutating func begin(
        waiting: Int, isStarted: Bool, endsWithFreshContent: Bool = false, isJoinable: Bool = true
    ) -> UInt64 {
        let load = Load(
            number: next(), waiting: waiting, handles: isStarted ? 1 : 0, endsWithFreshContent: endsWithFreshContent,
            isJoinable: isJoinable)
        running.append(load)
        return load.number
    }

    /// - Returns: Whether the load runs.
    @discardableResult
    mutating func change(_ number: UInt64, _ change: (inout Load) -> Void) -> Bool {
        guard let index = running.firstIndex(where: { $0.number == number }) else { return false }
        change(&running[index])
        return true
    }

    mutating func leave(_ number: UInt64, isObserved: Bool) -> Bool {
        change(number) { $0.waiting -= 1 }
        return !isObserved && !end { $0.number == number && $0.waiting <= 0 && $0.handles <= 0 }.isEmpty
    }

    mutating func release(_ number: UInt64) -> Bool {
        change(number) { $0.handles -= 1 }
        return !end { $0.number == number && $0.waiting <= 0 && $0.handles <= 0 }.isEmpty
    }

    mutating func end(_ number: UInt64, response: UInt64) -> ResourceMachine.Verdict {
        guard cancel(number) else { return .unknown }
        guard changes.allSatisfy({ $0 < number }) else { return .superseded }
        guard response == 0 || responses.allSatisfy({ $0 <= response }) else { return .superseded }
        changes.append(number)
        if response != 0 { responses.append(response) }
        return .commits
    }

    mutating func update(since number: UInt64, response: UInt64) -> ResourceMachine.Verdict {
        guard number == committed, response > 0, responses.allSatisfy({ $0 < response }) else { return .superseded }
        responses.append(response)
        return .commits
    }

    mutating func cancel(_ number: UInt64) -> Bool { !end { $0.number == number }.isEmpty }

    /// - Returns: The numbers of the ended loads.
    mutating func end(where isEnded: (Load) -> Bool) -> [UInt64] {
        let ended = running.filter(isEnded).map(\.number)
        running.removeAll { ended.contains($0.number) }
        return ended
    }

    mutating func invalidate() { invalidations.append(next()) }
    mutating func override() { changes.append(next()) }

    mutating func wipe() -> [UInt64] {
        override()
        responses = []
        return end { _ in true }
    }
}

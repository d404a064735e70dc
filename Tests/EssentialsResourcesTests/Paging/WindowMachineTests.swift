import TestTools
import Testing

@testable import EssentialsResources

@Suite struct WindowMachineTests {
    typealias Operation = WindowMachine.Operation

    private func step(_ decision: WindowMachine.Decision) throws -> WindowMachine.Step {
        guard case .begin(let step) = decision else { throw Unexpected(decision: decision) }
        return step
    }

    private struct Unexpected: Error { let decision: WindowMachine.Decision }

    /// A machine that shows pages from 0.
    private func machine(showing count: Int, maximum: Int = 100) throws -> WindowMachine {
        var machine = WindowMachine(maximumPages: maximum)
        for _ in 0..<count {
            let step = try step(machine.begin(.next, hasNext: true))
            #expect(machine.loaded(step.ticket, hasNext: true) == .done)
        }
        return machine
    }

    @Test("The same operation is joined, another one waits, and an old outcome does not count")
    func oneAtATime() throws {
        var machine = WindowMachine(maximumPages: 3)
        let first = try step(machine.begin(.next, hasNext: false))
        #expect(first.page == 0)
        #expect(machine.begin(.next, hasNext: true) == .join)
        #expect(machine.begin(.refresh(.all), hasNext: true) == .wait)
        #expect(machine.loaded(first.ticket + 1, hasNext: true) == .none)
        #expect(machine.loaded(first.ticket, hasNext: false) == .done)
        #expect(machine.loaded(first.ticket, hasNext: false) == .none)
        #expect(machine.begin(.next, hasNext: false) == .end)
        #expect(machine.begin(.previous, hasNext: true) == .end)
        #expect(machine.retry() == .end)
    }

    @Test("Beyond the maximum the page at the far end is dropped, in both directions")
    func maximum() throws {
        var machine = try machine(showing: 5, maximum: 3)
        #expect(machine.window == 2..<5)
        let back = try step(machine.begin(.previous, hasNext: true))
        #expect(back.page == 1)
        #expect(machine.loaded(back.ticket, hasNext: true) == .done)
        #expect(machine.window == 1..<4)
        let forth = try step(machine.begin(.next, hasNext: true))
        #expect(forth.page == 4)
    }

    @Test("A failure keeps the pages, and repeating it begins with the page that failed")
    func retry() throws {
        var machine = try machine(showing: 4)
        let first = try step(machine.begin(.refresh(.allThenSwap), hasNext: true))
        guard case .goOn(let second) = machine.loaded(first.ticket, hasNext: true) else { return }
        guard case .goOn(let third) = machine.loaded(second.ticket, hasNext: true) else { return }
        #expect(third.page == 2)
        #expect(machine.failed(third.ticket, isRepeatable: true) == true)
        #expect(machine.window == 0..<4)
        let again = try step(machine.retry())
        #expect(again.page == 2 && again.operation == .refresh(.allThenSwap))
        #expect(machine.failed(third.ticket, isRepeatable: true) == false)
        guard case .goOn(let last) = machine.loaded(again.ticket, hasNext: true) else { return }
        #expect(machine.loaded(last.ticket, hasNext: true) == .done)
        #expect(machine.window == 0..<4)
        #expect(machine.failed == nil)
    }

    @Test("A refresh of all pages ends with the last page that the server has")
    func shorter() throws {
        var machine = try machine(showing: 4)
        let first = try step(machine.begin(.refresh(.all), hasNext: true))
        guard case .goOn(let second) = machine.loaded(first.ticket, hasNext: true) else { return }
        #expect(machine.loaded(second.ticket, hasNext: false) == .done)
        #expect(machine.window == 0..<2)
    }

    @Test("A refresh of the first page drops the others")
    func firstPage() throws {
        var machine = try machine(showing: 5, maximum: 3)
        let first = try step(machine.begin(.refresh(.first), hasNext: true))
        #expect(first.page == 0)
        #expect(machine.window == 2..<5)
        #expect(machine.loaded(first.ticket, hasNext: true) == .done)
        #expect(machine.window == 0..<1)
    }

    @Test("A page whose content is gone removes the pages after it, and ends the running operation")
    func truncated() throws {
        var machine = try machine(showing: 5, maximum: 4)
        let running = try step(machine.begin(.next, hasNext: true))
        machine.truncate(to: 3)
        #expect(machine.window == 1..<3)
        #expect(machine.loaded(running.ticket, hasNext: true) == .none)
        machine.truncate(to: 1)
        #expect(machine.window == 0..<0)
        let again = try step(machine.begin(.next, hasNext: false))
        #expect(again.page == 0)
    }

    /// The same with lists of page numbers: an operation is the list of pages that it still has to load.
    private struct SlowList {
        let maximum: Int
        var shown: [Int] = []
        var present: (operation: Operation, rest: [Int], done: [Int])?
        var failed: (operation: Operation, rest: [Int], done: [Int])?

        /// - Returns: Whether the operation begins.
        mutating func begin(_ operation: Operation, hasNext: Bool) -> Bool {
            guard present == nil else { return false }
            var rest: [Int] = []
            switch operation {
            case .next: rest = shown.isEmpty ? [0] : hasNext ? [shown[shown.count - 1] + 1] : []
            case .previous: rest = shown.first.map { $0 > 0 ? [$0 - 1] : [] } ?? []
            case .refresh(.first): rest = [0]
            case .refresh: rest = shown.isEmpty ? [0] : shown
            }
            guard !rest.isEmpty else { return false }
            (present, failed) = ((operation, rest, []), nil)
            return true
        }

        mutating func load(hasNext: Bool) {
            guard let operation = present?.operation, var (_, rest, done) = present else { return }
            done.append(rest.removeFirst())
            guard case .refresh = operation, !rest.isEmpty, hasNext else {
                switch operation {
                case .next: shown = (shown + done).suffix(maximum)
                case .previous: shown = Array((done + shown).prefix(maximum))
                case .refresh: shown = done
                }
                present = nil
                return
            }
            present = (operation, rest, done)
        }
    }

    private static let operations: [Operation] = [
        .next, .next, .next, .previous, .refresh(.first), .refresh(.all), .refresh(.allThenSwap),
    ]

    @Test("Random operations give the same result as lists of page numbers", arguments: RandomSequences.seeds)
    func reference(seed: UInt64) async {
        var numbers = SeededNumbers(state: seed)
        for sequence in 0..<RandomSequences.count {
            await Task.yield()
            let maximum = Int.random(in: 1...6, using: &numbers)
            var machine = WindowMachine(maximumPages: maximum)
            var slow = SlowList(maximum: maximum)
            for step in 0..<RandomSequences.steps {
                let agree = perform(&machine, &slow, &numbers)
                guard agree, Array(machine.window) == slow.shown, machine.window.count <= maximum else {
                    Issue.record("seed \(seed), sequence \(sequence), step \(step): \(machine), not \(slow)")
                    return
                }
            }
        }
    }

    /// Performs the same operation on both.
    ///
    /// - Returns: Whether the results are equal.
    private func perform(
        _ machine: inout WindowMachine, _ slow: inout SlowList, _ numbers: inout SeededNumbers
    ) -> Bool {
        let hasNext = Int.random(in: 0..<8, using: &numbers) > 0
        switch Int.random(in: 0..<21, using: &numbers) {
        case 0..<8:
            let operation = Self.operations.randomElement(using: &numbers) ?? .next
            let (isFree, isSame) = (slow.present == nil, slow.present?.operation == operation)
            let begins = slow.begin(operation, hasNext: hasNext)
            return switch machine.begin(operation, hasNext: hasNext) {
            case .begin(let step): begins && step.page == slow.present?.rest.first
            case .join: isSame
            case .wait: !isFree && !isSame
            case .end: isFree && !begins
            }
        case 8..<16:
            guard let step = machine.running else { return slow.present == nil }
            guard step.page == slow.present?.rest.first else { return false }
            slow.load(hasNext: hasNext)
            // An outcome of an earlier step does not count.
            guard machine.loaded(step.ticket - 1, hasNext: hasNext) == .none else { return false }
            return (machine.loaded(step.ticket, hasNext: hasNext) == .done) == (slow.present == nil)
        case 16, 17:
            guard let step = machine.running else { return slow.present == nil }
            (slow.failed, slow.present) = (slow.present, nil)
            return machine.failed(step.ticket, isRepeatable: true)
        case 18, 19:
            let decision = machine.retry()
            guard slow.present == nil, let failed = slow.failed else {
                return decision == (slow.present == nil ? .end : .join)
            }
            (slow.present, slow.failed) = (failed, nil)
            if case .begin(let step) = decision { return step.page == failed.rest.first }
            return false
        default:
            // The content of a shown page is gone.
            guard let page = slow.shown.randomElement(using: &numbers) else { return true }
            machine.truncate(to: page)
            slow.shown.removeAll { $0 >= page }
            (slow.present, slow.failed) = (nil, nil)
        }
        return true
    }
}

import Testing

@testable import EssentialsResources

@Suite struct PagingMachineTests {
    typealias Operation = PagingMachine.Operation

    private func step(_ decision: PagingMachine.Decision) throws -> PagingMachine.Step {
        guard case .begin(let step) = decision else { throw Unexpected(decision: decision) }
        return step
    }

    private struct Unexpected: Error { let decision: PagingMachine.Decision }

    /// A machine that shows pages from 0.
    private func machine(showing count: Int, maximum: Int = 100) throws -> PagingMachine {
        var machine = PagingMachine(maximumPages: maximum)
        for _ in 0..<count {
            let step = try step(machine.begin(.next, hasNext: true))
            #expect(machine.loaded(step.ticket, hasNext: true) == .done)
        }
        return machine
    }

    @Test("The same operation is joined, another one waits, and an old outcome does not count")
    func oneAtATime() throws {
        var machine = PagingMachine(maximumPages: 3)
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

    @Test("A page that has gone takes those after it along, and what runs")
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

    /// The same as lists of page numbers: an operation is the list of pages that it still has to load.
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

    @Test("Random operations give the same as lists of page numbers", arguments: [UInt64](1...12))
    func reference(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        let operations: [Operation] = [
            .next, .next, .next, .previous, .refresh(.first), .refresh(.all), .refresh(.allThenSwap),
        ]
        let maximum = Int.random(in: 1...6, using: &numbers)
        var machine = PagingMachine(maximumPages: maximum)
        var slow = SlowList(maximum: maximum)
        for index in 0..<3_000 {
            let hasNext = Int.random(in: 0..<8, using: &numbers) > 0
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0...3:
                let operation = operations.randomElement(using: &numbers) ?? .next
                let isFree = slow.present == nil
                let same = slow.present?.operation == operation
                let begins = slow.begin(operation, hasNext: hasNext)
                switch machine.begin(operation, hasNext: hasNext) {
                case .begin(let step): #expect(begins && step.page == slow.present?.rest.first)
                case .join: #expect(same)
                case .wait: #expect(!isFree && !same)
                case .end: #expect(isFree && !begins)
                }
            case 4...7:
                guard let step = machine.running else { break }
                #expect(step.page == slow.present?.rest.first)
                slow.load(hasNext: hasNext)
                let change = machine.loaded(step.ticket, hasNext: hasNext)
                #expect((change == .done) == (slow.present == nil))
            case 8:
                guard let step = machine.running else { break }
                #expect(machine.failed(step.ticket, isRepeatable: true) == true)
                (slow.failed, slow.present) = (slow.present, nil)
            default:
                let decision = machine.retry()
                if slow.present == nil, let failed = slow.failed {
                    (slow.present, slow.failed) = (failed, nil)
                    guard case .begin(let step) = decision else { Issue.record("seed \(seed)"); return }
                    #expect(step.page == failed.rest.first)
                } else {
                    #expect(decision == (slow.present == nil ? .end : .join))
                }
            }
            #expect(Array(machine.window) == slow.shown, "seed \(seed), step \(index)")
            #expect(machine.window.count <= maximum)
        }
    }
}

import Testing

@testable import EssentialsRequests

private typealias Machine = JoinMachine<String, String, UInt64>

extension JoinMachine where Waiter == UInt64 {
    /// A request arrives whose waiter is its number.
    fileprivate mutating func arrive(_ number: UInt64, _ key: Key, at place: Place) -> Arrival {
        arrive(number, number, key, at: place)
    }
}

@Suite("Groups of equal requests")
struct JoinMachineTests {
    @Test("The first request of a group leads it, and the others follow until it has finished")
    func group() {
        var machine = Machine()
        #expect(machine.arrive(1, "k", at: "u") == .lead(1))
        #expect(machine.arrive(2, "k", at: "u") == .follow(1))
        #expect(machine.arrive(3, "other", at: "u") == .lead(2))
        #expect(machine.arrive(4, "k", at: "other") == .lead(3))
        #expect(Array(machine.finish(1)) == [1, 2])
        #expect(Array(machine.finish(1)) == [])
        #expect(machine.arrive(5, "k", at: "u") == .lead(4))
    }

    @Test("A group goes on when one request leaves it, and ends when the last one does")
    func leaving() {
        var machine = Machine()
        for waiter in 1...3 { _ = machine.arrive(UInt64(waiter), "k", at: "u") }
        #expect(machine.leave(1, 1) == .fromOthers)
        #expect(machine.leave(1, 1) == .none)
        #expect(machine.leave(3, 1) == .fromOthers)
        #expect(machine.leave(2, 1) == .last)
        // The next equal request does not get the outcome of the cancelled exchange.
        #expect(machine.arrive(4, "k", at: "u") == .lead(2))
        #expect(Array(machine.finish(1)) == [])
        #expect(Array(machine.finish(2)) == [4])
    }

    @Test("A closed group takes no more requests, and those in it get its outcome")
    func closing() {
        var machine = Machine()
        _ = machine.arrive(1, "k", at: "u")
        _ = machine.arrive(2, "k", at: "other")
        machine.close("u")
        #expect(machine.arrive(3, "k", at: "u") == .lead(3))
        #expect(machine.arrive(4, "k", at: "other") == .follow(2))
        machine.closeAll()
        #expect(machine.arrive(5, "k", at: "u") == .lead(4))
        #expect(machine.arrive(6, "k", at: "other") == .lead(5))
        #expect(Array(machine.finish(1)) == [1])
        #expect(Array(machine.finish(3)) == [3])
        // The end of a closed group does not close the open one.
        #expect(machine.arrive(7, "k", at: "u") == .follow(4))
    }

    @Test("With as many groups as allowed, other requests go alone, and equal ones still follow")
    func limit() {
        var machine = Machine(limit: 2)
        #expect(machine.arrive(1, "a", at: "u") == .lead(1))
        #expect(machine.arrive(2, "b", at: "u") == .lead(2))
        #expect(machine.arrive(3, "c", at: "u") == .alone)
        #expect(machine.arrive(4, "a", at: "u") == .follow(1))
        machine.closeAll()
        // A closed group counts, because its exchange still runs.
        #expect(machine.arrive(5, "a", at: "u") == .alone)
        #expect(Array(machine.finish(2)) == [2])
        #expect(machine.arrive(6, "c", at: "u") == .lead(3))
    }

    @Test("There are at most 10,000 groups")
    func standardLimit() {
        var machine = Machine()
        for number in 0..<10_000 { #expect(machine.arrive(UInt64(number), "\(number)", at: "u") != .alone) }
        #expect(machine.arrive(10_000, "more", at: "u") == .alone)
    }

    // MARK: Every order of four requests

    /// What a group has to do, written as a list of events.
    private struct Model {
        struct Group {
            let key: String
            var waiters: [UInt64]
            var isOpen = true
            var isRunning = true
        }

        var machine = Machine()
        var groups: [UInt64: Group] = [:]
        var ended: [UInt64: String] = [:]
        var difference: String?

        mutating func expect<Value: Equatable>(_ value: Value, _ expected: Value, _ event: String) {
            if value != expected, difference == nil { difference = "\(event): \(value) instead of \(expected)" }
        }

        mutating func arrive(_ waiter: UInt64, _ key: String) {
            let group = groups.first { $0.value.isOpen && $0.value.isRunning && $0.value.key == key }?.key
            let arrival = machine.arrive(waiter, key, at: "u")
            if let group {
                groups[group]?.waiters.append(waiter)
                expect(arrival, .follow(group), "arrive \(waiter)")
            } else {
                let number = UInt64(groups.count + 1)
                groups[number] = Group(key: key, waiters: [waiter])
                expect(arrival, .lead(number), "arrive \(waiter)")
            }
        }

        mutating func leave(_ waiter: UInt64, _ group: UInt64) {
            groups[group]?.waiters.removeAll { $0 == waiter }
            let isLast = groups[group]?.waiters.isEmpty == true
            if isLast { groups[group]?.isRunning = false }
            ended[waiter] = "cancelled"
            expect(machine.leave(waiter, group), isLast ? .last : .fromOthers, "leave \(waiter)")
            expect(machine.leave(waiter, group), .none, "leave \(waiter) again")
        }

        mutating func finish(_ number: UInt64) {
            let waiters = groups[number]?.waiters ?? []
            groups[number]?.isRunning = false
            groups[number]?.waiters = []
            for waiter in waiters {
                if ended[waiter] != nil { expect(true, false, "\(waiter) ends twice") }
                ended[waiter] = "finished"
            }
            expect(Array(machine.finish(number)), waiters, "finish \(number)")
        }

        mutating func close(all: Bool) {
            for number in groups.keys { groups[number]?.isOpen = false }
            if all { machine.closeAll() } else { machine.close("u") }
        }
    }

    private func explore(_ model: Model, _ keys: [String], closings: Int, _ count: inout Int) {
        if let difference = model.difference {
            Issue.record("\(difference)")
            count = -1
        }
        guard count >= 0 else { return }
        var isOver = true
        func branch(_ change: (inout Model) -> Void, _ keys: [String], _ closings: Int) {
            isOver = false
            var next = model
            change(&next)
            explore(next, keys, closings: closings, &count)
        }
        if let key = keys.first {
            branch({ $0.arrive(UInt64(5 - keys.count), key) }, Array(keys.dropFirst()), closings)
        }
        for (number, group) in model.groups where group.isRunning {
            branch({ $0.finish(number) }, keys, closings)
            for waiter in group.waiters { branch({ $0.leave(waiter, number) }, keys, closings) }
        }
        if closings > 0, model.groups.values.contains(where: { $0.isOpen && $0.isRunning }) {
            branch({ $0.close(all: closings == 1) }, keys, closings - 1)
        }
        guard isOver else { return }
        count += 1
        guard model.machine.groupCount == 0, model.machine.placeCount == 0, model.ended.count == 4 else {
            Issue.record("Something is left: \(model.machine)")
            count = -1
            return
        }
    }

    @Test(
        "In every order of four requests, their outcomes, cancellations and closings, each request ends once",
        arguments: [["a", "a", "a", "a"], ["a", "b", "a", "b"], ["a", "a", "b", "a"]])
    func everyOrder(keys: [String]) {
        var count = 0
        explore(Model(), keys, closings: 2, &count)
        #expect(count > 1_000)
    }
}

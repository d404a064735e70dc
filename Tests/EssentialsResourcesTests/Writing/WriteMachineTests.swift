import Testing

@testable import EssentialsResources

@Suite("Resource machine: writes")
struct WriteMachineTests {
    @Test("A load whose request began before the success of a layer is superseded, and a later one counts")
    func supersededLoads() {
        var machine = ResourceMachine()
        let before = machine.beginLoad(waiting: 1, isStarted: false)
        let start = machine.beginWrite(hasLayer: true, isConcurrent: false)
        #expect(start == .sends(2))
        let during = machine.beginLoad(waiting: 1, isStarted: false)
        let end = machine.endWrite(2, .outdated)
        #expect(end.verdict == .commits(isInvalid: true))
        #expect(machine.joinable == nil)
        let first = machine.end(before)
        let second = machine.end(during)
        #expect(first == .superseded && second == .superseded)
        #expect(machine.isInvalid)
        let after = machine.beginLoad(waiting: 1, isStarted: false)
        let third = machine.end(after)
        #expect(third == .commits)
        #expect(!machine.isInvalid)
    }

    @Test("The success of a write without a layer only invalidates, so a running load may still show its content")
    func successWithoutLayer() {
        var machine = ResourceMachine()
        let load = machine.beginLoad(waiting: 1, isStarted: false)
        _ = machine.beginWrite(hasLayer: false, isConcurrent: false)
        let end = machine.endWrite(2, .outdated)
        #expect(end.verdict == .commits(isInvalid: true))
        #expect(machine.joinable == nil)
        let outcome = machine.end(load)
        #expect(outcome == .commits)
        #expect(machine.isInvalid)
    }

    @Test("A failure removes a layer and changes nothing else")
    func failure() {
        var machine = ResourceMachine()
        let load = machine.beginLoad(waiting: 1, isStarted: false)
        _ = machine.beginWrite(hasLayer: true, isConcurrent: false)
        #expect(machine.layers == [2])
        let end = machine.endWrite(2, .failed)
        #expect(end.verdict == .undone)
        #expect(machine.layers == [])
        let outcome = machine.end(load)
        #expect(outcome == .commits)
        let again = machine.endWrite(2, .failed)
        #expect(again.verdict == .nothing)
    }

    @Test(
        "Confirmed content ends invalidations from before the request, and is invalid if something came after it",
        arguments: ["before", "after", "override", "nothing", "unconfirmed"])
    func validity(event: String) {
        var machine = ResourceMachine()
        if event == "before" { machine.invalidate() }
        guard case .sends(let number) = machine.beginWrite(hasLayer: false, isConcurrent: false) else {
            Issue.record("The write waits.")
            return
        }
        if event == "after" { machine.invalidate() }
        if event == "override" { machine.override() }
        let end = machine.endWrite(number, .content(isFresh: event != "unconfirmed"))
        let isInvalid = event != "before" && event != "nothing"
        #expect(end.verdict == .commits(isInvalid: isInvalid))
        #expect(machine.isInvalid == isInvalid)
    }

    @Test("Writes are sent one after another in the order of their beginning, and concurrent ones at once")
    func order() {
        var machine = ResourceMachine()
        let starts = (0..<3).map { _ in machine.beginWrite(hasLayer: false, isConcurrent: false) }
        #expect(starts == [.sends(1), .waits(2), .waits(3)])
        let concurrent = machine.beginWrite(hasLayer: true, isConcurrent: true)
        #expect(concurrent == .sends(4))
        let ofConcurrent = machine.endWrite(4, .outdated)
        #expect(ofConcurrent.next == nil)
        // The second one leaves the queue before its turn.
        let ofWaiting = machine.endWrite(2, .failed)
        #expect(ofWaiting.next == nil)
        let ofFirst = machine.endWrite(1, .outdated)
        #expect(ofFirst.next == 3)
        let ofThird = machine.endWrite(3, .outdated)
        #expect(ofThird.next == nil)
        #expect(machine.writes.isEmpty)
    }

    @Test("At most 64 writes have a layer, and at most 256 wait")
    func limits() {
        var machine = ResourceMachine()
        for _ in 0..<64 { _ = machine.beginWrite(hasLayer: true, isConcurrent: true) }
        let layered = machine.beginWrite(hasLayer: true, isConcurrent: true)
        #expect(layered == .tooManyLayers)
        for _ in 0...256 { _ = machine.beginWrite(hasLayer: false, isConcurrent: false) }
        let waiting = machine.beginWrite(hasLayer: false, isConcurrent: false)
        #expect(waiting == .tooManyWrites)
        let concurrent = machine.beginWrite(hasLayer: false, isConcurrent: true)
        #expect(concurrent != .tooManyWrites)
        _ = machine.endWrite(1, .failed)
        let freed = machine.beginWrite(hasLayer: true, isConcurrent: true)
        #expect(freed != .tooManyLayers)
    }

    @Test("A wipe removes all layers, and the writes continue without changing the state")
    func wipe() {
        var machine = ResourceMachine()
        _ = machine.beginWrite(hasLayer: true, isConcurrent: false)
        _ = machine.beginWrite(hasLayer: true, isConcurrent: false)
        _ = machine.wipe()
        #expect(machine.layers == [])
        let committed = machine.committed
        let first = machine.endWrite(1, .content(isFresh: true))
        #expect(first.verdict == .nothing)
        #expect(first.next == 2)
        let second = machine.endWrite(2, .failed)
        #expect(second.verdict == .nothing)
        #expect(machine.committed == committed)
        #expect(!machine.isInvalid)
    }
}

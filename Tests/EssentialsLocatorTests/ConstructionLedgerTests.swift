import EssentialsTools
import Testing

@testable import EssentialsLocator

@Suite("ConstructionLedger")
struct ConstructionLedgerTests {
    /// A ledger with slots by name. Threads are numbers.
    private struct Scene {
        var ledger = ConstructionLedger()
        private let locator = ServiceLocator(name: "app")
        private var slots: [String: LazySlot] = [:]

        mutating func slot(_ name: String) -> LazySlot {
            if let known = slots[name] { return known }
            let site = RegistrationSite(fileID: "Test/Here.swift", line: 1)
            let slot = LazySlot(Int.self, name: name, site: site) { _ in 1 }
            slots[name] = slot
            return slot
        }

        mutating func build(_ name: String, on thread: UInt) {
            let slot = slot(name)
            slot.state.store(.building, ordering: .relaxed)
            slot.builder.store(thread, ordering: .relaxed)
        }

        mutating func join(_ name: String, on thread: UInt) -> ConstructionLedger.Step {
            ledger.join(slot(name), owner: locator, thread: thread, frames: nil)
        }

        mutating func wait(_ name: String, on thread: UInt) throws -> BlockingResult<ConstructionLedger.Outcome> {
            guard case .wait(let result) = join(name, on: thread) else { throw FactoryFailure("not wait") }
            return result
        }

        mutating func cycle(_ name: String, on thread: UInt) throws -> [String] {
            guard case .cycle(let path) = join(name, on: thread) else { throw FactoryFailure("not cycle") }
            return path
        }

        mutating func finish(_ name: String, _ state: Slot.State) -> BlockingResult<ConstructionLedger.Outcome>? {
            let slot = slot(name)
            slot.builder.store(0, ordering: .relaxed)
            slot.state.store(state, ordering: .relaxed)
            return ledger.finish(slot)
        }
    }

    private var scene = Scene()

    @Test("Threads that wait for one attempt share its result and are removed at its end")
    mutating func shared() throws {
        scene.build("A", on: 1)
        let second = try scene.wait("A", on: 2)
        let third = try scene.wait("A", on: 3)
        #expect(second === third)
        #expect(scene.slot("A").state.load(ordering: .relaxed) == .contended)
        #expect(scene.finish("A", .ready) === second)
        #expect(scene.ledger.isEmpty)
    }

    @Test("A thread does not wait for an attempt that has ended")
    mutating func over() {
        for state in [Slot.State.ready, .pending, .withdrawn, .closed] {
            _ = scene.finish("A", state)
            guard case .over = scene.join("A", on: 2) else {
                Issue.record("waits for a slot that is \(state)")
                continue
            }
        }
        #expect(scene.ledger.isEmpty)
    }

    @Test("A thread that would wait for itself gets the path of the cycle")
    mutating func selfCycle() throws {
        scene.build("A", on: 1)
        let path = try scene.cycle("A", on: 1)
        #expect(path.first?.contains("\"A\"") == true)
        #expect(path.count == 2)
        #expect(scene.ledger.isEmpty)
    }

    @Test("The thread that would close a cycle of waiting threads gets the path", arguments: 2...6)
    mutating func round(_ count: Int) throws {
        for thread in 1...count { scene.build("\(thread)", on: UInt(thread)) }
        for thread in 1..<count { _ = try scene.wait("\(thread + 1)", on: UInt(thread)) }
        let path = try scene.cycle("1", on: UInt(count))
        #expect(path.count == count + 1)
        // Threads that wait already continue to wait and get the next result.
        #expect(scene.finish("\(count)", .pending) != nil)
    }

    @Test("A wait that has ended is not part of a cycle")
    mutating func staleWait() throws {
        scene.build("A", on: 1)
        scene.build("B", on: 2)
        _ = try scene.wait("A", on: 2)
        _ = scene.finish("A", .pending)
        scene.build("A", on: 3)
        _ = try scene.wait("B", on: 3)
        #expect(!scene.ledger.isEmpty)
        _ = scene.finish("B", .ready)
        #expect(scene.ledger.isEmpty)
    }

    @Test("A thread that has not stored its identity yet is not part of a cycle")
    mutating func unnamed() throws {
        scene.build("A", on: 0)
        _ = try scene.wait("A", on: 1)
    }
}

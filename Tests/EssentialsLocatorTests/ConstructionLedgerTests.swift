import Testing

@testable import EssentialsLocator

@Suite("ConstructionLedger")
struct ConstructionLedgerTests {
    private final class Thing {}

    /// A ledger with slots by letter; threads are numbers.
    private struct Scene {
        var ledger = ConstructionLedger()
        private var things: [String: Thing] = [:]

        mutating func enter(_ label: String, on thread: UInt) -> ConstructionLedger.Step {
            let thing = things[label] ?? Thing()
            things[label] = thing
            return ledger.enter(slot: ObjectIdentifier(thing), label: label, thread: thread)
        }

        mutating func build(_ label: String, on thread: UInt) throws -> ConstructionAttempt {
            guard case .build(let attempt) = enter(label, on: thread) else { throw FactoryFailure("not build") }
            return attempt
        }

        mutating func wait(_ label: String, on thread: UInt) throws -> ConstructionAttempt {
            guard case .wait(let attempt) = enter(label, on: thread) else { throw FactoryFailure("not wait") }
            return attempt
        }

        mutating func cycle(_ label: String, on thread: UInt) throws -> [String] {
            guard case .cycle(let path) = enter(label, on: thread) else { throw FactoryFailure("not cycle") }
            return path
        }
    }

    private var scene = Scene()

    @Test("The first thread builds, the next one waits for it")
    mutating func buildAndWait() throws {
        let attempt = try scene.build("A", on: 1)
        #expect(try scene.wait("A", on: 2) === attempt)
    }

    @Test("After an attempt has ended the slot may be built anew")
    mutating func finished() throws {
        let first = try scene.build("A", on: 1)
        scene.ledger.finish(first)
        #expect(try scene.build("A", on: 2) !== first)
    }

    @Test("A thread that asks for what it builds is refused, with the path from there on")
    mutating func ownThread() throws {
        _ = try scene.build("A", on: 1)
        _ = try scene.build("B", on: 1)
        _ = try scene.build("C", on: 1)
        #expect(try scene.cycle("B", on: 1) == ["B", "C", "B"])
    }

    @Test("A loop over three threads is refused to the one that would close it")
    mutating func threeThreads() throws {
        _ = try scene.build("A", on: 1)
        _ = try scene.build("B", on: 2)
        _ = try scene.build("B2", on: 2)
        _ = try scene.build("C", on: 3)
        _ = try scene.wait("B", on: 1)
        _ = try scene.wait("C", on: 2)
        #expect(try scene.cycle("A", on: 3) == ["A", "B", "B2", "C", "A"])
    }

    @Test("Waiting for a thread that waits elsewhere is no cycle")
    mutating func chain() throws {
        _ = try scene.build("A", on: 1)
        _ = try scene.build("B", on: 2)
        _ = try scene.wait("B", on: 1)
        _ = try scene.wait("A", on: 3)
    }

    @Test("A waiter that has not woken yet closes no loop with an attempt that has ended")
    mutating func staleWait() throws {
        _ = try scene.build("A", on: 1)
        let ended = try scene.build("B", on: 2)
        _ = try scene.wait("B", on: 1)
        scene.ledger.finish(ended)
        _ = try scene.build("C", on: 2)
        _ = try scene.wait("A", on: 2)
    }

    @Test("Nothing is left when all have ended and woken")
    mutating func empty() throws {
        let outer = try scene.build("A", on: 1)
        let inner = try scene.build("B", on: 1)
        _ = try scene.wait("A", on: 2)
        #expect(!scene.ledger.isEmpty)
        scene.ledger.finish(inner)
        scene.ledger.finish(outer)
        scene.ledger.stopWaiting(thread: 2)
        #expect(scene.ledger.isEmpty)
    }
}

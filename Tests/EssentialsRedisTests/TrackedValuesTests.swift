import EssentialsHTTP
import EssentialsTestKit
import EssentialsTransport
import TestTools
import Testing

@testable import EssentialsRedis

@Suite("The values that a Redis client keeps")
struct TrackedValuesTests {
    private let clock: ManualClock
    private let time: RequestClock

    init() {
        clock = ManualClock()
        time = clock.requestClock
    }

    private func values(bytes: Int = 1 << 20) -> TrackedValues {
        let values = TrackedValues(bytes: bytes, clock: time)
        values.caughtUp(at: time.now)
        return values
    }

    private static func invalidation(_ keys: String...) -> [RESPValue] {
        [.bytes(Array("invalidate".utf8)), .array(keys.map { .bytes(Array($0.utf8)) })]
    }

    @Test("A value is used until the server says that it has changed")
    func change() {
        let values = values()
        let reading = values.begin(["a", "b"])
        #expect(values.values(["a"]) == nil)
        values.end(reading, ["a", "b"], [[1], nil])
        #expect(values.values(["b", "a"]) == [nil, [1]])
        values.receive(Self.invalidation("a"))
        #expect(values.values(["a"]) == nil)
        #expect(values.values(["b"]) == [nil])
        values.receive([.bytes(Array("invalidate".utf8)), .null])
        #expect(values.values(["b"]) == nil)
    }

    @Test("What has changed while it was read is not kept", arguments: [0, 1, 2, 3])
    func changeMeanwhile(kind: Int) {
        let values = values()
        let reading = values.begin(["a"])
        switch kind {
        case 0: values.receive(Self.invalidation("a"))
        case 1: values.receive([.bytes(Array("invalidate".utf8)), .null])
        case 2: values.remove(["a"])
        default: values.removeAll()
        }
        values.end(reading, ["a"], [[1]])
        #expect(values.values(["a"]) == nil)
        let again = values.begin(["a"])
        values.end(again, ["a"], [[2]])
        values.caughtUp(at: time.now)
        #expect(values.values(["a"]) == [[2]])
    }

    @Test("A key that this process is changing has no value, whatever was read")
    func blocked() {
        let values = values()
        let reading = values.begin(["a", "b"])
        values.end(reading, ["a", "b"], [[1], [2]])
        values.block(["a"])
        values.block(["a"])
        #expect(values.values(["a"]) == nil)
        #expect(values.isBlocked(["b", "a"]))
        #expect(values.values(["b"]) == [[2]])
        let again = values.begin(["a"])
        values.end(again, ["a"], [[1]])
        values.unblock(["a"])
        #expect(values.isBlocked(["a"]))
        values.unblock(["a"])
        #expect(!values.isBlocked(["a"]))
        #expect(values.values(["a"]) == nil)
    }

    @Test("Nothing is used if for two seconds nothing shows that no change is missing, nor after a minute")
    func times() {
        let values = values()
        let reading = values.begin(["a"])
        values.end(reading, ["a"], [[1]])
        clock.advance(by: .milliseconds(1_999))
        #expect(values.values(["a"]) == [[1]])
        clock.advance(by: .milliseconds(1))
        #expect(values.values(["a"]) == nil)
        values.caughtUp(at: time.now)
        #expect(values.values(["a"]) == [[1]])
        for _ in 0..<58 {
            clock.advance(by: .seconds(1))
            values.caughtUp(at: time.now)
        }
        #expect(values.values(["a"]) == nil)
    }

    @Test("The memory is limited")
    func memory() {
        let values = values(bytes: 10_000)
        for number in 0..<100 {
            let key = "\(number)"
            let reading = values.begin([key])
            values.end(reading, [key], [[UInt8](repeating: 0, count: 500)])
            #expect(values.usage.bytes <= 10_000)
        }
        #expect(values.values(["99"]) != nil)
        #expect(values.values(["0"]) == nil)
        let reading = values.begin(["large"])
        values.end(reading, ["large"], [[UInt8](repeating: 0, count: 10_001)])
        #expect(values.values(["large"]) == nil)
    }

    /// A server as it is described for `CLIENT TRACKING`: it remembers what was read, and says once that it has changed.
    private struct Server {
        enum Message { case reply(UInt64, [String], [TrackedValues.Value]), invalidation(String) }

        var contents: [String: UInt8] = [:]
        var remembered: Set<String> = []
        /// What is on its way to the client.
        var messages: [Message] = []

        mutating func read(_ reading: UInt64, _ keys: [String]) {
            remembered.formUnion(keys)
            messages.append(.reply(reading, keys, keys.map { contents[$0].map { [$0] } }))
        }

        mutating func write(_ key: String, _ value: UInt8?) {
            contents[key] = value
            if remembered.remove(key) != nil { messages.append(.invalidation(key)) }
        }
    }

    @Test("Whenever everything that the server has sent has arrived, no value is old", arguments: 1...20)
    func random(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        let values = values(bytes: 2_000)
        var server = Server()
        /// Commands are executed in their order, but later than they were sent.
        var commands: [(UInt64, [String])] = []
        let names = ["a", "b", "c", "d", "e"]
        for _ in 0..<2_000 {
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0...2:
                let keys = Array(names.shuffled(using: &numbers).prefix(.random(in: 1...3, using: &numbers)))
                commands.append((values.begin(keys), keys))
            case 3...4:
                if !commands.isEmpty { let (reading, keys) = commands.removeFirst(); server.read(reading, keys) }
            case 5...6: server.write(names.randomElement(using: &numbers)!, .random(in: 0...9, using: &numbers))
            case 7 where Bool.random(using: &numbers): values.remove([names.randomElement(using: &numbers)!])
            default:
                guard !server.messages.isEmpty else { break }
                switch server.messages.removeFirst() {
                case .reply(let reading, let keys, let found): values.end(reading, keys, found)
                case .invalidation(let key): values.receive(Self.invalidation(key))
                }
            }
            guard server.messages.isEmpty else { continue }
            for name in names {
                guard let known = values.values([name]) else { continue }
                #expect(known == [server.contents[name].map { [$0] }])
            }
        }
    }
}

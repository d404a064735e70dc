import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import Testing

@testable import EssentialsRedis

@Suite("A connection to a Redis server", .timeLimit(.minutes(2)))
struct RedisConnectionTests {
    /// The results of commands, in the order in which they came.
    private final class Results: Sendable {
        private let results = Mutex<[String]>([])

        var all: [String] { results.withLock { $0 } }

        func receiver(_ name: String) -> @Sendable (RedisConnection.Reply) -> Void {
            { [self] reply in
                let text =
                    switch reply {
                    case .success(let value): "\(value)"
                    case .failure(let failure): "\(failure)"
                    }
                results.withLock { $0.append("\(name): \(text)") }
            }
        }
    }

    private let link = ScriptedLink()
    private let clock: ManualClock
    private let time: RequestClock
    private let results = Results()

    init() {
        clock = ManualClock()
        time = clock.requestClock
    }

    private func connection(_ events: RedisConnection.Events = .init()) -> RedisConnection {
        let connection = RedisConnection(events, clock: time)
        link.attach(connection)
        connection.attach(link)
        return connection
    }

    @Test("Commands are sent at once, and replies belong to them in order")
    func order() {
        let connection = connection()
        for name in ["a", "b", "c"] { connection.send(RedisCommand("GET", .text(name)), results.receiver(name)) }
        #expect(link.sent == ["a", "b", "c"].map { "*2\r\n$3\r\nGET\r\n$1\r\n\($0)\r\n" }.joined())
        link.receive("+one\r\n-ERR no")
        link.receive(" such thing\r\n:3\r\n")
        #expect(
            results.all == [
                #"a: status("one")"#, "b: The server has refused a command: ERR no such thing", "c: integer(3)",
            ])
    }

    @Test("What the server says of its own stays in order with its replies")
    func pushes() {
        let results = results
        let connection = connection(
            .init(pushed: { values in results.receiver("push")(.success(.array(values))) }))
        connection.send(RedisCommand("GET", "a"), results.receiver("a"))
        connection.send(RedisCommand("GET", "b"), results.receiver("b"))
        link.receive("+1\r\n>2\r\n+invalidate\r\n*1\r\n+a\r\n+2\r\n")
        #expect(results.all.map { String($0.prefix(4)) } == ["a: s", "push", "b: s"])
    }

    @Test(
        "A reply without a command, and bytes that are no message, end the connection", arguments: ["+1\r\n", "x\r\n"])
    func damage(bytes: String) async {
        let connection = connection()
        connection.send(RedisCommand("GET", "a"), results.receiver("a"))
        link.receive("+0\r\n")
        connection.send(RedisCommand("GET", "b"), results.receiver("b"))
        link.receive("+1\r\n" + bytes)
        #expect(link.isClosed)
        #expect(results.all.count == 2)
        connection.send(RedisCommand("GET", "c"), results.receiver("c"))
        #expect(results.all.last?.hasPrefix("c: The connection has ended") == true)
        guard case .lost = await connection.ended.value() else { return _ = Issue.record("another end") }
    }

    @Test("Only a reply shows that no change is missing, and only of what was sent before it")
    func caughtUp() {
        let times = Mutex<[Duration]>([])
        let connection = connection(.init(caughtUp: { time in times.withLock { $0.append(time) } }))
        clock.advance(by: .seconds(3))
        connection.send(RedisCommand("GET", "a")) { _ in }
        clock.advance(by: .seconds(4))
        connection.send(RedisCommand("GET", "b")) { _ in }
        link.receive(">2\r\n+invalidate\r\n*1\r\n+a\r\n")
        #expect(times.withLock { $0 } == [])
        link.receive("+1\r\n>2\r\n+invalidate\r\n*1\r\n+a\r\n")
        #expect(times.withLock { $0 } == [.seconds(3)])
        clock.advance(by: .seconds(1))
        link.receive("+2\r\n")
        #expect(times.withLock { $0 } == [.seconds(3), .seconds(7)])
    }

    @Test("A server that has become a replica is not used any longer")
    func replica() async {
        let refused = connection()
        refused.send(RedisCommand("SET", "a", "1"), results.receiver("a"))
        link.receive("-READONLY You can't write against a read only replica.\r\n")
        #expect(link.isClosed)
        let asked = RedisConnection(.init(), clock: time)
        let other = ScriptedLink()
        other.attach(asked)
        asked.attach(other)
        let watch = Task { await asked.watch() }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        await clock.waitForSleepers(count: 1)
        other.receive("%1\r\n+role\r\n+replica\r\n")
        #expect(other.isClosed)
        watch.cancel()
        await watch.value
    }

    @Test("A server that is not silent, but does not reply, is given up after ten seconds")
    func noReply() async {
        let connection = connection()
        let watch = Task { await connection.watch() }
        connection.send(RedisCommand("GET", "a"), results.receiver("a"))
        for _ in 0..<20 {
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .milliseconds(500))
            link.receive(">1\r\n+message\r\n")
        }
        await watch.value
        #expect(link.isClosed)
        #expect(results.all.first?.contains("has not replied") == true)
    }

    @Test("What a server repeats of a command is not shown")
    func shownErrors() {
        let hello = RESPError("ERR unknown command `HELLO`, with args beginning with: `3` `AUTH` `default` `s3cret` ")
        #expect(hello.shown == "ERR unknown command `HELLO`")
        #expect("\(RedisFailure.refused(hello))".contains("s3cret") == false)
        #expect(RESPError("ERR a\u{1B}[31m\u{7}b\nc").shown == "ERR a[31mb")
        #expect(RESPError(String(repeating: "x", count: 300)).shown.count == 200)
    }

    @Test("The end of a connection fails all commands without a reply, each once")
    func end() {
        let ended = Atomic<Int>(0)
        let connection = connection(.init(ended: { ended.add(1, ordering: .relaxed) }))
        for name in ["a", "b"] { connection.send(RedisCommand("GET", .text(name)), results.receiver(name)) }
        link.end()
        connection.end(.closed)
        link.receive("+1\r\n")
        #expect(results.all.count == 2)
        #expect(results.all.allSatisfy { $0.hasSuffix("The peer has closed the connection.") })
        #expect(ended.load(ordering: .relaxed) == 1)
    }

    @Test("At most 10,000 commands and 32 MiB wait for replies")
    func limits() {
        let connection = connection()
        for _ in 0..<RedisConnection.maximumWaiters { connection.send(RedisCommand("PING")) { _ in } }
        connection.send(RedisCommand("PING"), results.receiver("one too many"))
        #expect(results.all == ["one too many: Too many commands wait for their replies."])
        link.receive(String(repeating: "+PONG\r\n", count: RedisConnection.maximumWaiters))
        let large = RedisCommand("SET", "a", .bytes([UInt8](repeating: 0, count: 20 << 20)))
        connection.send(large) { _ in }
        connection.send(large, results.receiver("too large"))
        #expect(results.all.last == "too large: Too many commands wait for their replies.")
        link.receive("+OK\r\n")
        connection.send(large) { _ in }
        #expect(results.all.count == 2)
        link.isFull = true
        connection.send(RedisCommand("PING"), results.receiver("full link"))
        #expect(results.all.count == 3)
    }

    @Test("A server that replies to nothing, or with too much, does not fill the memory")
    func memory() {
        let before = Self.residentBytes
        let connection = connection()
        let failures = Atomic<Int>(0)
        for number in 0..<100_000 {
            connection.send(RedisCommand("MGET", .text("es:test:c:{\(number)}:e"))) { reply in
                if case .failure = reply { failures.add(1, ordering: .relaxed) }
            }
        }
        #expect(failures.load(ordering: .relaxed) == 90_000)
        let growth = Self.residentBytes - before
        print("100,000 reads without a reply need \(growth >> 10) KiB")
        // Other tests use memory at the same time.
        #expect(growth < 512 << 20)
        link.receive("*1\r\n$16777216\r\n")
        #expect(link.isClosed)
        #expect(failures.load(ordering: .relaxed) == 100_000)
    }

    private static var residentBytes: Int {
        let text = FileManager.default.contents(atPath: "/proc/self/statm").map { String(decoding: $0, as: UTF8.self) }
        return (text?.split(separator: " ").dropFirst().first).flatMap { Int($0) }.map { $0 * 4_096 } ?? 0
    }

    @Test("While a reply is late, commands with a time limit are not sent")
    func late() {
        let connection = connection()
        let limit = Duration.milliseconds(2)
        connection.send(RedisCommand("GET", "a"), within: limit, results.receiver("a"))
        clock.advance(by: .microseconds(1_999))
        connection.send(RedisCommand("GET", "b"), within: limit, results.receiver("b"))
        clock.advance(by: .microseconds(1))
        connection.send(RedisCommand("GET", "c"), within: limit, results.receiver("c"))
        #expect(results.all == ["c: The server does not reply in time."])
        link.receive("+1\r\n+2\r\n")
        connection.send(RedisCommand("GET", "d"), within: limit, results.receiver("d"))
        #expect(link.sent.hasSuffix("d\r\n"))
        #expect(results.all.count == 3)
    }

    @Test("A server that is silent for a second is asked, and given up after another one")
    func silence() async {
        let connection = connection()
        let watch = Task { await connection.watch() }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(999))
        #expect(link.sent == "")
        clock.advance(by: .milliseconds(1))
        await clock.waitForSleepers(count: 1)
        #expect(link.sent == "*1\r\n$5\r\nHELLO\r\n")
        link.receive("+OK\r\n")
        // The reply begins another second.
        clock.advance(by: .seconds(1))
        await clock.waitForSleepers(count: 1)
        #expect(link.sent == "*1\r\n$5\r\nHELLO\r\n*1\r\n$5\r\nHELLO\r\n")
        connection.send(RedisCommand("GET", "a"), results.receiver("a"))
        clock.advance(by: .seconds(1))
        await watch.value
        #expect(link.isClosed)
        #expect(results.all.count == 1)
        #expect(results.all[0].contains("silent"))
    }
}

import EssentialsHTTP
import EssentialsStorage
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Outbox: the format of entries")
struct OutboxRecordTests {
    private static func record() throws -> OutboxRecord {
        var fields = HTTPFields()
        fields[.contentType] = "text/plain"
        let parts = StoredRequestParts(
            method: .post, path: "views?secret=1", base: try RequestURL("https://other.example.com/"),
            isDefined: true, query: ["a": "b", "c": nil],
            parameters: ["x": [1, "y", nil, 0.5, true] as FormValue, "z": FormValue.data(Data([1]))],
            headerFields: fields,
            body: .bytes(Data("hello".utf8)), statuses: .ranges([200...204, 409...409]), usesCookies: false,
            urlTemplate: "/views/{id}")
        return OutboxRecord(
            id: OutboxEntry.ID(number: 7), date: Date(timeIntervalSinceReferenceDate: 1),
            bootTime: BootTime(boot: "b", elapsed: .nanoseconds(5)), partition: "ada",
            environment: OutboxEnvironment(name: "e", baseURL: "https://h/", fields: "f"),
            orderingKey: "k", idempotencyKey: "key", parts: parts)
    }

    @Test("A record is read as it was written")
    func same() throws {
        let record = try Self.record()
        guard case .record(let read) = OutboxRecord.content(of: try record.bytes()) else {
            Issue.record("The record was not read.")
            return
        }
        #expect(read.id == record.id && read.date == record.date && read.partition == record.partition)
        #expect(read.bootTime == record.bootTime)
        #expect(read.environment == record.environment && read.environment.baseURL == "https://h/")
        #expect(read.orderingKey == "k" && read.idempotencyKey == "key")
        #expect(read.parts.method == .post && read.parts.path == record.parts.path)
        #expect(read.parts.base == record.parts.base && read.parts.isDefined && !read.parts.hasWholeQuery)
        #expect(read.parts.query == record.parts.query && read.parts.parameters == record.parts.parameters)
        #expect(read.parts.headerFields == record.parts.headerFields)
        #expect(read.parts.statuses == record.parts.statuses && !read.parts.usesCookies)
        #expect(read.parts.urlTemplate == "/views/{id}")
        guard case .bytes(let body) = read.parts.body else {
            Issue.record("The body was not read.")
            return
        }
        #expect(body == Data("hello".utf8))
        // The query may hold secrets, so it is not shown.
        #expect(read.entry(byteCount: 1).path == "views")
    }

    @Test("A record of another version is distinguished from damage", arguments: [0, 1, 2, 3, 5] as [UInt32])
    func otherVersion(version: UInt32) throws {
        let format = RecordFormat(mark: "SEoutbox", version: version, partCount: 2)
        guard case .otherVersion = OutboxRecord.content(of: format.bytes(of: [[1], [2]])) else {
            Issue.record("The version was not recognized.")
            return
        }
    }

    @Test("A changed, missing or additional byte is damage")
    func damaged() throws {
        let bytes = try Self.record().bytes()
        func isRead(_ bytes: [UInt8]) -> Bool {
            if case .record = OutboxRecord.content(of: bytes) { true } else { false }
        }
        #expect(isRead(bytes))
        for index in bytes.indices {
            for bit in [1, 0x80] as [UInt8] {
                var changed = bytes
                changed[index] ^= bit
                #expect(!isRead(changed), "byte \(index)")
            }
            #expect(!isRead(Array(bytes[..<index])))
        }
        #expect(!isRead(bytes + [0]))
    }

    @Test(
        "Any head with a right checksum is a record or damage, and never ends the process",
        arguments: 1...4 as ClosedRange<UInt64>)
    func hostile(seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        let bytes = try Self.record().bytes()
        guard case .record(_, let parts) = OutboxRecord.format.content(of: bytes) else {
            Issue.record("The record was not read.")
            return
        }
        for _ in 0..<20_000 {
            var (head, body) = (Array(bytes[parts[0]]), Array(bytes[parts[1]]))
            for _ in 0..<Int.random(in: 1...6, using: &numbers) {
                let index = Int.random(in: head.indices, using: &numbers)
                head[index] = Bool.random(using: &numbers) ? .random(in: 0...255, using: &numbers) : 0xff
            }
            if Bool.random(using: &numbers) {
                let count = Int.random(in: 0...64, using: &numbers)
                (head, body) = ((0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) }, [])
            }
            _ = OutboxRecord.content(of: OutboxRecord.format.bytes(of: [head, body]))
            let failure = RecordFormat(mark: "SEfailed", version: 1, partCount: 1).bytes(of: [head])
            _ = OutboxFailure(bytes: failure, date: Date(timeIntervalSinceReferenceDate: 0))
        }
    }

    @Test("A request whose head is too large is refused")
    func large() throws {
        var record = try Self.record()
        record.parts.path = String(repeating: "x", count: OutboxRecord.maximumHead)
        #expect(throws: RequestFailure(.tooLarge, "")) { try record.bytes() }
    }

    @Test("A stored failure is read again, and a damaged one is a general failure")
    func failures() {
        let date = Date(timeIntervalSinceReferenceDate: 5)
        let failure = OutboxFailure(reason: .status, status: 404, message: "gone", date: date)
        #expect(OutboxFailure(bytes: failure.bytes, date: .distantPast) == failure)
        for count in 0..<failure.bytes.count {
            #expect(OutboxFailure(bytes: Array(failure.bytes[..<count]), date: date).reason == .file)
        }
        let expired = OutboxFailure.expired(.seconds(7), date: date)
        #expect(OutboxFailure(bytes: expired.bytes, date: .distantPast).isByAge && !failure.isByAge)
    }

    @Test("Invalid texts are not identifiers")
    func identifiers() {
        #expect(OutboxEntry.ID("00000000000000ff")?.number == 255)
        for text in ["", "ff", "00000000000000FF", "+0000000000000ff", "00000000000000fg", "000000000000000ff"] {
            #expect(OutboxEntry.ID(text) == nil)
        }
        #expect(OutboxFiles.Name("00000000000000ff.request")?.kind == .request)
        #expect(OutboxFiles.Name("00000000000000ff.other") == nil)
        #expect(OutboxFiles.Name("lock") == nil)
    }

    @Test("A time of the machine that is too long for 64 bits is stored as the longest one")
    func longTime() throws {
        var record = try Self.record()
        record.bootTime = BootTime(boot: "b", elapsed: .seconds(Int64.max) * 2)
        guard case .record(let read) = OutboxRecord.content(of: try record.bytes()) else {
            Issue.record("The record was not read.")
            return
        }
        #expect(read.bootTime?.elapsed == .nanoseconds(Int64.max))
    }
}

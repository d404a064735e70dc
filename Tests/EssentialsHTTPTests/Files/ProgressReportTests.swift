import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@Suite struct ProgressReportTests {
    /// A clock that stands still until it is advanced, and the delivered values.
    private final class Record: Sendable {
        private let time = Mutex(Duration.zero)
        private let delivered = Mutex<[TransferProgress]>([])
        private let ends = Mutex(0)

        var values: [TransferProgress] { delivered.withLock { $0 } }
        var bytes: [Int64] { values.map(\.bytes) }
        var endCount: Int { ends.withLock { $0 } }

        func pass(_ duration: Duration) { time.withLock { $0 += duration } }
        func now() -> Duration { time.withLock { $0 } }

        func report(every interval: Duration = .milliseconds(100)) -> ProgressReport {
            ProgressReport(
                every: interval, now: { self.now() }, { value in self.delivered.withLock { $0.append(value) } },
                end: { self.ends.withLock { $0 += 1 } })
        }
    }

    @Test("The first value is delivered immediately, the next after the interval, and the last always")
    func throttle() {
        let record = Record()
        let report = record.report()
        report.begin(expected: 100)
        #expect(record.bytes == [0])
        for bytes in 1...9 {
            record.pass(.milliseconds(30))
            report.reached(Int64(bytes))
        }
        #expect(record.bytes == [0, 4, 8])
        report.finish()
        #expect(record.bytes == [0, 4, 8, 9])
        #expect(record.values.allSatisfy { $0.expected == 100 })
        #expect(record.endCount == 1)
    }

    @Test("Each value has the bytes since the previous one, and they add up")
    func sinceLast() {
        let record = Record()
        let report = record.report()
        report.begin(at: 10, expected: nil)
        for bytes in [12, 17, 30] as [Int64] {
            record.pass(.milliseconds(60))
            report.reached(bytes)
        }
        report.finish()
        #expect(record.bytes == [10, 17, 30])
        #expect(record.values.map(\.bytesSinceLast) == [0, 7, 13])
    }

    @Test("The last value is not delivered twice")
    func lastOnce() {
        let record = Record()
        let report = record.report()
        report.begin(expected: nil)
        record.pass(.seconds(1))
        report.reached(5)
        report.finish()
        report.finish()
        #expect(record.bytes == [0, 5])
        #expect(record.endCount == 1)
    }

    @Test("No value follows the end, and values never decrease")
    func order() {
        let record = Record()
        let report = record.report(every: .zero)
        report.begin(at: 10, expected: nil)
        report.begin(at: 99, expected: 1)
        for bytes in [12, 11, 12, 13] as [Int64] { report.reached(bytes) }
        report.finish()
        report.reached(20)
        report.begin(expected: 5)
        #expect(record.bytes == [10, 12, 13])
    }

    @Test("A report that was never begun only ends")
    func neverBegun() {
        let record = Record()
        let report = record.report()
        report.reached(5)
        report.finish()
        #expect(record.values.isEmpty)
        #expect(record.endCount == 1)
    }

    @Test("A report that is released ends")
    func dropped() {
        let record = Record()
        do {
            let report = record.report()
            report.begin(expected: nil)
            report.reached(5)
        }
        #expect(record.bytes == [0, 5])
        #expect(record.endCount == 1)
    }

    @Test("The rate covers the last four seconds and excludes the bytes of earlier attempts")
    func rate() throws {
        let record = Record()
        let report = record.report(every: .zero)
        report.begin(at: 1_000_000, expected: nil)
        var bytes: Int64 = 1_000_000
        func run(seconds: Int, rate: Int64) {
            for _ in 0..<(seconds * 10) {
                record.pass(.milliseconds(100))
                bytes += rate / 10
                report.reached(bytes)
            }
        }
        #expect(record.values.last?.rate == 0)
        run(seconds: 2, rate: 1000)
        #expect(abs(try #require(record.values.last).rate - 1000) < 1)
        run(seconds: 10, rate: 5000)
        #expect(abs(try #require(record.values.last).rate - 5000) < 1)
        run(seconds: 2, rate: 1000)
        let mixed = try #require(record.values.last).rate
        #expect(mixed > 2000 && mixed < 4000)
    }

    @Test("A value that arrives during a delivery is delivered afterwards, never concurrently")
    func serial() {
        let delivering = Mutex(0)
        let most = Mutex(0)
        let values = Mutex<[Int64]>([])
        let shared = Mutex<ProgressReport?>(nil)
        let report = ProgressReport(
            every: .zero, now: { .zero },
            { value in
                let now = delivering.withLock { count in
                    count += 1
                    return count
                }
                most.withLock { $0 = max($0, now) }
                values.withLock { $0.append(value.bytes) }
                // A call of another thread, as the meter sees it.
                if value.bytes == 1 { shared.withLock { $0 }?.reached(2) }
                delivering.withLock { $0 -= 1 }
            }, end: {})
        shared.withLock { $0 = report }
        report.begin(expected: nil)
        report.reached(1)
        report.finish()
        shared.withLock { $0 = nil }
        #expect(values.withLock { $0 } == [0, 1, 2])
        #expect(most.withLock { $0 } == 1)
    }

    @Test("A stream keeps the newest value and ends with the operation")
    func stream() async {
        let record = Record()
        let (report, values) = ProgressReport.stream(every: .zero, now: { record.now() })
        report.begin(expected: 9)
        for bytes in 1...9 { report.reached(Int64(bytes)) }
        report.finish()
        var seen: [Int64] = []
        for await value in values { seen.append(value.bytes) }
        #expect(seen == [9])
    }

    // MARK: Downloads

    private typealias Response = ScriptedTransport.Response

    @Test("A download reports the written bytes, the total and the end")
    func download() async throws {
        let directory = try ScratchDirectory()
        let record = Record()
        let transport = ScriptedTransport(Response(200, [.contentLength: "6"], ["ab", "cd", "ef"]))
        _ = try await transport.download(.film(), to: directory("film"), progress: record.report(every: .zero))
        #expect(record.bytes == [0, 2, 4, 6])
        #expect(record.values.allSatisfy { $0.expected == 6 })
        #expect(record.endCount == 1)
    }

    @Test("The last value is delivered before the download returns, even within the interval")
    func lastValue() async throws {
        let directory = try ScratchDirectory()
        let record = Record()
        let transport = ScriptedTransport(Response(200, [:], ["ab", "cd", "ef"]))
        _ = try await transport.download(.film(), to: directory("film"), progress: record.report(every: .seconds(9)))
        #expect(record.bytes == [0, 6])
        #expect(record.values.last?.expected == nil)
    }

    @Test("A failed download reports its progress and ends the stream")
    func failing() async throws {
        let directory = try ScratchDirectory()
        let (report, values) = ProgressReport.stream(every: .seconds(9))
        let transport = ScriptedTransport(
            Response(200, [.contentLength: "9"], ["ab", "cd"], failure: RequestFailure(.interrupted, "It ended.")))
        await #expect(throws: RequestFailure.self) {
            try await transport.download(.film(), to: directory("film"), progress: report)
        }
        var seen: [Int64] = []
        for await value in values { seen.append(value.bytes) }
        #expect(seen == [4])
    }

    @Test("A download that is refused before it begins ends the stream")
    func refused() async throws {
        let (report, values) = ProgressReport.stream()
        await #expect(throws: RequestFailure.self) {
            try await ScriptedTransport().download(.film(), to: "", progress: report)
        }
        for await value in values { Issue.record("There was \(value).") }
    }

    @Test("A resumed download counts from the size of the partial file")
    func resumed() async throws {
        let directory = try ScratchDirectory()
        let record = Record()
        var options = DownloadOptions()
        options.resumes = true
        let first = ScriptedTransport(
            Response(200, [.eTag: "\"a\""], ["abcd"], failure: RequestFailure(.interrupted, "It ended.")))
        await #expect(throws: RequestFailure.self) {
            try await first.download(.film(), to: directory("film"), options: options)
        }
        let second = ScriptedTransport(Response(206, [.contentRange: "bytes 4-5/6"], ["e", "f"]))
        _ = try await second.download(
            .film(), to: directory("film"), options: options, progress: record.report(every: .zero))
        #expect(record.bytes == [4, 5, 6])
        #expect(record.values.allSatisfy { $0.expected == 6 })
    }

    // MARK: Bodies

    private func pieces(of body: RequestBody) async throws -> [Int] {
        guard case .stream(_, _, let open) = body.content else { return [] }
        let next = open()
        var sizes: [Int] = []
        while let piece = try await next() { sizes.append(piece.count) }
        return sizes
    }

    @Test("Bytes in memory are reported chunk by chunk and can be sent again")
    func bytes() async throws {
        let record = Record()
        let data = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0) })
        let body = RequestBody.bytes(data).reporting(to: record.report(every: .zero))
        guard case .stream(let length, let isReplayable, let open) = body.content else {
            Issue.record("The body is no stream.")
            return
        }
        #expect(length == 150_000)
        #expect(isReplayable)
        for _ in 0..<2 {
            let next = open()
            var sent = Data()
            while let piece = try await next() {
                #expect(piece.startIndex == 0)
                sent += piece
            }
            #expect(sent == data)
        }
        #expect(record.bytes == [0, 65_536, 131_072, 150_000])
        #expect(record.values.last?.fraction == 1)
        #expect(record.endCount == 1)
    }

    @Test("A body that is sent again reports only progress beyond the first attempt")
    func sentAgain() async throws {
        let record = Record()
        let body = RequestBody.bytes(Data(count: 150_000)).reporting(to: record.report(every: .zero))
        guard case .stream(_, _, let open) = body.content else { return }
        _ = try await open()()
        #expect(record.bytes == [0, 65_536])
        #expect(record.endCount == 0)
        #expect(try await pieces(of: body).count == 3)
        #expect(record.bytes == [0, 65_536, 131_072, 150_000])
        #expect(record.endCount == 1)
    }

    @Test("A report ends with a body of unknown length, with an empty one, and without a body")
    func ends() async throws {
        let unknown = Record()
        let stream = AsyncStream<Data> { continuation in
            continuation.yield(Data("ab".utf8))
            continuation.finish()
        }
        let body = RequestBody.stream(stream, length: nil).reporting(to: unknown.report(every: .zero))
        #expect(!body.isReplayable)
        #expect(try await pieces(of: body) == [2])
        #expect(unknown.bytes == [0, 2])
        #expect(unknown.endCount == 1)
        let empty = Record()
        _ = try await pieces(of: RequestBody.bytes(Data()).reporting(to: empty.report()))
        #expect(empty.values.map(\.fraction) == [1])
        #expect(empty.endCount == 1)
        let none = Record()
        #expect(RequestBody.none.reporting(to: none.report()).isReplayable)
        #expect(none.endCount == 1)
    }

    @Test("A report ends if the source fails or the body is released before its end")
    func broken() async throws {
        let failing = Record()
        let stream = AsyncThrowingStream<Data, any Error> { $0.finish(throwing: CancellationError()) }
        let body = RequestBody.stream(stream, length: 5).reporting(to: failing.report())
        await #expect(throws: CancellationError.self) { try await pieces(of: body) }
        #expect(failing.endCount == 1)
        let dropped = Record()
        do {
            let body = RequestBody.bytes(Data(count: 150_000)).reporting(to: dropped.report())
            if case .stream(_, _, let open) = body.content { _ = try await open()() }
        }
        #expect(dropped.bytes == [0, 65_536])
        #expect(dropped.endCount == 1)
    }
}

@Suite struct TransferProgressTests {
    @Test(
        "The fraction is between 0 and 1, or nil",
        arguments: [
            (0, 10, 0.0), (5, 10, 0.5), (10, 10, 1), (20, 10, 1), (0, 0, 1), (5, nil, nil), (.max, .max, 1),
        ] as [(Int64, Int64?, Double?)])
    func fraction(bytes: Int64, expected: Int64?, fraction: Double?) {
        #expect(TransferProgress(bytes: bytes, expected: expected).fraction == fraction)
    }

    @Test(
        "The remaining time follows from the rate, or is nil",
        arguments: [
            (0, 10, 2.0, .seconds(5)), (10, 10, 0, .zero), (20, 10, 0, .zero), (0, 10, 0, nil), (0, nil, 5, nil),
            (0, .max, 0.001, nil), (0, 10, .nan, nil), (0, 10, -1, nil),
        ] as [(Int64, Int64?, Double, Duration?)])
    func remaining(bytes: Int64, expected: Int64?, rate: Double, remaining: Duration?) {
        #expect(TransferProgress(bytes: bytes, expected: expected, rate: rate).remaining == remaining)
    }
}

import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc
import Testing

@testable import EssentialsResources

@Suite("Averages of memory pressure")
struct PressureAveragesTests {
    private static let idle = """
        some avg10=0.00 avg60=0.00 avg300=0.00 total=0
        full avg10=0.00 avg60=0.00 avg300=0.00 total=0

        """

    private static func text(some: String, full: String) -> String {
        "some avg10=\(some) avg60=99.00 avg300=99.00 total=123456789\n"
            + "full avg10=\(full) avg60=99.00 avg300=99.00 total=1234567\n"
    }

    @Test(
        "The averages of 10 s mean pressure from 3.5 % of the time for some threads, and from 5 % for all threads",
        arguments: [
            ("0.00", "0.00", 0, 0, nil), ("3.49", "0.00", 349, 0, nil), ("3.50", "0.00", 350, 0, .low),
            ("3.49", "4.99", 349, 499, nil), ("4.99", "4.99", 499, 499, .low), ("5.00", "5.00", 500, 500, .critical),
            ("100.00", "100.00", 10_000, 10_000, .critical), ("0.00", "5.00", 0, 500, .critical),
        ] as [(String, String, Int, Int, MemoryPressure?)])
    func limits(some: String, full: String, someRead: Int, fullRead: Int, pressure: MemoryPressure?) throws {
        let averages = try #require(PressureAverages(Self.text(some: some, full: full).utf8))
        #expect(averages.some == someRead)
        #expect(averages.full == fullRead)
        #expect(averages.pressure == pressure)
    }

    @Test(
        "Lines and values of another form are ignored",
        arguments: [
            ("", nil), ("\n\n", nil), ("some", nil), ("some avg10=", nil), ("some avg10=.50", nil),
            ("some avg10=5.", nil), ("some avg10=5.5", nil), ("some avg10=5.555", nil), ("some avg10=1000.00", nil),
            ("some avg10=-5.00", nil), ("some avg10=5,00", nil), ("some avg60=5.00", nil), ("SOME avg10=5.00", nil),
            ("most avg10=5.00", nil), ("some avg10=99999999999999999999.00", nil), ("someavg10=5.00", nil),
            ("\u{0}some avg10=5.00", nil), ("avg10=5.00 some", nil), ("some total=9", nil),
            ("some avg10=5", 500), ("some avg60=1.00 avg10=5.00", 500), ("some  avg10=5.00", 500),
            ("most avg10=1.00\nsome avg10=5.00", 500), ("full avg10=5.00", 0), ("some avg10=x\nfull avg10=5.00", 0),
        ] as [(String, Int?)])
    func otherLines(text: String, some: Int?) {
        #expect(PressureAverages(text.utf8)?.some == some)
    }

    @Test("A text that is truncated or damaged at any byte gives averages or nil")
    func damage() {
        let bytes = Array(Self.text(some: "12.34", full: "5.67").utf8)
        for index in bytes.indices {
            let cut = PressureAverages(bytes[..<index])
            #expect(cut.map { (0...1_234).contains($0.some) && (0...567).contains($0.full) } ?? true)
            for mask in (0..<8).map({ UInt8(1) << $0 }) {
                var damaged = bytes
                damaged[index] ^= mask
                let read = PressureAverages(damaged)
                #expect(read.map { (0...99_999).contains($0.some) && (0...99_999).contains($0.full) } ?? true)
            }
        }
        #expect(PressureAverages(bytes[..<0]) == nil)
        #expect(PressureAverages(bytes)?.some == 1_234)
    }
}

// MARK: - The source

extension PressureAveragesTests {
    private func next(_ folder: PressureFolder) async {
        await folder.clock.waitForSleepers(count: 1)
        folder.clock.advance(by: .seconds(10))
        // The next wait begins after the file was read.
        await folder.clock.waitForSleepers(count: 1)
    }

    @Test("If the kernel refuses triggers, the averages of the process's control group are read every 10 s")
    func refused() async throws {
        let folder = try PressureFolder()
        try folder.write(Self.idle, to: "memory.pressure")
        try folder.write(Self.text(some: "99.00", full: "99.00"), to: "system")
        let source = try folder.source()
        #expect(
            folder.asked.withLock { $0 } == [
                "memory.pressure some 70000 2000000", "system some 70000 2000000",
            ])
        #expect(folder.clock.sleeperCount == 0)
        let reports = Mutex<[MemoryPressure]>([])
        let observation = try source.observe { report in reports.withLock { $0.append(report) } }
        await folder.clock.waitForSleepers(count: 1)
        folder.clock.advance(by: .milliseconds(9_999))
        #expect(folder.clock.sleeperCount == 1)
        #expect(folder.clock.nextDeadline == ManualClock().now.advanced(by: .seconds(10)))
        folder.clock.advance(by: .milliseconds(1))
        await folder.clock.waitForSleepers(count: 1)
        #expect(reports.withLock { $0 } == [])
        try folder.write(Self.text(some: "3.50", full: "0.00"), to: "memory.pressure")
        await next(folder)
        #expect(reports.withLock { $0 } == [.low])
        try folder.write(Self.text(some: "9.00", full: "5.00"), to: "memory.pressure")
        await next(folder)
        await next(folder)
        #expect(reports.withLock { $0 } == [.low, .critical, .critical])
        // A removed control group reports nothing, and neither does a damaged file.
        try folder.remove("memory.pressure")
        await next(folder)
        try folder.write("some avg10=", to: "memory.pressure")
        await next(folder)
        #expect(reports.withLock { $0.count } == 3)
        observation.cancel()
        #expect(folder.clock.sleeperCount == 0)
    }

    @Test("One task reads for all observers, until the last one has ended")
    func observers() async throws {
        let folder = try PressureFolder()
        try folder.write(Self.text(some: "3.50", full: "0.00"), to: "memory.pressure")
        let source = try folder.source()
        let reports = Mutex<[Int]>([])
        let first = try source.observe { _ in reports.withLock { $0.append(1) } }
        let second = try source.observe { _ in reports.withLock { $0.append(2) } }
        await next(folder)
        #expect(folder.clock.sleeperCount == 1)
        #expect(reports.withLock { $0.sorted() } == [1, 2])
        first.cancel()
        await next(folder)
        #expect(reports.withLock { $0.sorted() } == [1, 2, 2])
        second.cancel()
        #expect(folder.clock.sleeperCount == 0)
        let third = try source.observe { _ in reports.withLock { $0.append(3) } }
        await next(folder)
        #expect(reports.withLock { $0.last } == 3)
        third.cancel()
    }

    @Test(
        "Without a control group, or without its file, the averages of the whole system are read",
        arguments: [true, false])
    func system(hasGroup: Bool) async throws {
        let folder = try PressureFolder()
        try folder.write(Self.text(some: "9.00", full: "9.00"), to: "system")
        if !hasGroup { try folder.write(Self.idle, to: "memory.pressure") }
        let reports = Mutex<[MemoryPressure]>([])
        let observation = try folder.source(hasGroup: hasGroup).observe { report in
            reports.withLock { $0.append(report) }
        }
        await next(folder)
        #expect(reports.withLock { $0 } == [.critical])
        observation.cancel()
    }

    @Test("A kernel without reports is a failure, which recommends the manual source")
    func absent() throws {
        let folder = try PressureFolder()
        for text in [nil, "", "no averages\n"] {
            if let text { try folder.write(text, to: "system") }
            let failure = #expect(throws: RequestFailure.self) { try folder.source() }
            #expect(failure?.reason == .resources)
            #expect(failure?.remedy?.contains("ManualMemoryPressure") == true)
            #expect(failure?.underlying as? SystemError == SystemError(code: EPERM))
        }
    }

    @Test("A service drops unused resources when the averages are too high")
    func service() async throws {
        let folder = try PressureFolder()
        try folder.write(Self.text(some: "3.50", full: "0.00"), to: "system")
        let source = try folder.source()
        let fixture = try ResourceFixture { $0.memoryPressure = source }
        for number in 0..<100 { _ = fixture.service.resource("items/\(number)", as: Item.self).state }
        await next(folder)
        #expect(fixture.service.resourceCount == 50)
        try folder.write(Self.text(some: "9.00", full: "9.00"), to: "system")
        await next(folder)
        #expect(fixture.service.resourceCount == 0)
        await fixture.service.close()
        #expect(folder.clock.sleeperCount == 0)
    }
}

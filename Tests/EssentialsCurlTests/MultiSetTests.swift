import CEssentials
import EssentialsHTTP
import Glibc
import Testing

@testable import EssentialsCurl

/// A handle takes a thousand requests to one origin, and there are at most 64 handles.
@Suite("The multi handles of an engine thread")
struct MultiSetTests {
    /// Handles on a loop that does not run.
    private final class Bench {
        private let wakeup: Int32
        private let loop: OpaquePointer
        private var handles: MultiSet

        init() throws {
            let wakeup = ce_wakeup_create()
            let made = CurlTransport.Configuration().withSettings { ce_loop_create(wakeup, &$0) }
            let loop = try #require(made)
            handles = try MultiSet(loop: loop, trust: CompiledTrust(.system), proxyTrust: nil)
            self.wakeup = wakeup
            self.loop = loop
        }

        deinit {
            handles.destroyAll()
            ce_loop_destroy(loop)
            close(wakeup)
        }

        var count: Int { handles.all.count }

        /// The indexes of handles for requests that arrive while the lane has this number of requests, including the
        /// new one.
        func place(_ active: ClosedRange<Int>, lane: Int = 1) -> [Int] {
            active.map { handles.place(lane: lane, active: $0) }
        }

        func leave(_ index: Int, lane: Int = 1) { handles.leave(lane: lane, index: index) }
    }

    @Test("Each multi handle takes a thousand requests of an origin before the next one is used")
    func order() throws {
        let bench = try Bench()
        let ordinary = bench.place(1...1_000)
        #expect(ordinary.allSatisfy { $0 == 0 })
        #expect(bench.count == 1)
        let crowded = bench.place(1_001...3_500)
        #expect(crowded == (1_000..<3_500).map { $0 / 1_000 })
        #expect(bench.count == 4)
    }

    @Test("Multi handles fill up from the first one that requests have left")
    func freedPlaces() throws {
        let bench = try Bench()
        _ = bench.place(1...2_500)
        bench.leave(1)
        for _ in 0..<2 { bench.leave(0) }
        let filled = bench.place(2_498...2_501)
        #expect(filled == [0, 0, 1, 2])
        #expect(bench.count == 3)
    }

    @Test("Origins share multi handles, and each origin is counted alone")
    func lanes() throws {
        let bench = try Bench()
        _ = bench.place(1...1_001, lane: 1)
        let other = bench.place(1...1_000, lane: 2)
        #expect(other.allSatisfy { $0 == 0 })
        let crowded = bench.place(1_001...1_002, lane: 2)
        #expect(crowded == [1, 1])
        #expect(bench.count == 2)
        bench.leave(1, lane: 2)
        let first = bench.place(1_002...1_002, lane: 1)
        #expect(first == [1])
    }

    @Test("There are at most 64 multi handles, and the last one takes all further requests")
    func maximum() throws {
        let bench = try Bench()
        let indexes = bench.place(1...64_000)
        let isInOrder = indexes == (0..<64_000).map { $0 / 1_000 }
        #expect(isInOrder)
        let rest = bench.place(64_001...64_020)
        #expect(rest == Array(repeating: 63, count: 20))
        #expect(bench.count == 64)
        bench.leave(5)
        let freed = bench.place(64_020...64_021)
        #expect(freed == [5, 63])
    }

    @Test("The count of an origin starts again when all its requests have ended")
    func anew() throws {
        let bench = try Bench()
        for _ in 0..<3 {
            let indexes = bench.place(1...2_001)
            #expect(indexes == (0..<2_001).map { $0 / 1_000 })
            for index in indexes { bench.leave(index) }
        }
        #expect(bench.count == 3)
    }
}

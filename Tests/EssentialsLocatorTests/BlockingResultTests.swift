import Testing

@testable import EssentialsLocator

@Suite("BlockingResult")
struct BlockingResultTests {
    @Test("Every waiting thread gets the value, and so does a thread that comes later")
    func delivers() {
        let result = BlockingResult<Int>()
        let seen = Recorder<Int>()
        let workers = Workers()
        for _ in 0..<4 {
            workers.start { seen.append(result.wait()) }
        }
        result.deliver(5)
        workers.join()
        #expect(seen.all == [5, 5, 5, 5])
        #expect(result.wait() == 5)
    }

    @Test("Only the first delivery counts")
    func first() {
        let result = BlockingResult<Int>()
        result.deliver(1)
        result.deliver(2)
        #expect(result.wait() == 1)
    }
}

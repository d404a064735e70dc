import EssentialsTransport
import Synchronization
import Testing

@Suite("A cancellation")
struct CancellationTests {
    @Test("Requests that are cancelled together are all cancelled before the wait of one of them ends")
    func together() {
        let requests = (0..<3).map { _ in Cancellation() }
        let seen = Mutex<[[Bool]]>([])
        for request in requests {
            // Every request has two waits.
            for _ in 0..<2 {
                _ = request.add { seen.withLock { $0.append(requests.map(\.isCancelled)) } }
            }
        }
        Cancellation.cancel(requests)
        #expect(seen.withLock { $0 } == Array(repeating: [true, true, true], count: 6))
    }
}

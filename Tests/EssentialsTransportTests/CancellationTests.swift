import EssentialsTools
import EssentialsTransport
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

    @Test("Work of a task that was cancelled before does not run")
    func cancelledTask() async {
        final class Runs: Sendable { let count = Mutex(0) }
        let runs = Runs()
        let task = Task { () async -> RequestFailure? in
            while !Task.isCancelled { await Task.yield() }
            do throws(RequestFailure) {
                try await Cancellation().runTask(host: "a.example") { () throws(RequestFailure) in
                    runs.count.withLock { $0 += 1 }
                }
                return nil
            } catch {
                return error
            }
        }
        task.cancel()
        let failure = await task.value
        #expect(failure?.reason == .cancelled && failure?.host == "a.example")
        #expect(runs.count.withLock { $0 } == 0)
    }
}
